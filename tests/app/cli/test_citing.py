"""``bioqa cite``."""

import os
import subprocess
import sys
from pathlib import Path

from tests.app.conftest import Run
from tests.app.exports.reading import ris_pmids

PMIDS = ("90000003", "http://www.ncbi.nlm.nih.gov/pubmed/90000001", "90000003")


def test_cite_prints_a_line_for_each_article(run: Run, index_folder: Path) -> None:
    result = run("cite", *PMIDS, "--index", index_folder)
    assert result.code == 0
    assert result.out.splitlines() == [
        "Effects of warfarin in cohort 3 <b>& beyond</b>. 1993. PMID: 90000003.",
        "Effects of metformin in cohort 1 <b>& beyond</b>. 1991. PMID: 90000001.",
    ]


def test_cite_takes_a_pmid_as_any_face_does(run: Run, index_folder: Path) -> None:
    plain = run("cite", "90000001", "--index", index_folder)
    for written in ("PMID: 90000001", "https://pubmed.ncbi.nlm.nih.gov/90000001/"):
        assert run("cite", written, "90000001", "--index", index_folder) == plain


def test_cite_prints_a_file(run: Run, index_folder: Path) -> None:
    result = run("cite", *PMIDS, "--index", index_folder, "--format", "ris")
    assert ris_pmids(result.out) == ["90000003", "90000001"]


def test_cite_names_what_is_missing_and_prints_nothing(run: Run, index_folder: Path) -> None:
    result = run("cite", "90000001", "7", "8", "--index", index_folder)
    assert (result.code, result.out) == (2, "")
    assert "error: not in the index: 7, 8" in result.err
    assert '"x" is no PMID, such as 26023080' in run("cite", "x", "--index", index_folder).err


def test_files_are_utf_8_whatever_the_terminal_is(index_folder: Path) -> None:
    """The thin space of the abstract is kept."""
    command = [sys.executable, "-c", "from bioqa.app.cli import main; main()"]
    arguments = ["cite", "90000001", "--index", str(index_folder), "--format", "ris"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    done = subprocess.run([*command, *arguments], capture_output=True, env=environment, check=True)
    assert "with 5\u2009mg doses" in done.stdout.decode("utf-8")
    assert b"ER  - \r\n" in done.stdout


def test_the_samples_notices_and_what_they_are_about(run: Run, sample_index: Path) -> None:
    pmids = ("90000133", "90000166", "90000142", "90000167")
    cited = run("cite", *pmids, "--index", sample_index).out.splitlines()
    assert [line.partition("PMID: ")[2].partition(". ")[2].partition(".")[0] for line in cited] == [
        "Retracted",
        "Retraction notice",
        "Expression of concern",
        "Notice of concern",
    ]
    assert "Retraction in: Autoimmun Muscle Dis. 2014;64(1):3. PMID: 90000166." in cited[0]
    assert "Retraction of: Autoimmun Muscle Dis. 2012. PMID: 90000133." in cited[1]
