"""Reading citations with other people's readers."""

import rispy
from bibtexparser.entrypoint import parse_string
from bibtexparser.middlewares import LatexDecodingMiddleware


def read_bibtex(written: str) -> list[tuple[str, dict[str, str]]]:
    library = parse_string(written, append_middleware=[LatexDecodingMiddleware()])
    assert not library.failed_blocks
    return [(entry.key, {field.key: field.value for field in entry.fields}) for entry in library.entries]


def ris_pmids(text: str) -> list[str]:
    return [record["accession_number"] for record in rispy.loads(text)]
