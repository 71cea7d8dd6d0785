"""BM25 as a ranker like any other: the baseline of the experiments' table. It needs no torch.

Documents by BM25 of their stems with constants tuned on development questions, sentences by BM25 of theirs;
both with a vocabulary's statistics, so that scores do not depend on an index.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any

from bioqa.bioasq.domain import Candidate, Document
from bioqa.models import bundled
from bioqa.models.answers.agreement import with_support
from bioqa.models.answers.first_stage import bm25_candidates, document_bm25
from bioqa.models.answers.ranking import Ranking, ranking
from bioqa.models.answers.scale import Scale, without_scale
from bioqa.models.answers.selection import Calibration
from bioqa.models.arrays import Floats, concatenate
from bioqa.models.config import NAME, check_kind, faults_as, is_of_kind, read_config, write_config
from bioqa.models.features.matching import bm25_scores, match
from bioqa.models.folders import written_whole
from bioqa.models.text import vocabulary as vocabularies
from bioqa.models.text.documents import DocumentTokens
from bioqa.models.text.tokens import TokenisedDocument, TokenisedQuestion, tokenise_question
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.system.errors import BioqaError

FORMAT = 1
KIND = "bm25"
SENTENCE_K1, SENTENCE_B = 1.2, 0.75


class BaselineError(BioqaError):
    """A baseline's folder is damaged or of another version."""


@dataclass(frozen=True, slots=True)
class Constants:
    """BM25's, for documents."""

    k1: float
    b: float

    def __post_init__(self) -> None:
        """Raises ValueError."""
        if not (isfinite(self.k1) and self.k1 >= 0 and 0 <= self.b <= 1):
            raise ValueError(f"k1 {self.k1!r} and b {self.b!r} are not BM25's")


@dataclass(frozen=True, slots=True)
class TunedBm25:
    """What is chosen and fitted on development questions."""

    constants: Constants
    calibration: Calibration
    scale: Scale | None = None
    record: Mapping[str, Any] = field(default_factory=dict)
    """``training``: fingerprints of the data; ``scores``: measures on it."""


def sentence_bm25(
    question: TokenisedQuestion, documents: Sequence[TokenisedDocument], vocabulary: Vocabulary
) -> Floats:
    """[sentences of all documents] as the feature ``stemmed_bm25``."""
    lengths = concatenate(tokens.stem_counts for tokens in documents)
    matches = match(question.stems, concatenate(tokens.stems for tokens in documents), lengths)
    idf = vocabulary.stem_idf_of(matches.distinct)
    mean = vocabulary.means.sentence_stems
    return bm25_scores(matches.counts, lengths, idf, mean, SENTENCE_K1, SENTENCE_B)


class Bm25Ranker:
    """Ranks like ``bioqa.models.reranker.Reranker``; thread-safe as that is."""

    reads_pieces = False

    def __init__(
        self,
        vocabulary: Vocabulary,
        tuned: TunedBm25,
        *,
        name: str = KIND,
        fingerprint: str = "",
        cached_documents: int = 20_000,
    ) -> None:
        self.name = name
        self.hash = fingerprint
        self.constants = tuned.constants
        self.calibration = tuned.calibration
        self.scale = tuned.scale
        self.record = dict(tuned.record)
        # Word pieces would only cost time.
        self.vocabulary = replace(vocabulary, pieces=None)
        self._tokens = DocumentTokens(self.vocabulary, cached_documents)

    @property
    def config(self) -> Mapping[str, Any]:
        """Settings, training data, measured scores, calibration and scale."""
        scale = {} if self.scale is None else {"scale": self.scale.as_dict()}
        settings = {"ranker": KIND, **asdict(self.constants)}
        return {
            "format": FORMAT,
            "kind": KIND,
            "settings": settings,
            **self.record,
            "calibration": asdict(self.calibration),
            **scale,
        }

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        """All candidates, best first."""
        if not candidates:
            return Ranking(())
        tokenised = tokenise_question(question, self.vocabulary)
        documents = self._tokens([candidate.document for candidate in candidates])
        constants = self.constants
        scores = document_bm25(tokenised, documents, self.vocabulary, constants.k1, constants.b)
        ranked = ranking(candidates, scores, sentence_bm25(tokenised, documents, self.vocabulary))
        return with_support(ranked, tokenised.stems, self._tokens, self.vocabulary, self.calibration)

    def rank_many(self, items: Sequence[tuple[str, Sequence[Candidate]]]) -> list[Ranking]:
        """``rank`` for each in turn."""
        return [self.rank(question, candidates) for question, candidates in items]

    def read_stored_tokens(self, folder: Path) -> None:
        """As ``bioqa.models.reranker.Reranker``'s."""
        self._tokens.look_in(folder)

    def candidates(self, question: str, documents: Sequence[Document]) -> list[Candidate]:
        """Documents from outside an index as candidates: BM25 with the vocabulary."""
        return bm25_candidates(question, documents, self.vocabulary)


def folder_of(name_or_folder: str | Path) -> Path | None:
    """The folder of a baseline, given by folder or by the name of a bundled one; None for other rankers."""
    folder = bundled.folder_of(name_or_folder)
    return folder if is_of_kind(folder, KIND) else None


def save(ranker: Bm25Ranker, folder: Path) -> None:
    """Write the folder, replacing an older one of that name as a whole."""
    with written_whole(folder) as unfinished:
        ranker.vocabulary.save(unfinished)
        named = vocabularies.leave_to_package(unfinished)
        config = {**ranker.config, **({} if named is None else {"vocabulary": named})}
        write_config(unfinished, config)


def load(folder: Path, *, cached_documents: int = 20_000) -> Bm25Ranker:
    """Raises BaselineError or VocabularyError, naming the folder and what is wrong with it."""
    config = read_config(folder, BaselineError)
    check_kind(folder, config, KIND, (FORMAT,), BaselineError)
    with faults_as(BaselineError, folder):
        constants = {name: value for name, value in config["settings"].items() if name != "ranker"}
        tuned = TunedBm25(
            Constants(**constants),
            Calibration(**config["calibration"]),
            Scale.from_dict(config.get("scale")),
            {"training": dict(config["training"]), "scores": dict(config["scores"])},
        )
    named = config.get("vocabulary")
    words = folder if named is None else vocabularies.shared_folder(folder, named)
    vocabulary = Vocabulary.load(words, folder)
    digest = hashlib.sha256(
        without_scale((folder / NAME).read_bytes()) + vocabularies.files_fingerprint(words).encode()
    ).hexdigest()
    return Bm25Ranker(
        vocabulary, tuned, name=folder.name, fingerprint=digest, cached_documents=cached_documents
    )
