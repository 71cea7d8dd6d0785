"""MEDLINE files for tests, with made-up citations."""

from pathlib import Path
from xml.sax.saxutils import escape


def citation(
    pmid: int, title: str = "A title.", abstract: str = "An abstract. It has two sentences.", version: int = 1
) -> str:
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="{version}">{pmid}</PMID><Article>'
        "<Journal><JournalIssue><PubDate><Year>2001</Year></PubDate></JournalIssue></Journal>"
        f"<ArticleTitle>{escape(title)}</ArticleTitle>"
        f"<Abstract><AbstractText>{escape(abstract)}</AbstractText></Abstract>"
        "</Article></MedlineCitation></PubmedArticle>\n"
    )


def deletion(*pmids: int) -> str:
    inner = "".join(f'<PMID Version="1">{pmid}</PMID>' for pmid in pmids)
    return f"<DeleteCitation>{inner}</DeleteCitation>\n"


def write(path: Path, *records: str, end: str = "</PubmedArticleSet>\n") -> Path:
    text = f'<?xml version="1.0" encoding="utf-8"?>\n<PubmedArticleSet>\n{"".join(records)}{end}'
    path.write_text(text, encoding="utf-8")
    return path
