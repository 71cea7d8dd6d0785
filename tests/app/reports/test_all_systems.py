"""The comparison of all systems, against the results' files."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from lxml import etree

from bioqa.app.reports.all_systems import chart, read_all, table
from bioqa.models.experiments import published
from bioqa.system.errors import BioqaError
from tests.app.reports.test_document_tables import RESULTS, cells


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "hui-2018.json").write_text(json.dumps(asdict(RESULTS)), encoding="utf-8")
    (tmp_path / "pappas-2021.json").write_bytes((published.FOLDER / "pappas-2021.json").read_bytes())
    return tmp_path


def test_rows_are_what_the_files_say(folder: Path) -> None:
    rows = {(row.experiment, row.system): row for row in read_all(folder)}
    pacrr = rows["hui-2018", "PACRR"]
    assert (pacrr.number, pacrr.seeds, pacrr.map, pacrr.deviation) == (None, 3, 0.25, 0.0125)
    # The parts of a row of documents are its seeds: they cost the same, not their sum.
    assert (pacrr.parameters, pacrr.milliseconds) == (1234, 20.4)
    stored = {row.system: row for row in published.read("pappas-2021").rows}
    for (experiment, system), row in rows.items():
        if experiment == "pappas-2021" and system not in stored:
            assert row.map is None
        elif experiment == "pappas-2021":
            of_test = stored[system].collections["test"]
            assert (row.map, row.deviation) == (
                of_test.mean["document_map_8"],
                of_test.deviation["document_map_8"],
            )
            assert row.parameters == sum(part.get("parameters", 0) for part in stored[system].parts)
    assert rows["pappas-2021", "BJPDRMM"].questions == 150
    assert rows["pappas-2021", "JPDRMM"].questions == 0
    # Of this paper there is no file.
    assert {row.map for (name, _), row in rows.items() if name == "mcdonald-2018"} == {None}


def test_systems_are_numbered_once(folder: Path) -> None:
    rows = read_all(folder)
    numbers = [row.number for row in rows if row.number is not None]
    assert numbers == list(range(1, len(numbers) + 1))
    assert {row.system for row in rows if row.number is None} == {
        "Oracle",
        "Reverse document id",
        "PACRR",
        "DRMM",
    }


def test_the_table_has_all_of_them_and_the_chart_those_with_a_time(folder: Path) -> None:
    rows = read_all(folder)
    shown = cells(table(rows))[2:]
    assert [(line[1], line[2]) for line in shown] == [(row.experiment, row.system) for row in rows]
    assert sum(line[5] == "not trained here" for line in shown) == sum(row.map is None for row in rows)
    root = etree.fromstring(chart(rows))
    labels = set(root.xpath("//g/text/text()"))
    assert labels == {str(row.number) for row in rows if row.number and row.map and row.milliseconds}
    hollow = root.xpath("//g[circle/@fill='none']/text/text()")
    assert set(hollow) == {str(row.number) for row in rows if row.number and row.questions and row.map}


def test_a_file_that_is_no_result(folder: Path) -> None:
    (folder / "mohan-2017.json").write_text('{"rows": [1]}', encoding="utf-8")
    with pytest.raises(BioqaError, match=r"mohan-2017\.json: not the results"):
        read_all(folder)
