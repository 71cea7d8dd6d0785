"""Golden questions and systems of chance, with every kind of hit and miss."""

import random
from collections.abc import Sequence
from typing import TypeVar

from bioqa.bioasq.domain import PUBMED_URL, Question, Response, Snippet

Item = TypeVar("Item")

TYPES = ("yesno", "factoid", "list", "summary")


def golden(questions: int = 24, seed: int = 1) -> list[Response]:
    return [
        _response(random.Random(f"gold{seed}.{number}"), number, random.Random(number).randint(1, 12), 6)
        for number in range(questions)
    ]


def system(gold: Sequence[Response], share: float, seed: int, snippets: bool = True) -> list[Response]:
    """Ten documents and snippets for each question, about a ``share`` of them gold."""
    made = []
    for number, each in enumerate(gold):
        rng = random.Random(f"{seed}.{number}")
        other = _response(rng, number, 30, 10)
        documents = _mixed(rng, each.documents, other.documents, share)
        chosen = _mixed(rng, each.snippets, other.snippets, share) if snippets else []
        made.append(Response(each.question, tuple(documents), tuple(chosen)))
    return made


def _mixed(rng: random.Random, gold: Sequence[Item], other: Sequence[Item], share: float) -> list[Item]:
    """Ten, each once."""
    right = rng.sample(gold, min(len(gold), rng.randint(0, round(20 * share))))[:10]
    mixed = [*right, *(each for each in other if each not in gold)][:10]
    rng.shuffle(mixed)
    return mixed


def _response(rng: random.Random, number: int, documents: int, snippets: int) -> Response:
    urls = [f"{PUBMED_URL}{pmid}" for pmid in rng.sample(range(1000, 1060), documents)]
    spans = []
    for _ in range(snippets):
        begin = rng.randrange(0, 300, 7)
        text = "x" * rng.randint(5, 60)
        spans.append(Snippet(rng.choice(urls), text, "abstract", "abstract", begin, begin + len(text)))
    return Response(
        Question(f"q{number}", f"Question {number}?", TYPES[number % 4]), tuple(urls), tuple(spans)
    )
