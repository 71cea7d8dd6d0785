"""A small MEDLINE of copies of the bundled sample's citations, in files as NLM names them."""

import gzip
import re
from pathlib import Path

SAMPLE = Path(__file__).resolve().parents[2] / "app" / "sample" / "medline.xml"
SAMPLE_CITATIONS = 168
YEAR = 26


def write_medline(folder: Path, files: int = 4, copies: int = 40) -> int:
    """Write a baseline that everybody can read; returns the number of its citations."""
    for number in range(1, files + 1):
        write_file(folder, "baseline", number, range((number - 1) * copies, number * copies))
    return files * copies * SAMPLE_CITATIONS


def write_update(folder: Path, number: int, copies: range, deleted: int = 0) -> None:
    """Write an update file, which may delete the first citations of all."""
    write_file(folder, "updatefiles", number, copies, deleted)


def write_file(folder: Path, part: str, number: int, copies: range, deleted: int = 0) -> None:
    text = SAMPLE.read_text(encoding="utf-8")
    begin, end = text.index("  <PubmedArticle>"), text.rindex("</PubmedArticleSet>")
    articles = (renumber(text[begin:end], copy) for copy in copies)
    pmids = "".join(f'<PMID Version="1">{90000001 + n}</PMID>' for n in range(deleted))
    gone = f"<DeleteCitation>{pmids}</DeleteCitation>" if deleted else ""
    (folder / part).mkdir(parents=True, exist_ok=True)
    target = folder / part / f"pubmed{YEAR}n{number:04}.xml.gz"
    with gzip.open(target, "wt", encoding="utf-8", compresslevel=1) as file:
        file.write(text[:begin] + "".join(articles) + gone + text[end:])
    for path in (folder, folder / part, target):
        path.chmod(0o755 if path.is_dir() else 0o644)


def renumber(articles: str, copy: int) -> str:
    """The sample's articles with PMIDs of their own. The first copy keeps them."""
    return re.sub(r"\b9000(\d{4})\b", lambda pmid: str(90000000 + 1000 * copy + int(pmid[1])), articles)
