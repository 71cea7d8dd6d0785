"""Ranking in processes: the same answers, and what becomes of questions when a process fails."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from bioqa.app.answers.answer import Answer
from bioqa.app.answers.answering import Answerer, IndexUnavailable, Retrieved
from bioqa.app.answers.engine import LocalEngine, RankingProcesses, RankingTask, rank_or_degrade
from bioqa.app.answers.question import ExplainOptions, Options
from bioqa.app.answers.refusals import RankingFailed
from bioqa.app.answers.reranking import GivenText
from bioqa.app.answers.service import Service
from bioqa.app.answers.workers import TooMuchWork
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Question
from bioqa.system.errors import BioqaError
from tests.app.engines import TellingRanker, no_logs, start_over_damage, start_telling
from tests.app.rankers import LexicalRanker

QUESTION = Question("q1", "Does metformin improve cohorts?")


Make = Callable[..., RankingProcesses]


@pytest.fixture
def made(index_folder: Path) -> Iterator[Make]:
    opened: list[RankingProcesses] = []

    def make(start: Callable[..., LocalEngine] = start_telling, **given: object) -> RankingProcesses:
        settings = Settings.model_validate({"index": str(index_folder), "ranking_processes": 1, **given})
        processes = RankingProcesses(settings, no_logs, start)
        opened.append(processes)
        processes.open()
        return processes

    yield make
    for each in opened:
        each.close()


@pytest.fixture(scope="module")
def processes(index_folder: Path) -> Iterator[RankingProcesses]:
    """For tests that leave it alive."""
    settings = Settings(
        index=str(index_folder), ranking_processes=1, max_request_cpu_s=0.5, max_question_cpu_s=3
    )
    processes = RankingProcesses(settings, no_logs, start_telling)
    processes.open()
    yield processes
    processes.close()


def same(answer: Answer | Exception, other: Answer) -> bool:
    assert isinstance(answer, Answer)
    return replace(answer, timings_ms=other.timings_ms) == other


def asked(body: str = QUESTION.body) -> RankingTask:
    return RankingTask("lexical", replace(QUESTION, body=body))


def test_the_answers_are_those_of_one_process(processes: RankingProcesses, answerer: Answerer) -> None:
    questions = [replace(QUESTION, body=f"Does {drug} improve cohorts?") for drug in ("aspirin", "insulin")]
    alone = [processes.answer([RankingTask("lexical", each)])[0] for each in questions]
    together = processes.answer([RankingTask("lexical", each) for each in questions])
    for question, first, second in zip(questions, alone, together, strict=True):
        expected = answerer.answer(question)
        assert same(first, expected)
        assert same(second, expected)


def test_options_reach_the_process(processes: RankingProcesses) -> None:
    task = RankingTask("lexical", QUESTION, Options(max_documents=3, max_snippets=2, candidates=20))
    (answer,) = processes.answer([task])
    assert isinstance(answer, Answer)
    assert (len(answer.documents), len(answer.ranked_sentences), answer.candidates) == (3, 2, 20)


def test_given_texts_are_ranked(processes: RankingProcesses) -> None:
    texts = (GivenText("Warfarin was given."), GivenText("Metformin improved all cohorts."))
    (answer,) = processes.answer([RankingTask("lexical", QUESTION, texts=texts)])
    assert isinstance(answer, Answer)
    assert [each.document.abstract for each in answer.documents] == [texts[1].text, texts[0].text]


def test_the_rankers_are_described(index_folder: Path) -> None:
    processes = RankingProcesses(
        Settings(index=str(index_folder), ranking_processes=1), no_logs, start_telling
    )
    (ranker,) = processes.open()
    processes.close()
    assert (ranker.name, ranker.hash, ranker.config) == ("lexical", LexicalRanker.hash, LexicalRanker.config)
    assert ranker.calibration == LexicalRanker.calibration


def test_where_the_ranker_fails_bm25_answers(processes: RankingProcesses) -> None:
    (answer,) = processes.answer([asked("fail metformin")])
    assert isinstance(answer, Answer)
    assert answer.degraded
    assert answer.documents


def test_a_question_that_takes_too_long_is_answered_literally_and_the_process_stays(
    processes: RankingProcesses,
) -> None:
    (answer,) = processes.answer([asked("spin metformn")])
    assert isinstance(answer, Answer)
    assert answer.degraded
    assert "processor time" in answer.degraded
    assert answer.options.literal
    assert answer.reading is None
    assert processes.replaced == 0


def test_an_explanation_that_takes_too_long_is_refused(processes: RankingProcesses) -> None:
    task = replace(asked("spin metformin"), options=ExplainOptions(pmid="90000001"))
    (answer,) = processes.answer([task])
    assert isinstance(answer, TooMuchWork)
    assert processes.replaced == 0


def test_a_question_that_takes_too_much_memory_is_answered_by_bm25_and_the_process_stays(
    processes: RankingProcesses,
) -> None:
    (answer,) = processes.answer([asked("hoard metformin")])
    assert isinstance(answer, Answer)
    assert answer.degraded
    assert processes.replaced == 0


def test_one_question_that_kills_its_process_is_not_asked_again_as_it_is(made: Make) -> None:
    processes = made()
    killed, fine = processes.answer([asked("die metformin"), asked()])
    assert isinstance(killed, Answer)
    assert killed.degraded
    assert killed.options.literal
    assert isinstance(fine, Answer)
    assert fine.degraded is None
    assert processes.replaced == 1


def test_without_degraded_answers_it_gets_none(made: Make) -> None:
    processes = made(allow_degraded=False)
    (answer,) = processes.answer([asked("die metformin")])
    assert isinstance(answer, RankingFailed)
    assert "process" in str(answer)
    assert processes.replaced == 1


def test_an_index_that_kills_processes_leaves_the_service_alive(made: Make) -> None:
    processes = made(start_over_damage)
    (answer,) = processes.answer([asked()])
    assert isinstance(answer, RankingFailed)
    assert processes.replaced == 2


def test_texts_that_take_too_long_are_refused_and_the_process_stays(processes: RankingProcesses) -> None:
    task = RankingTask("lexical", Question("", "spin"), texts=(GivenText("a"),))
    (answer,) = processes.answer([task])
    assert isinstance(answer, TooMuchWork)
    assert processes.replaced == 0


def test_a_missing_index_is_told_and_questions_are_answered_when_it_is_there(
    made: Make, index_folder: Path, tmp_path: Path
) -> None:
    place = tmp_path / "index"
    processes = made(index=str(place))
    (answer,) = processes.answer([asked()])
    assert isinstance(answer, IndexUnavailable)
    place.symlink_to(index_folder)
    (answer,) = processes.answer([asked()])
    assert isinstance(answer, Answer)


def test_a_ranker_that_cannot_be_loaded_is_told_at_the_start(index_folder: Path) -> None:
    settings = Settings(index=str(index_folder), ranking_processes=1, ranker="no-such-ranker")
    with pytest.raises(BioqaError, match="no-such-ranker"):
        Service(settings, RankingProcesses(settings, no_logs))


def test_the_service_answers_over_processes_as_without(sample_index: Path) -> None:
    body = {"body": "Which drugs inhibit PCSK9?"}
    answers = []
    for processes in (0, 1):
        settings = Settings(index=str(sample_index), ranking_processes=processes)
        with TestClient(create_app(settings)) as client:
            answer = client.post("/v1/search", json=body).json()
            assert client.get("/readyz").status_code == 200
            assert client.get("/v1/models").json()["models"][0]["name"] == "soft"
            given = {"query": "PCSK9", "documents": ["No.", "PCSK9 is inhibited."], "max_sentences": 1}
            ranked = client.post("/v1/rerank", json=given).json()
        assert [each["index"] for each in ranked["results"]] == [1, 0]
        del answer["timings_ms"]
        answers.append(answer)
    assert answers[0] == answers[1]


def test_without_processes_the_service_is_not_ready(sample_index: Path) -> None:
    app = create_app(Settings(index=str(sample_index), ranking_processes=1))
    with TestClient(app) as client:
        service: Service = app.state.service
        service.engine.close()
        answer = client.get("/readyz")
        assert answer.status_code == 503
        assert "no ranking process" in answer.text
        assert client.get("/healthz").status_code == 200


def test_ranked_together_one_that_fails_does_not_take_the_others_with_it(answerer: Answerer) -> None:
    candidates = answerer.index.search("metformin", 5)
    retrieved = [
        Retrieved(Question("", body), Options(), candidates, "index", 1.0)
        for body in ("metformin", "fail metformin")
    ]
    fine, failed = rank_or_degrade(TellingRanker(), retrieved, allow_degraded=False)
    assert isinstance(fine, Answer)
    assert isinstance(failed, RankingFailed)
