"""A folder as a source, and the forms that an md5 is told in."""

from pathlib import Path

import pytest

from bioqa.indexer.loading.ledger import md5_of
from bioqa.indexer.releases.source import BadFile, FolderSource, PublishedFile, md5_path, parse_md5
from bioqa.system.errors import BioqaError
from tests.indexer.releases.mirror import Mirror, citations

MD5 = "0123456789abcdef0123456789ABCDEF"
NAME = "pubmed25n0001.xml.gz"


@pytest.mark.parametrize(
    "text",
    [
        f"MD5({NAME})= {MD5}\n",
        f"MD5 ({NAME}) = {MD5}",
        f"{MD5}  {NAME}\n",
        f"{MD5} *{NAME}\r\n",
        f"{MD5}  ./baseline/{NAME}",
        f"{MD5}\n",
    ],
)
def test_an_md5_is_told_in_several_forms(text: str) -> None:
    assert parse_md5(text.encode(), NAME, "x.md5") == MD5.lower()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "x.md5: has no md5, but ''"),
        (b"<html>404</html>", "has no md5, but '<html>404</html>'"),
        (f"MD5({NAME})= {MD5[:-1]}".encode(), "has no md5"),
        (b"\xff\x00" * 100, "has no md5"),
        (f"MD5(pubmed25n0002.xml.gz)= {MD5}".encode(), f"is for pubmed25n0002.xml.gz, not for {NAME}"),
    ],
)
def test_what_is_no_md5_is_refused(content: bytes, said: str) -> None:
    with pytest.raises(BadFile) as error:
        parse_md5(content, NAME, "x.md5")
    assert said in str(error.value)


def test_a_folder_lists_nlms_files_with_their_md5(mirror: Mirror) -> None:
    second = mirror.baseline(2, *citations(2, 2))
    first = mirror.baseline(1, *citations(1, 1), md5=False)
    mirror.update(3, *citations(3, 3))
    for other in ("README.txt", "pubmed25n0009.xml.gz.part", "pubmed25n12345.xml.gz"):
        (mirror.folder / "baseline" / other).write_text("not one of them")
    source = FolderSource(mirror.folder)
    listing = source.listing()
    assert [(file.directory, file.name, file.ready) for file in listing] == [
        ("baseline", "pubmed25n0001.xml.gz", True),
        ("baseline", "pubmed25n0002.xml.gz", True),
        ("updatefiles", "pubmed25n0003.xml.gz", True),
    ]
    assert source.published_md5s(listing[:2]) == {second.name: md5_of(second)}
    assert listing[0].name == first.name


def test_a_folder_may_lack_one_of_the_two(mirror: Mirror) -> None:
    mirror.update(3, *citations(3, 3))
    assert len(FolderSource(mirror.folder).listing()) == 1


def test_a_folder_without_both_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(BioqaError, match=r"has no folder baseline/ or updatefiles/"):
            FolderSource(folder).listing()


def test_a_file_is_checked_when_fetched(mirror: Mirror) -> None:
    good, bare = mirror.baseline(1, *citations(1, 1)), mirror.baseline(2, *citations(2, 2), md5=False)
    source = FolderSource(mirror.folder)
    fetched = [source.fetch(file) for file in source.listing()]
    assert [(f.path, f.checked) for f in fetched] == [(good, True), (bare, False)]
    assert fetched[0].md5 == md5_of(good)


def test_a_damaged_file_is_refused(mirror: Mirror) -> None:
    path = mirror.baseline(1, *citations(1, 1))
    path.write_bytes(path.read_bytes()[:-1])
    source = FolderSource(mirror.folder)
    with pytest.raises(
        BadFile, match=r"pubmed25n0001.xml.gz: its md5 is .*, and pubmed25n0001.xml.gz.md5 says"
    ):
        source.fetch(source.listing()[0])


def test_a_damaged_md5_is_refused_when_fetched_not_when_listed(mirror: Mirror) -> None:
    md5_path(mirror.baseline(1, *citations(1, 1))).write_text("torn")
    source = FolderSource(mirror.folder)
    (file,) = source.listing()
    assert source.published_md5s([file]) == {}
    with pytest.raises(BadFile, match=r"pubmed25n0001.xml.gz.md5: has no md5, but 'torn'"):
        source.fetch(file)


def test_a_file_that_is_gone_is_refused(mirror: Mirror) -> None:
    mirror.baseline(1, *citations(1, 1))
    with pytest.raises(BadFile, match=r"pubmed25n0002.xml.gz: cannot be read: No such file"):
        FolderSource(mirror.folder).fetch(PublishedFile("pubmed25n0002.xml.gz", "baseline"))
