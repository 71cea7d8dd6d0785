"""Tables of experiments of documents, of results made up by hand."""

from typing import Any

from bioqa.app.reports.document_tables import document_tables
from bioqa.models.experiments.experiment import Experiment
from bioqa.models.experiments.papers import EXPERIMENTS
from bioqa.models.experiments.published import Results
from bioqa.models.experiments.results import Row, Summary

HUI = EXPERIMENTS["hui-2018"]


def row(system: str, value: float, seeds: int = 1, p: dict[str, float] | None = None) -> Row:
    measures = dict.fromkeys(HUI.measures, value)
    tested = {reference: dict.fromkeys(HUI.measures, each) for reference, each in (p or {}).items()}
    summary = Summary(measures, dict.fromkeys(HUI.measures, 0.0125), tested, measures)
    part: dict[str, Any] = {
        "parameters": 1234,
        "thread_milliseconds": 20.4,
        "share": {"train_questions": 300, "watched": 60},
    }
    return Row(system, "documents", seeds, {"document_map": 0.5}, {"test": summary}, [part] * seeds)


RESULTS = Results(
    "hui-2018",
    {},
    [
        row("Co-PACRR", 0.5, 1, {"PACRR": 0.01, "MatchPyramid": 0.02, "DRMM": 0.04, "K-NRM": 0.001}),
        row("PACRR", 0.25, 3, {"K-NRM": 0.5}),
        row("MatchPyramid", 0.25),
        row("DRMM", 0.75),
        row("K-NRM", 0.25),
    ],
    reranked={
        "test": {
            "Co-PACRR": {
                "simple": 0.125,
                "gain": 0.06,
                "rank": 2,
                "improved": 0.9,
                "average_gain": -0.0301,
            }
        }
    },
)


def cells(text: str) -> list[list[str]]:
    return [[c.strip() for c in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]


def test_every_system_has_a_row_and_nothing_is_made_up() -> None:
    text = document_tables(HUI, RESULTS)
    means = cells(text.split("**test: the best seed on dev**")[0])
    assert [line[0] for line in means[2:]] == [system.name for system in HUI.systems]
    by_name = {line[0]: line[1:] for line in means}
    assert by_name["Co-PACRR"] == ["1", "a", "0.500", "0.500", "0.500", "1,234", "20"]
    assert by_name["PACRR"][2] == "0.250 ± 0.013"
    assert by_name["QL"] == ["", "", "not trained here", "", "", "", ""]
    assert "- a: trained on 300 questions, early stopping by 60 dev questions" in text


def test_references_are_numbered_and_differences_have_a_side() -> None:
    best = cells(document_tables(HUI, RESULTS).split("**test: the best seed on dev**")[1])
    by_name = {line[1]: line for line in best}
    # Above PACRR (1), MatchPyramid (2) and K-NRM (5), below DRMM (3).
    assert by_name["Co-PACRR"] == ["", "Co-PACRR", *["0.500 (>1-2,5 <3)"] * 3]
    assert by_name["PACRR"] == ["1", "PACRR", *["0.250"] * 3]


def test_reranked_runs_and_notes() -> None:
    text = document_tables(HUI, RESULTS)
    assert cells(text)[-1] == ["Co-PACRR", "0.125", "+6%", "2", "90%", "-3%"]
    assert "two-tailed, approximate randomisation" in text
    assert "1 PACRR, 2 MatchPyramid, 3 DRMM, 4 DUET-local, 5 K-NRM" in text


def test_a_single_tailed_test_is_named_so() -> None:
    mohan = EXPERIMENTS["mohan-2017"]
    single = Experiment("m", "M", mohan.systems, mohan.measures, mohan.references, 1, "t")
    assert "single-tailed, Student's t" in document_tables(single, Results("m", {}, []))
