"""Make the package's table of brand names from the dictionary of drug-named-entity-recognition.

A maintainer's tool: ``python -m bench.drug_names WHEEL WORDS MEDLINE… > FILE``. The wheel is downloaded with
``pip download --no-deps drug-named-entity-recognition``; WORDS has an English word on each line; MEDLINE are
XML files, plain or gzip, whose abstracts show which names mean something else.
"""

import bz2
import gzip
import pickle
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from rapidfuzz import fuzz

from bioqa.indexer.search.defined import long_key
from bioqa.indexer.search.stopwords import STOP_WORDS

MEMBER = "drug_named_entity_recognition/drug_ner_dictionary.pkl.bz2"
BRAND = re.compile("[a-z]{4,14}")
"""Longer ones are names of chemistry."""
GENERIC = re.compile("[a-z]{4,}(?: [a-z]{4,})?")
LIKE = 88.0
"""Likeness in per cent of their letters, from which on a name is the generic one in another language."""
COMMON = 3
"""Abstracts with a name, but without the drug, that may make it a word for something else (RelA)."""

HEAD = """\
# Brand names and other single words for drugs. A line: name, way ("name": a name of it), generic name.
# Made by bench/drug_names.py from drug-named-entity-recognition {version} (MIT, Fast Data Science Ltd), whose
# names come from DrugBank's open data (CC0), MeSH and MedlinePlus (U.S. National Library of Medicine), the
# NHS (Open Government Licence v3.0) and Wikipedia (CC BY-SA 3.0). This file is offered under CC BY-SA 3.0.
"""


class _Plain(pickle.Unpickler):
    """Reads what consists of dictionaries, lists and texts; refuses everything else, such as code."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("builtins", "set"):
            return set
        raise pickle.UnpicklingError(f"{module}.{name} is not expected in the dictionary")


def plain(stream: IO[bytes]) -> Any:
    """Unpickle a dictionary. Raises UnpicklingError if it has anything but plain data."""
    return _Plain(stream).load()


def names(dictionary: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield names and the generic name of each, of drugs that DrugBank has."""
    drugs = dictionary["drug_canonical_to_data"]
    for name, generics in dictionary["drug_variant_to_canonical"].items():
        for generic in generics:
            known = "drugbank_id" in drugs.get(generic, ()) and GENERIC.fullmatch(generic)
            if known and name not in drugs and BRAND.fullmatch(name) and fuzz.ratio(name, generic) < LIKE:
                yield name, generic


def otherwise(found: Mapping[str, str], files: list[Path]) -> set[str]:
    """The names that most abstracts have without naming the drug: words for something else."""
    beside: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    for file in files:
        with opened(file) as stream:
            for citation in re.findall("<PubmedArticle>.*?</PubmedArticle>", stream.read(), re.DOTALL):
                words = {*re.findall("[a-z]+", citation.lower())}
                for name in words & found.keys():
                    (beside if found[name].split()[0] in words else alone)[name] += 1
    return {name for name, count in alone.items() if count >= COMMON and count > beside[name]}


def opened(file: Path) -> IO[str]:
    if file.suffix == ".gz":
        return gzip.open(file, "rt", encoding="utf-8")
    return file.open(encoding="utf-8")


def main() -> None:
    wheel, words, *files = map(Path, sys.argv[1:])
    with zipfile.ZipFile(wheel) as archive, bz2.open(archive.open(MEMBER)) as stream:
        dictionary = plain(stream)
    english = {*map(long_key, [*words.read_text(encoding="utf-8").split(), *STOP_WORDS])}
    found = {name: generic for name, generic in names(dictionary) if long_key(name) not in english}
    dropped = otherwise(found, files)
    sys.stdout.write(HEAD.format(version=wheel.name.split("-")[1]))
    spelt = {long_key(name): name for name in sorted(found.keys() - dropped, reverse=True)}
    for key, name in sorted(spelt.items()):
        if key != long_key(found[name]):
            sys.stdout.write(f"{name}\tname\t{found[name]}\n")
    sys.stderr.write(f"{len(found)} names, of which {len(dropped)} mean something else\n")


if __name__ == "__main__":
    main()
