"""Measure which language a question is said to be in (bioqa.system.identification).

    python -m bench.languages [FILE...] [--library py3langid|lingua]

Reads the questions of bench/questions/languages.json, of 3 to 12 words in 20 languages, and the templates
of foreign.json, which were written for another purpose. FILEs are BioASQ's or other JSON files with English
questions, of which none should have a language. ``--library`` measures a library instead (``pip install
py3langid``).
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module, resources
from pathlib import Path
from typing import Any

from bioqa.models.answers.evidence import is_known
from bioqa.system.identification import foreign_language
from bioqa.system.jsonfile import read_json

QUESTIONS = Path(__file__).with_name("questions")

Identify = Callable[[str], str]
"""The ISO 639-1 code of a text's language, "en" for English and where it is not known."""


def identify_with_vocabulary(text: str) -> str:
    language = foreign_language(text, is_known)
    return language.code if language else "en"


def identify(text: str) -> str:
    language = foreign_language(text)
    return language.code if language else "en"


def library(name: str, codes: Sequence[str]) -> Identify:
    """Another library, limited to these languages and English."""
    if name == "py3langid":
        langid = import_module("py3langid.langid")
        model = resources.files("py3langid").joinpath(langid.MODEL_FILE)
        identifier = langid.LanguageIdentifier.from_modelpath(str(model))
        identifier.set_languages([*codes, "en"])
        return lambda text: str(identifier.classify(text)[0])
    lingua = import_module("lingua")
    names = ["NB" if code == "no" else code.upper() for code in [*codes, "en"]]
    languages = [getattr(lingua.IsoCode639_1, name) for name in names]
    detector = lingua.LanguageDetectorBuilder.from_iso_codes_639_1(*languages).build()

    def detect(text: str) -> str:
        language = detector.detect_language_of(text)
        code = language.iso_code_639_1.name.lower() if language else "en"
        return "no" if code == "nb" else code

    return detect


def foreign_questions() -> dict[str, list[tuple[str, str]]]:
    """Sets of questions, each with the code of its language."""
    sets: dict[str, list[tuple[str, str]]] = {}
    for code, of_language in _questions("languages.json").items():
        for name, questions in of_language.items():
            sets.setdefault(name, []).extend((code, question) for question in questions)
    for language in _questions("foreign.json")["languages"]:
        for part in filter(None, (language.get("train"), language.get("test"))):
            questions = [form.replace("{}", topic) for form in part["templates"] for topic in part["topics"]]
            questions += part.get("others", [])
            sets.setdefault("templates", []).extend((language["code"], question) for question in questions)
    return sets


def english_questions(files: Iterable[str]) -> list[str]:
    """The bodies of all questions of these files."""
    bodies: list[str] = []
    for file in files:
        content: Any = read_json(file)
        questions = content["questions"] if isinstance(content, dict) else content
        bodies += [question["body"] for question in questions]
    return bodies


def measure(name: str, identify: Identify, english: Sequence[str]) -> None:
    identify("Was ist das?")  # loads what it needs
    for kind, questions in foreign_questions().items():
        begun = time.perf_counter()
        pairs = [(code, identify(question)) for code, question in questions]
        milliseconds = 1000 * (time.perf_counter() - begun) / len(pairs)
        foreign = sum(answer != "en" for _, answer in pairs) / len(pairs)
        right = sum(answer == code for code, answer in pairs) / len(pairs)
        share = f"foreign {foreign:.3f} right {right:.3f}"
        print(f"{name:16} {kind:15} {len(pairs):5} {share} {milliseconds:.2f} ms")
        shares = (
            f"{code} {pairs.count((code, code))}/{sum(pair[0] == code for pair in pairs)}"
            for code in dict.fromkeys(code for code, _ in pairs)
        )
        print("   ", ", ".join(shares))
    if english:
        wrong = [question for question in english if identify(question) != "en"]
        print(f"{name:16} {'English':15} {len(english):5} foreign {len(wrong) / len(english):.4f}", wrong[:5])


def _questions(name: str) -> Any:
    return json.loads((QUESTIONS / name).read_text(encoding="utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--library", choices=("py3langid", "lingua"))
    arguments = parser.parse_args()
    english = english_questions(arguments.files)
    if arguments.library:
        codes = [*_questions("languages.json")]
        measure(arguments.library, library(arguments.library, codes), english)
    else:
        measure("with vocabulary", identify_with_vocabulary, english)
        measure("words alone", identify, english)


if __name__ == "__main__":
    main()
