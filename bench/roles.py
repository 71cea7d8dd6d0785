"""Fit and measure what each sentence of an abstract does (bioqa.models.answers.roles).

    python -m bench.roles MEDLINE_FILE... [--grams N] [--fit]

Authors of structured abstracts label their parts (OBJECTIVE, METHODS, RESULTS, CONCLUSIONS). From abstracts
with three labels or more, among them results and conclusions, sentences are learned without their labels; an
aim within a part called background counts as an aim. Every tenth abstract, by the digest of its PMID, is held
out and measured. ``--fit`` writes models/answers/roles/.
"""

import argparse
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from bioqa import read_medline
from bioqa.bioasq.domain import Document
from bioqa.bioasq.labels import LABEL
from bioqa.models.answers.document_roles import role_of_label
from bioqa.models.answers.roles import (
    BEGIN,
    NUMERAL,
    ROLES,
    Grams,
    RoleModel,
    context,
    load_model,
    log_softmax,
    places,
)
from bioqa.models.answers.sentence_words import SentenceWords
from bioqa.models.arrays import Floats, Ints

_LABEL = re.compile(rf"\s*({LABEL}|[A-Z][a-z]+(?: [a-z]+)?:(?= ))\s*")
_AIM = re.compile(
    r"\b(?:aim|objective|purpose|goal)s?\b"
    r"|\bto (?:determine|investigate|evaluate|assess|examine) (?:whether|the|if)\b"
    r"|\bwe (?:aimed|sought|investigated|examined|evaluated|hypothesi[sz]ed|assessed|compared|tested)\b"
    r"|\bwas (?:designed|undertaken|conducted|performed) to\b",
    re.IGNORECASE,
)
LEAST = 15
"""Sentences that a gram is in, at least."""
PRIOR = 1e-5
FOLDS = 4


@dataclass(frozen=True, slots=True)
class Labelled:
    """Sentences of an abstract without labels, and the place of each one's role; -1 if it has none."""

    texts: list[str]
    roles: list[int]
    held_out: bool


def labelled(document: Document) -> Labelled | None:
    """None if the abstract is not structured."""
    role, seen, texts, found = -1, 0, [], []
    for sentence in document.sentences:
        if sentence.section == "title":
            continue
        text = document.sentence_text(sentence)
        if (match := _LABEL.match(text)) and (known := _role(match[1])) is not None:
            role, seen, text = known, seen + 1, text[match.end() :]
        elif match and re.fullmatch(LABEL, match[1]):
            role, text = -1, text[match.end() :]
        if text.strip():
            texts.append(text)
            is_aim = role == ROLES.index("background") and _AIM.search(text)
            found.append(ROLES.index("aim") if is_aim else role)
    if seen < 3 or not {ROLES.index("result"), ROLES.index("conclusion")} <= {*found}:
        return None
    held_out = int(hashlib.md5(document.pmid.encode(), usedforsecurity=False).hexdigest(), 16) % 10 == 0
    return Labelled(texts, found, held_out)


def _role(label: str) -> int | None:
    role = role_of_label(label)
    return None if role is None else ROLES.index(role)


def chosen_grams(abstracts: Sequence[Labelled], most: int) -> Grams:
    """Those with the most information on roles."""
    counts: dict[str, Floats] = {}
    total = np.zeros(len(ROLES))
    for abstract in abstracts:
        for text, role in zip(abstract.texts, abstract.roles, strict=True):
            if role >= 0:
                total[role] += 1
                for gram in _grams(text):
                    counts.setdefault(gram, np.zeros(len(ROLES)))[role] += 1
    names = [name for name, count in counts.items() if count.sum() >= LEAST]
    table = np.array([counts[name] for name in names])
    expected = table.sum(axis=1, keepdims=True) * total / total.sum()
    information = (table * np.log(np.maximum(table, 1e-9) / expected)).sum(axis=1)
    return Grams(tuple(names[place] for place in np.argsort(-information)[:most]))


def _grams(text: str) -> set[str]:
    words = [NUMERAL if word[0].isdigit() else word for word in SentenceWords.of([text]).lower]
    return {*words, *map(" ".join, zip([BEGIN, *words], words, strict=False))}


@dataclass(frozen=True, slots=True)
class Rows:
    """Sentences as the model sees them."""

    columns: sparse.csr_matrix
    roles: Ints
    sentences: Ints
    """[abstracts]"""


def rows(abstracts: Sequence[Labelled], grams: Grams) -> Rows:
    words = SentenceWords.of([text for abstract in abstracts for text in abstract.texts])
    sentence, gram = grams.of(words)
    counts = np.bincount(sentence, minlength=words.size)
    values = (3 / np.sqrt(np.maximum(counts, 1)))[sentence]
    shape = (words.size, len(grams.names))
    sentences = np.array([len(abstract.texts) for abstract in abstracts])
    columns = sparse.hstack(
        [sparse.csr_matrix((values, (sentence, gram)), shape=shape), sparse.csr_matrix(places(sentences))]
    )
    roles = np.array([role for abstract in abstracts for role in abstract.roles])
    return Rows(columns.tocsr(), roles, sentences)


def regression(columns: sparse.csr_matrix | Floats, roles: Ints) -> Floats:
    """[columns, roles] multinomial logistic regression of the rows with a role."""
    known = roles >= 0
    columns, wanted = columns[known], np.eye(len(ROLES))[roles[known]]
    shape = (columns.shape[1], len(ROLES))

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(shape)
        logs = log_softmax(columns @ weights)
        gradient = columns.T @ (np.exp(logs) - wanted) / len(wanted) + PRIOR * weights
        return float(-(logs * wanted).sum() / len(wanted) + PRIOR / 2 * (flat**2).sum()), gradient.ravel()

    begin = np.zeros(shape[0] * shape[1])
    found = minimize(loss, begin, jac=True, method="L-BFGS-B", options={"maxiter": 120})
    weights: Floats = found.x.reshape(shape)
    return weights


def fit(abstracts: Sequence[Labelled], most: int) -> RoleModel:
    """The second regression sees what the first says of abstracts that it has not learned from."""
    grams = chosen_grams(abstracts, most)
    known = rows(abstracts, grams)
    fold = np.repeat(np.arange(len(known.sentences)) % FOLDS, known.sentences)
    first = np.zeros((len(fold), len(ROLES)))
    for number in range(FOLDS):
        here = fold == number
        weights = regression(known.columns[~here], known.roles[~here])
        first[here] = log_softmax(known.columns[here] @ weights)
    of_context = regression(context(first, known.sentences), known.roles)
    weights = regression(known.columns, known.roles)
    return RoleModel(grams, weights[: len(grams.names)], weights[len(grams.names) :], of_context)


def measured(model: RoleModel, abstracts: Sequence[Labelled]) -> Iterator[str]:
    """Lines of a report."""
    words = SentenceWords.of([text for abstract in abstracts for text in abstract.texts])
    found = model(words, np.array([len(abstract.texts) for abstract in abstracts])).argmax(axis=1)
    roles = np.array([role for abstract in abstracts for role in abstract.roles])
    right, known = found == roles, roles >= 0
    yield f"{known.sum()} sentences of {len(abstracts)} abstracts: accuracy {right[known].mean():.3f}"
    for place, role in enumerate(ROLES):
        of_role = roles == place
        said = known & (found == place)
        recall, precision = right[of_role].mean(), right[said].mean()
        yield f"  {role:10} {of_role.sum():6}  recall {recall:.3f}  precision {precision:.3f}"


def abstracts_of(files: Iterable[Path]) -> list[Labelled]:
    found = (labelled(document) for path in files for document in read_medline(path))
    return [abstract for abstract in found if abstract is not None]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--grams", type=int, default=4000)
    parser.add_argument("--fit", action="store_true", help="write the model before measuring")
    options = parser.parse_args()
    abstracts = abstracts_of(options.files)
    count = Counter(abstract.held_out for abstract in abstracts)
    print(f"{count[False]} structured abstracts to learn from, {count[True]} held out")
    if options.fit:
        fit([abstract for abstract in abstracts if not abstract.held_out], options.grams).save()
    print("\n".join(measured(load_model(), [abstract for abstract in abstracts if abstract.held_out])))


if __name__ == "__main__":
    main()
