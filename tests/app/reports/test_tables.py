"""Comparisons as text for people, spreadsheets and scripts."""

import csv
import io

from bioqa.app.reports.tables import as_json, csv_rows, markdown, p_text, remarks, text_table
from bioqa.bioasq.comparison import compare
from tests.bioasq.comparing import golden, system

GOLD = golden()
SYSTEMS = {"a": system(GOLD, 0.3, 1), "b": system(GOLD, 0.5, 2)}
COMPARISON = compare(GOLD, SYSTEMS, 8, resamples=500)


def test_the_table_has_every_measure_of_every_system() -> None:
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text_table(COMPARISON).splitlines()
    ]
    assert len(lines) == 2 + 2 * 10
    b = COMPARISON.systems[1]
    score, difference = b.score("map_documents"), b.difference("map_documents")
    assert score is not None
    assert difference is not None
    (row,) = (line for line in lines if line[:2] == ["documents MAP", "b"])
    assert row[2] == f"{score.value:.4f}"
    assert row[3] == f"{score.low:.4f} to {score.high:.4f}"
    assert row[4] == f"{difference.value:+.4f}"
    assert row[7:] == [str(difference.wins), str(difference.ties), str(difference.losses)]
    assert "p (Holm)" not in lines[0]
    three = compare(GOLD, {**SYSTEMS, "c": SYSTEMS["a"]}, 8, resamples=100)
    assert "p (Holm)" in text_table(three).splitlines()[0]


def test_remarks_say_what_the_figures_are_of() -> None:
    said = " ".join(remarks(COMPARISON))
    assert "edition 8" in said
    assert "95% of 500 bootstrap samples" in said
    assert "Seed 0" in said
    assert "two-tailed" in said
    assert "Holm" not in said
    lacking = compare(GOLD, {"a": SYSTEMS["a"][1:], "run": system(GOLD, 0.3, 1, snippets=False)}, 8)
    said = " ".join(remarks(lacking))
    assert "a lacks 1 of 24 golden questions" in said
    assert "run has no snippets" in said


def test_csv_reads_back_as_the_rows() -> None:
    rows = COMPARISON.rows()
    read = [*csv.DictReader(io.StringIO(csv_rows(rows)))]
    assert len(read) == len(rows)
    for written, row in zip(read, rows, strict=True):
        assert written["system"] == row["system"]
        assert float(written["value"]) == row["value"]
        assert written["p"] == ("" if row["p"] is None else str(row["p"]))
    assert csv_rows([]) == ""
    assert csv_rows([{"a": "=1+1", "b": -1.5}]).splitlines()[1] == "'=1+1,-1.5"


def test_json_holds_rows_and_cases() -> None:
    made = as_json(COMPARISON, 3)
    assert made["measures"] == COMPARISON.rows()
    assert len(made["most_different"]) == 3
    assert made["most_different"][0]["systems"][1]["system"] == "b"


def test_small_ps_and_bars_in_cells() -> None:
    assert (p_text(0.0004), p_text(0.0011), p_text(1.0)) == ("< 0.001", "0.001", "1.000")
    assert markdown([["a"], ["x|y"]]).splitlines()[-1] == r"| x\|y |"
