"""Reading the records of a MEDLINE or PubMed XML file, plain or gzip, one at a time; pipes, too.

A file is refused at the first error. No DTD is loaded, no entity expanded, no network used.
"""

import io
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from isal import igzip
from isal.igzip_lib import IsalError
from lxml import etree

from bioqa.system.errors import BioqaError
from bioqa.system.formats import GZIP_MAGIC, HEAD_BYTES, refuse_packed
from bioqa.system.jsonfile import STANDARD

CHUNK = 1 << 16
"""Bytes of XML parsed at a time. Memory holds one such chunk and one record."""

RECORDS = {
    "PubmedArticleSet": ("PubmedArticle", "PubmedBookArticle", "DeleteCitation"),
    "MedlineCitationSet": ("MedlineCitation", "DeleteCitation"),
}
"""The record elements of each kind of file."""

_RECORD_TAGS = {tag for tags in RECORDS.values() for tag in tags}

XML_SPACE = re.compile(r"[ \t\r\n]+")

_BROKEN_GZIP: Any = (EOFError, IsalError, igzip.BadGzipFile)  # isal types its error as a number

_UNUSUAL_ENTITY = re.compile(rb"&(?!#|(?:amp|lt|gt|quot|apos);)")
"""Neither a character reference nor one of XML's five entities; or one cut by the chunk's end; or UTF-16."""


class MedlineError(BioqaError):
    """The file is refused as a whole. The message names the file and the position."""


def records(
    path: Path, report_position: Callable[[int], None] = lambda position: None
) -> Iterator[etree._Element]:
    """Yield the root's children. An element is cleared when the next one is requested.

    ``report_position`` is called with the number of bytes read so far, counted in the file on disk (that is,
    before decompression).
    """
    if path.is_dir():
        raise MedlineError(folder_given(path))
    with _open(path) as plain:
        counted = _CountedStream(plain)
        try:
            for record in _parse(_unzip(counted, path), path):
                report_position(counted.position)
                yield record
        except _BROKEN_GZIP as error:
            raise MedlineError(f"{path}, near byte {counted.position}: broken gzip: {error}") from error
        except etree.XMLSyntaxError as error:
            raise MedlineError(f"{path}: {_explain(str(error.msg))}") from error


def folder_given(path: Path) -> str:
    return f"{path} is a folder; give its files: {path}/*.xml.gz"


def _open(path: Path) -> AbstractContextManager[BinaryIO]:
    if str(path) != STANDARD:
        return path.open("rb")
    return nullcontext(
        io.BytesIO() if sys.stdin is None else sys.stdin.buffer
    )  # None: closed before the start


class _CountedStream(io.RawIOBase):
    """A stream that cannot be rewound, such as a pipe: counts the bytes read, and can look ahead."""

    def __init__(self, stream: BinaryIO) -> None:
        self.position = 0
        self._stream = stream
        self._ahead = b""

    def look_ahead(self, size: int) -> bytes:
        self._ahead = self._stream.read(size)
        return self._ahead

    def read(self, size: int = -1) -> bytes:
        ahead = self._ahead if size < 0 else self._ahead[:size]
        self._ahead = self._ahead[len(ahead) :]
        data = ahead + self._stream.read(size - len(ahead) if size >= 0 else size)
        self.position += len(data)
        return data

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # of any buffer
        # Less than isal asks for, half a megabyte, so that the position is told often enough.
        data = self.read(min(len(buffer), io.DEFAULT_BUFFER_SIZE))
        buffer[: len(data)] = data
        return len(data)


def _unzip(plain: _CountedStream, path: Path) -> BinaryIO:
    head = plain.look_ahead(HEAD_BYTES)
    stream: Any = plain
    if head.startswith(GZIP_MAGIC):
        stream = igzip.IGzipFile(fileobj=plain, mode="rb")  # type: ignore[no-untyped-call]
    else:
        _refuse_packed(head, path)
    return cast(BinaryIO, stream)


def _refuse_packed(head: bytes, path: Path) -> None:
    try:
        refuse_packed(head, str(path))
    except BioqaError as error:
        raise MedlineError(str(error)) from error


def _explain(message: str) -> str:
    """Add to the parser's message what is behind a usual one."""
    if "XML declaration allowed only at the start" in message or "Extra content at the end" in message:
        return (
            f"broken XML: {message}. If these are several XML documents one after the other, as shell loops "
            "write them, split the file into one for each"
        )
    return f"broken XML: {message}"


def _parse(stream: BinaryIO, path: Path) -> Iterator[etree._Element]:
    chunk = stream.read(CHUNK)
    _refuse_packed(chunk, path)
    name = _root_name(chunk, path)
    parser = _parser(("start", "end"), (name, *RECORDS[name]))
    root = None
    # Looking for entities in each record's tree takes a tenth of the time of building it.
    unusual = _declares_encoding(chunk)
    while chunk:
        unusual = unusual or _UNUSUAL_ENTITY.search(chunk) is not None
        parser.feed(chunk)
        _refuse_fatal(parser, path)
        for kind, element in parser.read_events():
            if root is None:
                root = element
            elif kind == "end" and element.getparent() is root:
                if unusual:
                    _refuse_entities(element, path)
                yield element
                element.clear()
        chunk = stream.read(CHUNK)
        if root is not None:
            # Until the file has ended, the last child may still be open.
            yield from _others(root, root[:-1] if chunk else root[:], RECORDS[name])
    parser.close()


def _others(
    root: etree._Element, complete: list[etree._Element], kinds: tuple[str, ...]
) -> Iterator[etree._Element]:
    """Remove complete children from the root, so that memory stays flat; yield those that are not records."""
    for child in complete:
        if child.tag not in kinds:
            yield child
        root.remove(child)


def _refuse_fatal(parser: "etree.XMLPullParser[Any]", path: Path) -> None:
    """Raise for errors that lxml only logs: after an undeclared entity it goes on with the next chunk."""
    for error in parser.feed_error_log.filter_from_fatals():
        where = f"{error.message}, line {error.line}, column {error.column}"
        raise MedlineError(f"{path}: {_explain(where)}")


def _refuse_entities(record: etree._Element, path: Path) -> None:
    """Refuse undeclared entities: their text is unknown, and would silently be missing from the record."""
    for entity in record.iter(etree.Entity):
        raise MedlineError(f"{path}, line {record.sourceline}: unknown entity {entity.text} in this record")


def _declares_encoding(head: bytes) -> bool:
    """Whether entities may be written in other bytes than in ASCII."""
    return (
        re.match(rb"(?:\xef\xbb\xbf)?<\?xml[^>]*encoding=(?![\"'](?i:utf-8|us-ascii|iso-8859-1)[\"'])", head)
        is not None
    )


def _root_name(head: bytes, path: Path) -> str:
    """Return the root's name from the beginning of the file, before the actual parsing."""
    if not head.strip():
        raise MedlineError(f"{path}: empty")
    parser = _parser(("start",))
    for begin in range(0, len(head), 1024):
        parser.feed(head[begin : begin + 1024])
        for _, root in parser.read_events():
            dtd = root.getroottree().docinfo.internalDTD
            if dtd is not None and dtd.entities():
                raise MedlineError(f"{path}, line {root.sourceline}: declares entities before its root")
            tag = str(root.tag)
            if tag not in RECORDS:
                alone = " (a single record: put it between the tags of one)" if tag in _RECORD_TAGS else ""
                raise MedlineError(
                    f"{path}, line {root.sourceline}: the root is {tag}, not {' or '.join(RECORDS)}{alone}"
                )
            return tag
    raise MedlineError(f"{path}: no root element in the first {len(head)} bytes")


def _parser(
    events: tuple[Literal["start", "end"], ...], tags: tuple[str, ...] | None = None
) -> "etree.XMLPullParser[Any]":
    # huge_tree stays off: it would disable libxml2's limits on depth and text length, which protect against
    # hostile files.
    return etree.XMLPullParser(
        events=events,
        tag=tags,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
    )


def child(element: etree._Element | None, tag: str) -> etree._Element | None:
    return None if element is None else next(element.iterchildren(tag), None)


Children = dict[str, list[etree._Element]]
"""The children of an element by their tags."""


def children(element: etree._Element | None) -> Children:
    children: Children = {}
    if element is not None:
        for child in element:
            tag: Any = child.tag  # a str, as no other kind of node is parsed
            children.setdefault(tag, []).append(child)
    return children


def first(children: Children, tag: str) -> etree._Element | None:
    return children[tag][0] if tag in children else None


def text_of(element: etree._Element | None) -> str:
    """Return all text below an element, inside markup or not, with XML white space collapsed; "" if none."""
    if element is None:
        return ""
    if len(element):
        return collapse("".join(map(str, element.itertext())))
    text = element.text or ""
    # Most values are one word, and this test is the fastest.
    return text if text.isalnum() else collapse(text)


def collapse(text: str) -> str:
    """Replace each run of XML white space by one space; U+00A0, U+2009 and the like are content."""
    # Most texts need no change; four substring searches are many times faster than one pattern.
    if "\n" in text or "  " in text or "\t" in text or "\r" in text:
        text = XML_SPACE.sub(" ", text)
    return text.strip(" ")
