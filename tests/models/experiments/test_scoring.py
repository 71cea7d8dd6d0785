from collections.abc import Sequence

from bioqa.bioasq.domain import Candidate
from bioqa.models.answers.ranking import Ranking
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.experiments.components import Ready
from bioqa.models.experiments.data import ExperimentData
from bioqa.models.experiments.scoring import learning_parameters, score_ready
from bioqa.models.experiments.shares import Share
from bioqa.models.reranker import Reranker


def test_a_ranker_that_is_ready_is_measured_by_what_it_serves(
    data: ExperimentData, trained: Checkpoint
) -> None:
    ranker = Reranker(trained, name="toy")

    class Reversed:
        """Gives documents in another order than the candidates'."""

        def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
            return ranker.rank(question, candidates)

    scores = score_ready(Ready("toy", "0", Share(dev_questions=1)), Reversed(), data)
    assert len(scores.dev) == 1
    question = data.tests["test"][0]
    ranked = ranker.rank(question.response.question.body, question.retrieved.candidates)
    by_url = {d.document.url: d for d in ranked.documents}
    found = scores.tests["test"][0]
    assert found.documents.tolist() == [by_url[c.document.url].score for c in question.retrieved.candidates]
    expected = [s for c in question.retrieved.candidates for s in by_url[c.document.url].sentence_scores]
    assert found.sentences.tolist() == expected
    assert len(found.gold_sentences) == len(question.gold.labels)


def test_parameters_that_learn_are_counted(trained: Checkpoint) -> None:
    weights = (p for p in trained.model.parameters() if p.requires_grad)
    assert learning_parameters(trained.model) == sum(p.numel() for p in weights)
