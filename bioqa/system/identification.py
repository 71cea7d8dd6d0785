"""The language of a question, if it is not English: by its script, else by its words.

Words of grammar count, and words of illness and asking that English does not have. Drugs, genes and Latin
names are the same in all languages, so a short question of names has no language: to call biomedical English
foreign is the worse mistake. ``python -m bench.languages`` measures it.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice

from bioqa.system.characters import drop_marks
from bioqa.system.english import STOP_WORDS
from bioqa.system.foreign_words import CONTENT_WORDS, FUNCTION_WORDS
from bioqa.system.language import NAMES, Language

_SCRIPTS = {
    "ARABIC": "ar",
    "CJK": "zh",
    "CYRILLIC": "ru",
    "DEVANAGARI": "hi",
    "GREEK": "el",
    "HANGUL": "ko",
    "HEBREW": "he",
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "THAI": "th",
}
"""First word of a letter's Unicode name, and the most spoken language that is written so."""

_LEAST_SHARE = 0.3
"""Share of a question's letters that must be of another script. The rest may be genes and drugs."""

# Those that English has too (in, on, also, was, die) are in the lists: they count half.
_LETTERS = {
    "cs": "ěřů",
    "da": "æø",
    "de": "ß",
    "es": "ñ¿¡",
    "fr": "œêàùç",
    "hu": "őű",
    "no": "æø",
    "pl": "łśżźćńęą",
    "pt": "ãõ",
    "ro": "țșăţş",
    "sv": "å",
    "tr": "ığş",
    "vi": "ạảấầẩậắằặẹẻẽếềểệịọỏốồổộớờởợụủứừửữựỳỷỹđơư",
}
"""A word with such a letter or mark counts as one of grammar. Names have them, too: they never suffice."""
_MARKS = {code: frozenset(_LETTERS.get(code, "")) for code in FUNCTION_WORDS}

_ENGLISH = STOP_WORDS | frozenset(
    {"list", "describe", "define", "name", "explain", "there", "s", "t", "don", "doesn", "isn", "aren"}
    | {"often", "mean", "much", "many", "well", "still", "yet", "upon"}
)
_BORROWED = frozenset({"al", "de", "der", "du", "et", "la", "le", "per", "van", "von"})
"""Words that are parts of names, or Latin in English: they count half, too."""

IsKnown = Callable[[str], bool]

_SETS = {code: frozenset(words.split()) for code, words in FUNCTION_WORDS.items()}
_CLITICS = re.compile(r"['’‘`]")
_WORD = re.compile(r"[^\W_]+")

_CONTENT = 1.5
"""What a word of content counts; a word of grammar counts 1."""
_UNKNOWN = 0.5
"""What a word counts that English does not know, up to two of them."""
_LEAST_UNKNOWN = 4
"""Letters of such a word: shorter ones are mostly abbreviations."""
_LEAST_SCORE = 2.0
_MOST_MARKED = 2
"""Words with a language's own letters that count, each like a word of grammar."""
_SHORT = 4
"""In questions of up to so many words, none of them English grammar, one word of content is enough."""
_MOST_WORDS = 60
"""Words whose parts are looked up: questions have fewer, and abstracts show their language by grammar."""
_WHOLE = 4
"""Longest word in ``CONTENT_WORDS`` that is a whole word, and not the beginning of words."""


def foreign_language(text: str, is_known: IsKnown | None = None) -> Language | None:
    """The language that the text is in if that is not English; None for English and where it is uncertain.

    ``is_known``: whether a word, in lower case, is one of biomedical English. Words that are not support a
    language whose grammar the text has.
    """
    code = _by_script(text) or _by_words(text, is_known)
    return None if code is None else Language(code, NAMES[code])


def _by_script(text: str) -> str | None:
    if text.isascii():
        return None
    letters = [character for character in text if character.isalpha()]
    scripts = Counter(_script(character) for character in letters if character > "ʯ")
    scripts.pop(None, None)
    if not letters or sum(scripts.values()) < _LEAST_SHARE * len(letters):
        return None
    if scripts["ja"]:
        return "ja"
    (code, count), *_ = scripts.most_common(1)
    if code == "el" and count < 8:  # α, β and their like are part of English
        return None
    if code == "ru" and re.search("[іїєґ]", text.lower()):
        return "uk"
    if code == "ar" and re.search("[پچژگ]", text):
        return "fa"
    return code


def _script(character: str) -> str | None:
    return _SCRIPTS.get(unicodedata.name(character, "").split(" ")[0].split("-")[0])


def function_words(language: Language) -> frozenset[str]:
    """The language's words of grammar, in lower case; none for a language that its script shows."""
    return _SETS.get(language.code, frozenset())


def _by_words(text: str, is_known: IsKnown | None) -> str | None:
    text = unicodedata.normalize("NFC", text)
    distinct = dict.fromkeys(_WORD.findall(_CLITICS.sub(" ", text).lower()))
    english = len(distinct.keys() & _ENGLISH)
    accented = [frozenset(word) for word in distinct if not word.isascii()]
    content = _content(islice(distinct, _MOST_WORDS))
    unknown = 0.0 if english else _unknown(distinct, is_known)
    scores: dict[str, float] = {}
    for code, listed in _SETS.items():
        own = len((distinct.keys() & listed) - _ENGLISH - _BORROWED)
        shared = len(distinct.keys() & listed) - own
        if own or content[code]:  # letters alone do not suffice: names have them, too
            marked = sum(not letters.isdisjoint(_MARKS[code]) for letters in accented)
            scores[code] = own + 0.5 * shared + _CONTENT * content[code] + min(marked, _MOST_MARKED)
            scores[code] += unknown if own else 0.0
    if not scores:
        return None
    code = max(scores, key=lambda code: scores[code])
    least = _CONTENT if content[code] and not english and len(distinct) <= _SHORT else _LEAST_SCORE
    enough = scores[code] >= max(least, 0.2 * len(distinct)) and scores[code] > english
    return code if enough else None


def _unknown(words: Iterable[str], is_known: IsKnown | None) -> float:
    if is_known is None:
        return 0.0
    long = (word for word in islice(words, _MOST_WORDS) if len(word) >= _LEAST_UNKNOWN and word.isalpha())
    return min(_UNKNOWN * sum(not is_known(word) for word in long), 1.0)


def _content(words: Iterable[str]) -> Counter[str]:
    """For each language, count its words of content, and those that begin with one or have one as a part."""
    count: Counter[str] = Counter()
    wholes, beginnings, parts = _content_words()
    for word in words:
        if word.isdecimal():
            continue
        plain = drop_marks(word)
        codes = set(wholes.get(word, ())) | set(wholes.get(plain, ()))
        for form in {word, plain}:
            for end in range(_WHOLE + 1, len(form) + 1):
                codes.update(beginnings.get(form[:end], ()))
        for begin in range(len(plain)):
            for end in range(begin + 3, min(begin + 12, len(plain)) + 1):
                codes.update(parts.get(plain[begin:end], ()))
        count.update(codes)
    return count


@cache
def _content_words() -> tuple[dict[str, list[str]], dict[str, list[str]], dict[str, list[str]]]:
    """Codes of languages by whole word, by a word's beginning, and by a part of a word."""
    wholes: dict[str, list[str]] = {}
    beginnings: dict[str, list[str]] = {}
    parts: dict[str, list[str]] = {}
    for code, listed in CONTENT_WORDS.items():
        for word in listed.split():
            if word.startswith("-"):
                parts.setdefault(word[1:], []).append(code)
            elif len(word) <= _WHOLE:
                wholes.setdefault(word, []).append(code)
            else:
                beginnings.setdefault(word, []).append(code)
    return wholes, beginnings, parts
