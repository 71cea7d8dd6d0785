import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bioqa.app.judging.judgments import (
    MOST_NAME,
    Judgment,
    JudgmentError,
    JudgmentLog,
    Judgments,
    LogError,
    NameRefused,
    SheetChanged,
    check_name,
    log_path,
    read_judgments,
)
from bioqa.app.judging.sheet import Sheet, read_sheet, write_sheet
from tests.app.judging import sheets
from tests.app.judging.sheets import of_document, of_sentence


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return sheets.written(tmp_path)


def judged(path: Path) -> dict[str, dict[str, int]]:
    """By judge and key, as another process reads them."""
    by_judge = read_judgments(path, read_sheet(path)).by_judge
    return {judge: {item.key: grade for item, grade in grades.items()} for judge, grades in by_judge.items()}


def test_the_last_judgment_of_a_judge_counts_and_no_other_judges(path: Path) -> None:
    with JudgmentLog(path) as log:
        log.add([Judgment("Ann", of_sentence(), 2), Judgment("Ben", of_sentence(), 1)])
        log.add([Judgment("Ann", of_sentence(), 0)])
        log.add([Judgment("Ann", of_document(), 1), Judgment("Ann", of_document(), None)])
    assert judged(path) == {"Ann": {"11/abstract/0-28": 0}, "Ben": {"11/abstract/0-28": 1}}
    # Every word is kept.
    assert len(log_path(path).read_text().splitlines()) == 6


def test_judgments_can_be_read_while_the_sheet_is_judged(path: Path) -> None:
    with JudgmentLog(path) as log:
        log.add([Judgment("Ann", of_document(), 1)])
        assert judged(path) == {"Ann": {"11": 1}}


def test_a_process_that_is_killed_loses_nothing_that_was_confirmed(path: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "from bioqa.app.judging.judgments import Judgment, JudgmentLog\n"
        "from bioqa.app.judging.sheet import Item\n"
        "log = JudgmentLog(sys.argv[1])\n"
        "log.add([Judgment('Ann', Item('q1', '11'), 1)])\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert done.returncode == -9
    assert judged(path) == {"Ann": {"11": 1}}
    with JudgmentLog(path) as log:  # its lock went with it
        log.add([Judgment("Ann", of_sentence(), 2)])
    assert judged(path) == {"Ann": {"11": 1, "11/abstract/0-28": 2}}


@pytest.mark.parametrize("cut", [1, 20])
def test_a_torn_last_line_is_ignored_and_written_over(path: Path, cut: int) -> None:
    with JudgmentLog(path) as log:
        log.add([Judgment("Ann", of_document(), 1), Judgment("Ann", of_sentence(), 2)])
    with log_path(path).open("r+b") as file:
        file.truncate(log_path(path).stat().st_size - cut)
    assert judged(path) == {"Ann": {"11": 1}}
    with JudgmentLog(path) as log:
        log.add([Judgment("Ann", of_document("12"), 0)])
    assert judged(path) == {"Ann": {"11": 1, "12": 0}}


@pytest.mark.parametrize("begun", [b"", b'{"kind": "bioqa judg'])
def test_a_log_whose_first_line_was_torn_is_begun_anew(path: Path, begun: bytes) -> None:
    log_path(path).write_bytes(begun)
    with JudgmentLog(path) as log:
        log.add([Judgment("Ann", of_document(), 1)])
    assert judged(path) == {"Ann": {"11": 1}}


def test_a_full_disk_is_an_error_and_the_log_stays_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with JudgmentLog(path) as log:
        log.add([Judgment("Ann", of_document(), 1)])
        write = os.pwrite

        def fill(descriptor: int, content: bytes, offset: int) -> int:
            if len(content) > 10:
                return write(descriptor, content[:10], offset)
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", fill)
            with pytest.raises(LogError, match=r"sheet\.json\.judgments: cannot be written: No space left"):
                log.add([Judgment("Ann", of_sentence(), 2)])
        assert judged(path) == {"Ann": {"11": 1}}
        assert log.grades_by("Ann") == {of_document(): 1}
        log.add([Judgment("Ann", of_sentence(), 0)])
    assert judged(path) == {"Ann": {"11": 1, "11/abstract/0-28": 0}}


def test_one_process_at_a_time_has_a_sheet_open(path: Path) -> None:
    with JudgmentLog(path), pytest.raises(LogError, match="is being judged already"):
        JudgmentLog(path)
    JudgmentLog(path).close()


def test_threads_do_not_mix_their_lines(path: Path) -> None:
    with JudgmentLog(path) as log:
        threads = [
            threading.Thread(target=log.add, args=([Judgment(f"judge {n}", of_document(), n % 2)],))
            for n in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert judged(path) == {f"judge {n}": {"11": n % 2} for n in range(8)}


def test_the_log_of_another_sheet_is_refused_and_left_alone(path: Path, tmp_path: Path) -> None:
    with JudgmentLog(path) as log:
        log.add([Judgment("Ann", of_document(), 1)])
    before = log_path(path).read_bytes()
    write_sheet(path, Sheet.of(sheets.content(seed=2)))
    with pytest.raises(LogError, match="has the judgments of another sheet"):
        JudgmentLog(path)
    with pytest.raises(LogError, match="has the judgments of another sheet"):
        read_judgments(path, read_sheet(path))
    assert log_path(path).read_bytes() == before


def test_a_file_that_is_no_log_is_left_alone(path: Path) -> None:
    for content in ("my notes", "my notes\nof today\n", "[1]\n", '{"kind": "bioqa batch"}\n'):
        log_path(path).write_text(content)
        with pytest.raises(LogError):
            JudgmentLog(path)
        assert log_path(path).read_text() == content


LINE = {"judge": "Ann", "question": "q1", "pmid": "11", "grade": 1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"judge": ""}, "the judge's name is empty"),
        ({"judge": 5}, "judge: must be a name, not 5"),
        ({"judge": "half \ud800"}, "characters that cannot be shown"),
        ({"judge": "x" * 10_000}, "has 10000 characters; at most 100 are allowed"),
        ({"question": "q9"}, 'question "q9" has no item "11"'),
        ({"pmid": "99"}, 'question "q1" has no item "99"'),
        ({"section": "abstract", "begin": 1, "end": 28}, 'no item "11/abstract/1-28"'),
        ({"grade": 2}, "the grade of a document is one of 1 (relevant), 0 (not relevant), not 2"),
        ({"grade": True}, "grade: must be a number or null, not true"),
        ({"grade": "1"}, "grade: must be a number"),
    ],
)
def test_a_damaged_line_is_named(change: dict[str, object], message: str, path: Path) -> None:
    JudgmentLog(path).close()
    with log_path(path).open("a") as file:
        file.write(json.dumps(LINE | change) + "\n" + json.dumps(LINE) + "\n")
    with pytest.raises(LogError, match=r"sheet\.json\.judgments, line 2: ") as refused:
        JudgmentLog(path)
    assert message in str(refused.value)


def test_nothing_is_kept_for_a_sheet_that_changed_meanwhile(path: Path) -> None:
    original = path.read_bytes()
    with JudgmentLog(path) as log:
        write_sheet(path, Sheet.of(sheets.content(seed=2)))
        with pytest.raises(SheetChanged):
            log.add([Judgment("Ann", of_document(), 1)])
        path.unlink()
        with pytest.raises(SheetChanged):
            log.add([Judgment("Ann", of_document(), 1)])
        path.write_bytes(original)
        log.add([Judgment("Ann", of_document(), 1)])
    assert judged(path) == {"Ann": {"11": 1}}


def test_a_grade_that_there_is_not_is_refused_with_all_that_came_with_it(path: Path) -> None:
    with JudgmentLog(path) as log, pytest.raises(JudgmentError, match="the grade of a sentence is one of 2"):
        log.add([Judgment("Ann", of_document(), 1), Judgment("Ann", of_sentence(), 3)])
    assert judged(path) == {}


def test_the_lower_median_of_several_judges_counts() -> None:
    judgments = Judgments()
    for judge, grade in (("Ann", 2), ("Ben", 1), ("Cy", 2)):
        judgments.add(Judgment(judge, of_sentence(), grade))
    judgments.add(Judgment("Ann", of_document(), 1))
    judgments.add(Judgment("Ben", of_document(), 0))
    assert judgments.consensus() == {of_sentence(): 2, of_document(): 0}
    assert judgments.consensus(["Ben"]) == {of_sentence(): 1, of_document(): 0}
    assert judgments.consensus(["Dee"]) == {}


def test_names_have_one_form() -> None:
    assert check_name("  Zoe\u0308  M.\tBlack ") == "Zo\u00eb M. Black"
    assert check_name("x" * MOST_NAME) == "x" * MOST_NAME
    for name in ("", " \n ", "x" * 10_000, "a\x00b", "\ud800", "a\u202eb"):
        with pytest.raises(NameRefused):
            check_name(name)
