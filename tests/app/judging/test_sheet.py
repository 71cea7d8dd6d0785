import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bioqa.app.judging.sheet import Sheet, SheetError, read_sheet, write_sheet
from tests.app.judging import sheets


def test_a_sheet_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = sheets.written(tmp_path)
    sheet = read_sheet(path)
    assert sheet == sheets.sheet()
    assert [item.key for item in sheet.questions[0].items()][:3] == [
        "11",
        "11/title/0-14",
        "11/abstract/0-28",
    ]
    assert len(sheet.items) == 10


def test_a_sheet_says_nothing_of_who_showed_what(tmp_path: Path) -> None:
    written = json.loads(sheets.written(tmp_path).read_text())
    (document, _) = written["questions"][0]["documents"]
    assert set(document) == {"pmid", "title", "abstract", "sentences"}
    assert set(document["sentences"][0]) == {"section", "begin", "end"}


def _edit(data: dict[str, Any]) -> None:
    data["questions"][0]["body"] = "Another question?"


def _reorder(data: dict[str, Any]) -> None:
    data["questions"].reverse()


@pytest.mark.parametrize("change", [_edit, _reorder])
def test_a_sheet_that_was_edited_is_refused(change: Callable[[dict[str, Any]], None], tmp_path: Path) -> None:
    path = sheets.written(tmp_path)
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    with pytest.raises(SheetError, match=r"sheet\.json: was changed after it was made"):
        read_sheet(path)


def test_a_sheet_may_be_formatted_anew(tmp_path: Path) -> None:
    path = sheets.written(tmp_path)
    path.write_text(json.dumps(json.loads(path.read_text()), sort_keys=True))
    assert read_sheet(path) == sheets.sheet()


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("kind",), "something else", "is not a judging sheet"),
        (("form",), 2, "of form 2; this version reads 1"),
        (("questions",), [], "questions: List should have at least 1 item"),
        (("questions", 0, "id"), "", "questions.0.id"),
        (("questions", 1, "id"), "q1", "a question is listed twice"),
        (("questions", 0, "body"), "half \ud800", "questions.0.body"),
        (("questions", 0, "documents", 0, "pmid"), "../x", "questions.0.documents.0.pmid"),
        (("questions", 0, "documents", 1, "pmid"), "11", "questions.0: a document is listed twice"),
        (
            ("questions", 0, "documents", 0, "sentences", 0, "end"),
            99,
            "a sentence at 0-99 is not in its title",
        ),
        (("questions", 0, "documents", 0, "sentences", 0, "begin"), -1, "sentences.0.begin"),
        (("questions", 0, "documents", 0, "rank"), 1, "questions.0.documents.0.rank"),
    ],
)
def test_what_is_no_sheet_is_refused_by_its_place(
    place: tuple[str | int, ...], value: object, message: str, tmp_path: Path
) -> None:
    path = sheets.written(tmp_path)
    data = json.loads(path.read_text())
    inner = data
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    path.write_text(json.dumps(data))
    with pytest.raises(SheetError) as refused:
        read_sheet(path)
    assert message in str(refused.value)


def test_the_id_is_that_of_the_documented_digest() -> None:
    sheet = sheets.sheet()
    assert sheet.id == Sheet.of(sheets.content()).id
    assert sheet.id != Sheet.of(sheets.content(seed=2)).id


def test_a_sheet_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="cannot be written"):
        write_sheet(tmp_path / "missing" / "sheet.json", sheets.sheet())
