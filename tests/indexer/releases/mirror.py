"""A folder as NLM's site is laid out, with made-up files."""

import gzip
import hashlib
from pathlib import Path

from bioqa.indexer.releases.source import Directory
from tests.indexer.medline_xml import citation, write


class Mirror:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, part: Directory, number: int, *records: str, year: int = 2025, md5: bool = True) -> Path:
        """Write a file of that year and number, and its md5."""
        folder = self.folder / part
        folder.mkdir(parents=True, exist_ok=True)
        plain = write(self.folder / "plain.xml", *records)
        path = folder / f"pubmed{year % 100:02}n{number:04}.xml.gz"
        path.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
        plain.unlink()
        if md5:
            digest = hashlib.md5(path.read_bytes()).hexdigest()
            path.with_name(path.name + ".md5").write_text(f"MD5({path.name})= {digest}\n")
        return path

    def baseline(self, number: int, *records: str, year: int = 2025, md5: bool = True) -> Path:
        return self.put("baseline", number, *records, year=year, md5=md5)

    def update(self, number: int, *records: str, year: int = 2025, md5: bool = True) -> Path:
        return self.put("updatefiles", number, *records, year=year, md5=md5)


def citations(first: int, last: int, title: str = "Title") -> list[str]:
    """With titles that tell the PMID."""
    return [citation(pmid, f"{title} {pmid}.") for pmid in range(first, last + 1)]
