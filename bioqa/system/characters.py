"""Equal text in other code points, made one form: for searching and matching only, never for what is stored.

NFKC makes composed letters of decomposed ones, and usual letters of ligatures, full-width and mathematical
ones; combining marks that no letter is composed with are dropped, as are characters that show nothing (soft
hyphens, zero-width spaces and joiners, marks of direction). Typographic hyphens and apostrophes become those
of ASCII, and signs such as ™ a space.
"""

import re
import unicodedata
from collections.abc import Iterator

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_MARKS = re.compile("[\u0300-\u036f\u0483-\u0487\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
_PLAIN = (
    dict.fromkeys("‐‑‒–−﹣－", "-")
    | dict.fromkeys("’ʼ‘`´′＇", "'")
    # For NFKC these are letters, and "Entresto™" would be the word EntrestoTM.
    | dict.fromkeys("™℠№℡℻", " ")
)
_TYPOGRAPHIC = re.compile(f"[{''.join(_PLAIN)}]")

MARKS = r"[\u0300-\u036F\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFE00-\uFE0F\uFEFF]"
"""The commoner ones of the characters that are dropped, as a class of Java's regular expressions."""

_GREEK_ACCENTED = re.compile("[\u0386-\u0390\u03aa-\u03b0\u03ca-\u03ce\u1f00-\u1fff]")
_UNUSUAL = re.compile(
    "|".join(pattern.pattern for pattern in (_TYPOGRAPHIC, _INVISIBLE, _MARKS, _GREEK_ACCENTED))
)
"""What is left of such characters after NFKC."""

_OTHERWISE = re.compile(
    # What the engines' own folding of accents leaves as it is, or splits a word at.
    f"(?:{_INVISIBLE.pattern}|{_MARKS.pattern}"
    "|[\u00b5\u0386-\u0390\u03aa-\u03b0\u03ca-\u03ce\u03d0-\u03f5\u1f00-\u1fff"
    "\u2100-\u2115\u2117-\u211f\u2123-\u2138\u2160-\u217f"
    "\ufb00-\ufb4f\uff00-\uffef\U0001d400-\U0001d7ff])"
)
_STRING = re.compile(r"\S+")


def encodable(text: str) -> str:
    """The text without lone surrogates, which JSON escapes may contain and UTF-8 cannot encode."""
    return text.encode("utf-8", "ignore").decode()


def normalise(text: str) -> str:
    """The text in one form; its offsets are not those of the original."""
    if text.isascii():
        return text
    return _UNUSUAL.sub(_usual, unicodedata.normalize("NFKC", _TYPOGRAPHIC.sub(_usual, text)))


_LATIN_ACCENTED = re.compile(
    "[\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0259\u0300-\u036f\u1e00-\u1eff\ufb00-\ufb06]"
)


class _Folded(dict[int, str]):
    """What each character becomes, computed when it is first met. Whatever is no Latin letter with
    an accent stays, so that no word depends on what stands beside it."""

    def __missing__(self, code: int) -> str:
        character = plain = chr(code)
        if _LATIN_ACCENTED.match(character):
            decomposed = unicodedata.normalize("NFKD", character)
            plain = "".join(part for part in decomposed if not unicodedata.combining(part))
        self[code] = plain if plain.isascii() else character
        return self[code]


_FOLDED = _Folded(
    {
        ord(letter): plain
        for letter, plain in {
            **{"ß": "ss", "æ": "ae", "ǽ": "ae", "œ": "oe", "ø": "o", "ǿ": "o", "đ": "d", "ð": "d", "þ": "th"},
            **{"ł": "l", "ŀ": "l", "ı": "i", "ħ": "h", "ŧ": "t", "ŋ": "n", "ŉ": "n", "ĸ": "q", "ə": "a"},
            **{"ẞ": "SS", "Æ": "AE", "Œ": "OE", "Ø": "O", "Đ": "D", "Ð": "D", "Þ": "TH", "Ł": "L"},
        }.items()
    }
)


def fold(text: str) -> str:
    """The text with its Latin letters as those of ASCII: sjögren becomes sjogren. Both engines do so: whoever
    compares words takes for equal what retrieval takes for equal. Offsets are not those of the original."""
    # Few texts have such a letter, and translating is slow.
    return text.translate(_FOLDED) if not text.isascii() and _LATIN_ACCENTED.search(text) else text


def drop_marks(text: str) -> str:
    """The text without the accents of any script, as BERT's uncased tokenisers drop them: ö becomes o, but ø
    and ß stay."""
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")


def _usual(match: re.Match[str]) -> str:
    """What one character becomes."""
    character = match.group()
    if (plain := _PLAIN.get(character)) is not None:
        return plain
    return unicodedata.normalize("NFD", character)[0] if _GREEK_ACCENTED.match(character) else ""


def strings_otherwise(text: str) -> str:
    """The normalised forms of the strings between white space that an index would otherwise not find, joined
    by spaces; usually empty."""
    if text.isascii() or not _OTHERWISE.search(text):
        return ""
    strings = [m.group() for m in _STRING.finditer(text) if _OTHERWISE.search(m.group())]
    return " ".join(filter(None, map(normalise, strings)))


def in_other_forms() -> Iterator[tuple[str, str]]:
    """Yield characters of two bytes, outside ASCII, with what ``normalise`` makes of them, for engines that
    have only a list: those that their folding of accents leaves as they are."""
    for code in (
        0xB5,
        *range(0x386, 0x3D0),
        *range(0x3D0, 0x3F6),
        *range(0x1F00, 0x2000),
        *range(0x2100, 0x2180),
    ):
        character = chr(code)
        usual = normalise(character)
        if usual != character and usual.strip() and usual.isalnum():
            yield character, usual


GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ", "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π",
    "rho": "ρ", "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
}  # fmt: skip
"""Letters by their names."""

GREEK_NAMES = {letter: name for name, letter in GREEK.items()} | {"ς": "sigma"}
"""Names by letters."""
