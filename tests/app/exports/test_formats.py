"""The registry of formats."""

from bioqa.app.exports.formats import FORMATS
from tests.app.exports.articles import BARE, RICH


def test_every_format_writes_every_article_and_says_what_is_withdrawn() -> None:
    for name, format in FORMATS.items():
        written = format.write([RICH, BARE])
        assert "veridol" in written
        assert "Plain" in written
        assert "Retracted" in written, name


def test_citations_stand_on_lines_of_their_own() -> None:
    for name in ("nlm", "vancouver", "apa"):
        assert FORMATS[name].write([RICH, BARE]).count("\n") == 2


def test_endings_and_media_types() -> None:
    assert [format.ending for format in FORMATS.values()] == [
        "ris",
        "bib",
        "nbib",
        "json",
        "csv",
        "txt",
        "txt",
        "txt",
    ]
    assert all("/" in format.media_type for format in FORMATS.values())
