"""Candidates that are found by meaning: vectors beside the words of a question.

BM25 finds what shares words with a question, vectors what says the same in other words.
"""

import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np

from bioqa.app.answers.fusion import FoundBy, found_by, fused_score
from bioqa.bioasq.domain import Candidate, Document
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.filtering.conditions import AnyOf, HasPmid
from bioqa.indexer.search.filtering.filters import NO_FILTERS, Filters
from bioqa.indexer.search.wording import Wording
from bioqa.indexer.vectors.beside import PATTERN, VectorsBeside
from bioqa.indexer.vectors.file import EncoderRecord, Floats, Ints, Near, VectorFile, VectorsError
from bioqa.models import bundled
from bioqa.system.errors import BioqaError

if TYPE_CHECKING:  # torch takes seconds to import
    from bioqa.models.encoders.vectors import EncodedTexts

log = logging.getLogger("bioqa")

RETRY_S = 60.0
"""After so long an encoder that could not be loaded is tried again."""

Retrieval = Literal["words", "vectors", "both"]

LISTED_SHARE = 0.2
"""If fewer of an index's documents pass the filters, those are compared with the question. If more do, the
closest of all are checked for whether they pass: each PMID that is listed costs half a microsecond."""

MOST_CHECKED = 1000
"""Documents that are checked by one query."""


class TextEncoder(Protocol):
    """What ``bioqa.models.encoders.vectors.VectorEncoder`` offers."""

    @property
    def name(self) -> str: ...

    @property
    def hash(self) -> str: ...

    def questions(self, texts: Sequence[str]) -> Floats: ...

    def encode(self, texts: Sequence[str], *, as_questions: bool) -> "EncodedTexts": ...


LoadEncoder = Callable[[EncoderRecord], TextEncoder]
"""Raises BioqaError."""


@runtime_checkable
class ListsPmids(Protocol):
    """What an index in a folder offers beyond ``SearchIndex``."""

    def pmids(self, filters: Filters) -> Sequence[int]: ...


@dataclass(frozen=True, slots=True)
class FoundCandidates:
    """Candidates of both lists, best first."""

    candidates: Sequence[Candidate]
    places: Mapping[str, FoundBy] = field(default_factory=dict)
    """By PMID, of each candidate; empty if vectors were not used."""
    problem: str | None = None
    """Why vectors were not used, though there are some or they were asked for."""
    vectors_ms: float = 0.0
    """Milliseconds that finding by vectors took, of which encoding the question is a part."""


class Vectors:
    """The vectors beside an index, with the encoder that they come from. Threads may share it."""

    def __init__(self, folder: Path, load: LoadEncoder) -> None:
        self._beside = VectorsBeside(folder)
        self._load = load
        self._lock = Lock()
        self._encoder: TextEncoder | None = None
        self._failed: tuple[EncoderRecord, str, float] | None = None
        """What could not be loaded, why, and when."""

    def current(self) -> VectorFile | None:
        """The file, if there is one. Raises VectorsError."""
        return self._beside.current()

    def question(self, text: str, opened: VectorFile) -> Floats:
        """The question's vector, by the encoder of the file. Raises VectorsError."""
        vector: Floats = self.encoder(opened).questions([text])[0]
        return vector

    def encoder(self, opened: VectorFile) -> TextEncoder:
        """The encoder that the file's vectors come from. Raises VectorsError."""
        with self._lock:
            if self._encoder is None or self._encoder.hash != opened.encoder.hash:
                self._encoder = self._load_encoder(opened.encoder)
            return self._encoder

    def _load_encoder(self, record: EncoderRecord) -> TextEncoder:
        # Loading takes seconds, also where it fails in the end.
        if self._failed and self._failed[0] == record and time.monotonic() < self._failed[2] + RETRY_S:
            raise VectorsError(self._failed[1])
        try:
            encoder = self._load(record)
            if encoder.hash == record.hash:
                return encoder
            problem = (
                f"the vectors in {self._beside.folder} are not of the encoder that is now {record.name}: "
                "run `bioqa vectors`"
            )
        except BioqaError as error:
            problem = f"vectors of {record.name} cannot be used: {error}"
        self._failed = record, problem, time.monotonic()
        raise VectorsError(problem)


def find(
    index: SearchIndex, sought: str | Wording, text: str, size: int, filters: Filters, retrieval: Retrieval
) -> FoundCandidates:
    """The ``size`` best candidates as ``retrieval`` has them found: by both words and vectors if the index
    has vectors.

    If vectors cannot be used, words alone decide, and the problem is said. Raises what the index raises.
    """
    vectors = None if retrieval == "words" else vectors_of(index)
    problem = None
    if vectors is not None:
        try:
            candidates = found_by_both(
                index, vectors, sought, text, size, filters, words=retrieval != "vectors"
            )
        except VectorsError as error:
            problem = remove_folders(str(error))
            log.warning("%s; candidates are found by words alone", error)
        else:
            if candidates is not None:
                return candidates
    if retrieval == "vectors" and problem is None:
        problem = f"the index {index.name} has no vectors; `bioqa vectors` makes them in a folder"
    return FoundCandidates(index.search(sought, size, filters), problem=problem)


_FOLDERS = re.compile(r"(?<![\w:/])/(?:[^\s/'\":;,]+/)+")


def remove_folders(message: str) -> str:
    """A message without the folders that its files are in, which are no client's business."""
    return _FOLDERS.sub("", message)


def asks_words_alone(index: SearchIndex, retrieval: Retrieval) -> bool:
    """Whether there is nothing to do with vectors: none are wanted, or there are none and nobody insists."""
    has_vectors = index.beside is not None and any(index.beside.glob(PATTERN))
    return retrieval == "words" or (retrieval == "both" and not has_vectors)


def vectors_of(index: SearchIndex) -> "Vectors | None":
    """The vectors beside an index; None if it has no folder to have any in. One object for each folder."""
    return None if index.beside is None else vectors_in(index.beside.resolve())


@cache
def vectors_in(folder: Path) -> "Vectors":
    """The vectors in a folder; one object for each folder."""
    return Vectors(folder, load_encoder)


def warm_up(folder: Path) -> None:
    """Load the encoder of a folder's vectors, if it has any, so that no client waits for it.

    If they cannot be used, each answer says so.
    """
    vectors = vectors_in(folder.resolve())
    with suppress(VectorsError):
        opened = vectors.current()
        if opened is not None:
            vectors.question("Is metformin better than placebo?", opened)


def found_by_both(
    index: SearchIndex,
    vectors: Vectors,
    sought: str | Wording,
    text: str,
    size: int,
    filters: Filters,
    *,
    words: bool = True,
) -> FoundCandidates | None:
    """The ``size`` best candidates by words and by vectors; None if the index has no vectors.

    ``sought``: what BM25 looks for; ``text``: what is encoded. Every candidate passes the filters, and has
    its score by BM25, which is 0 if it shares no word with what is sought. With ``words`` False vectors alone
    decide. Raises VectorsError if the vectors cannot be used, and what the index raises.
    """
    opened = vectors.current()
    if opened is None:
        return None
    by_words = index.search(sought, size, filters) if words else []
    begun = time.perf_counter()
    of_words = {candidate.document.pmid: candidate for candidate in by_words}
    question = vectors.question(text, opened)
    near, documents = _near(index, opened, question, size, filters, of_words)
    scores = _scores(index, sought, [pmid for pmid in documents if pmid not in of_words], filters)
    candidates = of_words | {
        pmid: Candidate(document, scores.get(pmid, 0.0))
        for pmid, document in documents.items()
        if pmid not in of_words
    }
    places = found_by(
        [candidate.document.pmid for candidate in by_words],
        {neighbour.pmid: neighbour.cosine for neighbour in near},
    )
    best = sorted(places, key=lambda pmid: (-fused_score(places[pmid]), int(pmid)))[:size]
    cosines = _cosines(opened, question, best)
    return FoundCandidates(
        [replace(candidates[pmid], cosine=cosines.get(pmid)) for pmid in best],
        {pmid: places[pmid] for pmid in best},
        vectors_ms=round(1000 * (time.perf_counter() - begun), 3),
    )


def _cosines(opened: VectorFile, question: Floats, pmids: Sequence[str]) -> dict[str, float]:
    """The cosine of each document that has a vector; none by another encoder than the bundled one, which
    rankers know the cosines of."""
    if opened.encoder.name != bundled.VECTOR_ENCODER:
        return {}
    near = opened.nearest(question, len(pmids), np.array([int(pmid) for pmid in pmids], dtype=np.int64))
    return {neighbour.pmid: neighbour.cosine for neighbour in near}


def near_article(
    index: SearchIndex, pmid: str, size: int, candidates: Mapping[str, Candidate]
) -> tuple[list[Near], Mapping[str, Document]] | None:
    """The ``size`` articles that are closest to another one, by its stored vector, and the text of each; None
    if it has no vector. No encoder is needed.

    ``candidates``: known to be in the index. Raises VectorsError, and what the index raises.
    """
    vectors = vectors_of(index)
    opened = None if vectors is None else vectors.current()
    vector = None if opened is None else opened.vector(int(pmid))
    if opened is None or vector is None:
        return None
    near, documents = _near(index, opened, vector, size + 1, NO_FILTERS, candidates)
    return [neighbour for neighbour in near if neighbour.pmid != pmid][:size], documents


def stand(
    index: SearchIndex, text: str, pmid: str, size: int, filters: Filters
) -> tuple[int | None, float | None]:
    """An article's rank by vectors among all that pass, if it is among the first ``size``, and its cosine.

    Both None if it has no vector. Raises VectorsError, and what the index raises.
    """
    vectors = vectors_of(index)
    opened = None if vectors is None else vectors.current()
    if vectors is None or opened is None:
        return None, None
    question = vectors.question(text, opened)
    own = opened.nearest(question, 1, np.array([int(pmid)], dtype=np.int64))
    near, _ = _near(index, opened, question, size, filters, {})
    ranks = {neighbour.pmid: rank for rank, neighbour in enumerate(near, start=1)}
    return ranks.get(pmid), own[0].cosine if own else None


def _near(
    index: SearchIndex,
    opened: VectorFile,
    question: Floats,
    size: int,
    filters: Filters,
    candidates: Mapping[str, Candidate],
) -> tuple[list[Near], Mapping[str, Document]]:
    """The ``size`` closest of the documents that pass, and the text of each.

    ``candidates``: they are known to pass. What the index no longer has is left out, like what does not pass.
    """
    listed = _list_pmids(index, opened, filters)
    documents = {pmid: candidate.document for pmid, candidate in candidates.items()}
    checked: set[str] = set()
    wanted = size
    while True:
        near = opened.nearest(question, wanted, listed)
        new = [
            neighbour.pmid
            for neighbour in near
            if neighbour.pmid not in documents and neighbour.pmid not in checked
        ]
        documents |= _passing(index, new, filters)
        checked.update(new)
        passed = [neighbour for neighbour in near if neighbour.pmid in documents]
        if len(passed) >= size or len(near) < wanted:
            passed = passed[:size]
            return passed, {neighbour.pmid: documents[neighbour.pmid] for neighbour in passed}
        wanted *= 4


def _list_pmids(index: SearchIndex, opened: VectorFile, filters: Filters) -> Ints | None:
    """The PMIDs of all documents that pass, if these are few; None if all vectors are to be compared."""
    if not filters or index.count(None, filters) > LISTED_SHARE * len(opened):
        return None
    return np.array(index.pmids(filters), dtype=np.int64) if isinstance(index, ListsPmids) else None


def _passing(index: SearchIndex, pmids: Sequence[str], filters: Filters) -> dict[str, Document]:
    """The documents with these PMIDs that the index has and the filters let pass, by PMID."""
    if not filters:
        return dict(index.get(pmids))
    documents = {}
    for begin in range(0, len(pmids), MOST_CHECKED):
        some = pmids[begin : begin + MOST_CHECKED]
        for document in index.newest(_restrict(filters, some), len(some)):
            documents[document.pmid] = document
    return documents


def _scores(
    index: SearchIndex, sought: str | Wording, pmids: Sequence[str], filters: Filters
) -> dict[str, float]:
    """BM25's score of each of some documents that have a word of what is sought."""
    if not pmids:
        return {}
    candidates = index.search(sought, len(pmids), _restrict(filters, pmids))
    return {candidate.document.pmid: candidate.score for candidate in candidates}


def _restrict(filters: Filters, pmids: Sequence[str]) -> Filters:
    return filters.restrict(AnyOf(tuple(HasPmid(int(pmid)) for pmid in pmids)))


def load_encoder(record: EncoderRecord, *, device: str = "cpu") -> TextEncoder:
    """The encoder that a file of vectors names. Raises BioqaError."""
    # torch takes seconds to import, which no start of a command should wait for.
    from bioqa.models.encoders.vectors import VectorEncoder, VectorSettings

    try:
        settings = VectorSettings(**record.settings)
    except TypeError as error:
        raise BioqaError(f"settings of the encoder {record.name} cannot be read: {error}") from error
    if Path(record.name).is_absolute() and not Path(record.name).is_dir():
        raise BioqaError(f"there is no folder {record.name}")
    folder = str(bundled.vector_encoder(record.name))
    return VectorEncoder.load(folder, settings, device=device, title=record.name)
