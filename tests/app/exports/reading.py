"""Reading files of citations with other people's readers."""

import csv
import io
from typing import Any

import rispy
from bibtexparser.entrypoint import parse_string
from bibtexparser.middlewares import LatexDecodingMiddleware


def read_bibtex(written: str) -> list[tuple[str, dict[str, str]]]:
    library = parse_string(written, append_middleware=[LatexDecodingMiddleware()])
    assert not library.failed_blocks
    return [(entry.key, {field.key: field.value for field in entry.fields}) for entry in library.entries]


def read_ris(written: str) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = rispy.loads(written)
    return records


def ris_pmids(written: str) -> list[str]:
    return [record["accession_number"] for record in read_ris(written)]


def read_table(written: str) -> list[dict[str, str]]:
    assert written.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(written.removeprefix("\ufeff"), newline="")))
