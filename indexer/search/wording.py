"""What to look for, as a tree of words, sums, and ways to say one thing. Back ends translate it."""

from dataclasses import dataclass

from bioqa.system.characters import encodable


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text, each for itself, as the index's analyser has them."""

    text: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Every:
    """Several things: a document scores their sum."""

    parts: "tuple[Wording, ...]"
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Best:
    """Ways to say one thing: a document scores what the best of them does, so saying it twice counts once."""

    ways: "tuple[Wording, ...]"
    weight: float = 1.0


Wording = Words | Every | Best


def texts(wording: Wording) -> list[str]:
    """All texts in the tree, from left to right."""
    match wording:
        case Words(text):
            return [text]
        case Every(parts) | Best(parts):
            return [text for part in parts for text in texts(part)]


def clean(question: str) -> str:
    """Strip white space, and remove characters that UTF-8 cannot encode."""
    return encodable(question).strip()
