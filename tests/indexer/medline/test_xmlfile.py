"""Files that must be refused, with the place, and files that must not."""

import bz2
import gzip
import lzma
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bioqa.indexer.medline.reader import MedlineError, read
from bioqa.indexer.medline.xmlfile import CHUNK, collapse, records
from tests.indexer.medline_xml import citation, write

HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
DOCTYPE = "<!DOCTYPE PubmedArticleSet"
BOMB = '<!ENTITY e0 "ha">' + "".join(f'<!ENTITY e{n + 1} "' + 10 * f"&e{n};" + '">' for n in range(11))


def article_set(title: str) -> str:
    return f"<PubmedArticleSet>\n{citation(1).replace('A title.', title)}</PubmedArticleSet>"


def pmids(path: Path) -> list[str]:
    found = []
    for record in records(path):
        pmid = record.find("MedlineCitation/PMID")
        assert pmid is not None
        found.append(str(pmid.text))
    return found


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        (b"PMID- 1\nTI  - A title.\n", "line 1, column 1"),
        (b"<html><body>Not here</body></html>", "line 1: the root is html, not PubmedArticleSet or"),
        (b"<PubmedBookArticleSet/>", "the root is PubmedBookArticleSet"),
        (b'<PubmedArticleSet xmlns="urn:x"/>', "the root is {urn:x}PubmedArticleSet"),
        (f"{HEAD}<PubmedArticleSet>\n{citation(1)}".encode(), "line 4"),
        (f"{HEAD}<PubmedArticleSet>\n{citation(1)}<b></PubmedArticleSet>".encode(), "line 4"),
        (f"{HEAD}{article_set('')}\nmore".encode(), "line 5"),
        (f"{HEAD}{article_set('é')}".encode("latin-1"), "line 3, column"),
        (f"{HEAD}{article_set(chr(0))}".encode(), "line 3, column"),
        (b'<?xml version="1.0" encoding="klingon"?><PubmedArticleSet/>', "klingon"),
        (f"{HEAD}{article_set('a&nbsp;b')}".encode(), "'nbsp' not defined, line 3"),
        (f"{DOCTYPE} SYSTEM 'p.dtd'>\n{article_set('a&nbsp;b')}".encode(), "line 3: unknown entity &nbsp;"),
        (f"{DOCTYPE} SYSTEM 'p.dtd'>\n{article_set(4 * CHUNK * 'a' + '&nbsp;')}".encode(), "entity &nbsp;"),
        (f"{DOCTYPE} SYSTEM 'p.dtd'>\n{article_set('a&nbsp;b')}".encode("utf-16"), "unknown entity &nbsp;"),
        (f"{DOCTYPE} [{BOMB}]>\n{article_set('&e11;')}".encode(), "amplification"),
        (f"{DOCTYPE} [<!ENTITY x 'y'>]>\n{article_set('&x;')}".encode(), "line 2: declares entities"),
        (f"{DOCTYPE} [{BOMB}]><PubmedArticleSet a='&e11;'/>".encode(), ""),
        (f"{DOCTYPE} [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>{article_set('&x;')}".encode(), "declares"),
        (f"{DOCTYPE} [<!ENTITY % x SYSTEM 'http://[::1]:9/'> %x;]>{article_set('')}".encode(), "declares"),
        (b"<!-- x -->" * CHUNK + b"<PubmedArticleSet/>", "no root element in the first"),
        (b"\x1f\x8b\x08", "near byte 3: broken gzip"),
        (gzip.compress(article_set("").encode(), mtime=0)[:-20], "broken gzip"),
        (gzip.compress(b"<PubmedArticleSet></PubmedArticleSet>", mtime=0) + b"garbage", "broken gzip"),
        (b"\x1f\x8b" + b"\x00" * 50, "broken gzip"),
    ],
)  # fmt: skip
def test_refused(content: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.xml.gz"
    path.write_bytes(content)
    with pytest.raises(MedlineError) as refusal:
        list(read(path))
    assert str(path) in str(refusal.value)
    assert reason in str(refusal.value)
    assert "root:" not in str(refusal.value)


def test_a_flipped_byte_in_a_gzip_file_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path / "good.xml", *map(citation, range(1, 200)))
    packed = bytearray(gzip.compress(path.read_bytes()))
    packed[-6] ^= 1  # in the checksum
    path.write_bytes(packed)
    with pytest.raises(MedlineError, match=r"good\.xml, near byte [0-9]+: broken gzip: CRC"):
        list(read(path))


def test_a_depth_bomb_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "deep.xml", citation(1, "TITLE").replace("TITLE", "<i>" * 5000 + "</i>" * 5000))
    with pytest.raises(MedlineError, match="depth"):
        list(read(path))


def test_a_missing_file_is_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(read(tmp_path / "none.xml"))


def test_the_doctype_of_nlm_is_not_fetched(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(
        f'{HEAD}<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD" "http://127.0.0.1:9/pubmed.dtd">\n'
        f"<PubmedArticleSet>{citation(7)}</PubmedArticleSet>"
    )
    assert pmids(path) == ["7"]


def test_records_come_in_order_whatever_the_chunks(tmp_path: Path) -> None:
    size = CHUNK // 1000
    records_of_many_sizes = [citation(n, abstract="word " * (n * 37 % size)) for n in range(1, 3000)]
    path = write(tmp_path / "many.xml", *records_of_many_sizes)
    assert path.stat().st_size > 3 * CHUNK
    assert pmids(path) == [str(n) for n in range(1, 3000)]


def test_lines_are_counted_beyond_16_bits(tmp_path: Path) -> None:
    path = write(tmp_path / "long.xml", "\n" * 100_000, citation(1))
    assert [record.sourceline for record in records(path)] == [100_003]


def test_only_children_of_the_root_are_records(tmp_path: Path) -> None:
    path = write(tmp_path / "nested.xml", f"<Other>{citation(1)}</Other>", citation(2), "<Last/>")
    assert [record.tag for record in records(path)] == ["PubmedArticle", "Other", "Last"]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    program = (
        "import re, sys; from pathlib import Path; from bioqa.indexer.medline.xmlfile import records\n"
        "n = sum(1 for record in records(Path(sys.argv[1])))\n"
        "print(n, *re.findall(r'VmHWM:\\s+(\\d+) kB', Path('/proc/self/status').read_text()))"
    )
    peaks = []
    for count in (1000, 10_000):
        path = write(
            tmp_path / "big.xml", *(citation(n, abstract="word " * 400) for n in range(1, count + 1))
        )
        command = [sys.executable, "-c", program, str(path)]
        root = Path(__file__).parents[3]
        answer = subprocess.run(command, capture_output=True, check=True, text=True, cwd=root).stdout.split()
        assert int(answer[0]) == count
        peaks.append(int(answer[1]))
    # 18 MB more of XML; a tree that was kept would take several times that.
    assert peaks[1] - peaks[0] < 8_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b", "a b"),
        ("  a\r\n\t b ", "a b"),
        ("a\u00a0 \u2009b\u00a0", "a\u00a0 \u2009b\u00a0"),
        ("\n", ""),
        ("a\u2028b\x85c", "a\u2028b\x85c"),
    ],
)
def test_only_the_white_space_of_xml_collapses(text: str, expected: str) -> None:
    assert collapse(text) == expected


# What a user may give


def test_pipes_are_read(tmp_path: Path) -> None:
    content = article_set("A title.").encode()
    for number, sent in enumerate((content, gzip.compress(content))):
        pipe = tmp_path / f"pipe-{number}"
        os.mkfifo(pipe)
        writing = threading.Thread(target=pipe.write_bytes, args=(sent,))
        writing.start()
        positions: list[int] = []
        assert len(list(records(pipe, positions.append))) == 1
        writing.join()
        assert positions[-1] == len(sent)


def test_standard_input_is_read(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from bioqa.indexer.medline.xmlfile import records;"
        "print(len(list(records(Path('-')))))"
    )
    content = gzip.compress(article_set("A title.").encode())
    result = subprocess.run([sys.executable, "-c", code], input=content, capture_output=True, check=True)
    assert result.stdout == b"1\n"


def test_a_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(MedlineError, match=r"is a folder; give its files: .*/\*\.xml\.gz"):
        list(records(tmp_path))


@pytest.mark.parametrize(
    ("packed", "kind"),
    [
        (bz2.compress(b"<PubmedArticleSet/>"), "a bzip2 file"),
        (lzma.compress(b"<PubmedArticleSet/>"), "an xz file"),
        (b"PK\x03\x04 and more", "a zip file"),
        (
            gzip.compress(gzip.compress(b"<PubmedArticleSet/>", mtime=0), mtime=0),
            "a gzip file within a gzip file",
        ),
    ],
)
def test_other_packed_files_are_named(tmp_path: Path, packed: bytes, kind: str) -> None:
    (tmp_path / "a.xml").write_bytes(packed)
    with pytest.raises(MedlineError, match=rf"a\.xml: is {kind}; unpack it first"):
        list(records(tmp_path / "a.xml"))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("head", ["", HEAD])
def test_several_documents_one_after_the_other_are_told(tmp_path: Path, head: str, packed: bool) -> None:
    one = (head + article_set("A title.")).encode()
    (tmp_path / "a.xml").write_bytes(gzip.compress(one) + gzip.compress(one) if packed else one + one)
    with pytest.raises(MedlineError, match="several XML documents one after the other"):
        list(records(tmp_path / "a.xml"))


def test_a_record_alone_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(citation(1))
    with pytest.raises(MedlineError, match=r"the root is PubmedArticle, .*a single record: put it between"):
        list(records(tmp_path / "a.xml"))
