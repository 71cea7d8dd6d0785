"""A loaded checkpoint that ranks: question and candidates in, documents and sentences with scores out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bioqa.bioasq.domain import Candidate, Document
from bioqa.models import bundled, checkpoint
from bioqa.models.answers.agreement import with_support
from bioqa.models.answers.aptness import with_aptness
from bioqa.models.answers.first_stage import bm25_candidates
from bioqa.models.answers.meaning import add_meaning
from bioqa.models.answers.ranking import Ranking, ranking
from bioqa.models.answers.scale import Scale
from bioqa.models.answers.selection import Calibration
from bioqa.models.arrays import Floats
from bioqa.models.bundled import DEFAULT, available
from bioqa.models.checkpoint import Checkpoint, CheckpointError
from bioqa.models.features.extractor import FeatureExtractor, Features, stemmed_bm25
from bioqa.models.folders import put_back
from bioqa.models.rankers.batch import Example, collate, make_example
from bioqa.models.rankers.registry import ARCHITECTURES, encoder_of, place_of, reader_for
from bioqa.models.text.documents import DocumentTokens
from bioqa.models.text.tokens import TokenisedDocument, tokenise_question
from bioqa.models.text.vocabulary import Vocabulary


class Reranker:
    """Thread-safe: ranking changes only what is kept of documents' tokens, which has locks."""

    def __init__(
        self, loaded: Checkpoint, *, name: str, fingerprint: str = "", cached_documents: int = 20_000
    ) -> None:
        self.name = name
        self.hash = fingerprint
        self.checkpoint = loaded
        self._tokens = DocumentTokens(loaded.vocabulary, cached_documents)
        self._features = FeatureExtractor(loaded.vocabulary)
        self._units = ARCHITECTURES[loaded.settings.ranker].units
        self._reader = reader_for(loaded.settings, encoder_of(loaded.model), cached_documents)

    @classmethod
    def load(
        cls, name_or_folder: str | Path = DEFAULT, *, cached_documents: int = 20_000, device: str = "auto"
    ) -> "Reranker":
        """Load a bundled checkpoint by name, or any by its folder. Raises CheckpointError.

        ``device``: as for bioqa.models.rankers.registry.build.
        """
        folder = bundled.folder_of(name_or_folder)
        put_back(folder)
        if not folder.is_dir():
            names = ", ".join(available()) or "none"
            raise CheckpointError(
                f"no ranker {str(name_or_folder)!r}: neither a folder nor one of those bundled ({names})"
            )
        return cls(
            checkpoint.load(folder, device=device),
            name=folder.name,
            fingerprint=checkpoint.fingerprint(folder),
            cached_documents=cached_documents,
        )

    @property
    def config(self) -> Mapping[str, Any]:
        """Settings, training data, measured scores and calibration."""
        hidden = ("scaling", "document_features", "sentence_features", "curve")
        return {key: value for key, value in self.checkpoint.config.items() if key not in hidden}

    @property
    def calibration(self) -> Calibration:
        return self.checkpoint.calibration

    @property
    def vocabulary(self) -> Vocabulary:
        return self.checkpoint.vocabulary

    def read_stored_tokens(self, folder: Path) -> None:
        """Read what `bioqa tokens` stored in an index's folder: scores are the same, and come sooner."""
        self._tokens.look_in(folder)

    def tokens(self, documents: Sequence[Document]) -> list[TokenisedDocument]:
        """The tokens of documents, as they are stored or kept."""
        return self._tokens(documents)

    @property
    def reads_pieces(self) -> bool:
        """Whether an encoder reads the candidates."""
        return self._reader is not None

    @property
    def scale(self) -> Scale | None:
        """What its scores mean, if that was fitted."""
        return self.checkpoint.scale

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        """All candidates, best first, with a score for each of their sentences.

        For a ranker of documents alone (PDRMM), sentence scores are stemmed BM25.
        """
        return self.rank_many([(question, candidates)])[0]

    def rank_many(self, items: Sequence[tuple[str, Sequence[Candidate]]]) -> list[Ranking]:
        """``rank`` for each question with its candidates, all scored in one pass of the model."""
        return [
            self.read_again(question, scored)
            for (question, _), scored in zip(items, self.score_many(items), strict=True)
        ]

    def score_many(self, items: Sequence[tuple[str, Sequence[Candidate]]]) -> list[Ranking]:
        """``rank_many`` by the model, and by meaning where cosines are known, without comparing documents or
        reading them again."""
        examples = [self.example(*item) for item in items if item[1]]
        if not examples:
            return [Ranking(()) for _ in items]
        model = self.checkpoint.model
        batch = collate([example for example, _ in examples], self.checkpoint.vocabulary).to(place_of(model))
        with torch.inference_mode():
            scores = model(batch)
        documents = _split(scores.documents.cpu().numpy(), [len(e.unit_counts) for e, _ in examples])
        if self._units != "sentences":
            sentences = [stemmed_bm25(features) for _, features in examples]
        else:
            sentences = _split(scores.sentences.cpu().numpy(), [len(e.word_counts) for e, _ in examples])
        ranked = iter(zip(examples, documents, sentences, strict=True))
        rankings = []
        for _, candidates in items:
            if not candidates:
                rankings.append(Ranking(()))
                continue
            (example, _), of_documents, of_sentences = next(ranked)
            truncated = example.truncated
            if self._reader is not None and example.pieces is not None:
                truncated = self._reader.count_truncated(example.pieces)
            with_meaning = add_meaning(of_documents, candidates, self.calibration)
            scored = ranking(candidates, with_meaning, of_sentences)
            rankings.append(replace(scored, truncated_sentences=truncated))
        return rankings

    def read_again(self, question: str, ranking: Ranking, calibration: Calibration | None = None) -> Ranking:
        """The ranking with support of its best documents' sentences (``bioqa.models.answers.agreement``), and
        with what a second reading adds, if that counts (``bioqa.models.answers.aptness``).

        ``calibration``: of another ranker that made the ranking.
        """
        calibration = calibration or self.calibration
        tokenised = tokenise_question(question, self.vocabulary)
        supported = with_support(ranking, tokenised.stems, self._tokens, self.vocabulary, calibration)
        return with_aptness(supported, question, tokenised, self._tokens, self.vocabulary, calibration)

    def candidates(self, question: str, documents: Sequence[Document]) -> list[Candidate]:
        """Documents from outside an index as candidates: BM25 with the checkpoint's vocabulary."""
        return bm25_candidates(question, documents, self.checkpoint.vocabulary)

    def example(self, question: str, candidates: Sequence[Candidate]) -> tuple[Example, Features]:
        """The model's input for a question and its candidates, and the features before scaling."""
        words = tokenise_question(question, self.checkpoint.vocabulary)
        documents = self._tokens([candidate.document for candidate in candidates])
        bm25 = np.array([candidate.score for candidate in candidates], dtype=np.float32)
        features = self._features(words, documents, bm25)
        used = self.checkpoint.scaling.apply(features, self.checkpoint.settings.reading.features)
        pieces = None
        if self._reader is not None:
            pieces = self._reader(question, [candidate.document for candidate in candidates])
        reading, stop_ids = self.checkpoint.settings.reading, self.checkpoint.vocabulary.stop_ids
        return make_example(self._units, reading, words, documents, used, pieces, stop_ids), features


def _split(scores: Floats, counts: Sequence[int]) -> list[Floats]:
    return np.split(scores, np.cumsum(counts)[:-1])
