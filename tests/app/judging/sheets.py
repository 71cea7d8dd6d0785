"""A small sheet: two questions, one of them with two documents."""

from pathlib import Path

from bioqa.app.judging.sheet import Item, Sheet, SheetContent, SheetDocument, SheetQuestion, write_sheet
from bioqa.bioasq.domain import Document, Sentence

TITLE = "Iron in liver."
ABSTRACT = "Iron is stored in the liver. Nobody knows why. Ferritin binds it."
SPANS = (Sentence("title", 0, 14), Sentence("abstract", 0, 28), Sentence("abstract", 47, 65))


def document(pmid: str) -> Document:
    whole = (*SPANS[:2], Sentence("abstract", 29, 46), SPANS[2])
    return Document(pmid, 1, TITLE, ABSTRACT, None, whole)


def content(seed: int = 1) -> SheetContent:
    first = [SheetDocument.of(document(pmid), SPANS) for pmid in ("11", "12")]
    second = [SheetDocument.of(document("21"), SPANS[1:2])]
    questions = [
        SheetQuestion(id="q1", body="Where is iron stored?", type="factoid", documents=first),
        SheetQuestion(id="q2", body="What binds iron?", documents=second),
    ]
    return SheetContent(systems=["bm25", "soft"], depth=10, seed=seed, index="pool", questions=questions)


def sheet() -> Sheet:
    return Sheet.of(content())


def written(folder: Path) -> Path:
    path = folder / "sheet.json"
    write_sheet(path, sheet())
    return path


def of_document(pmid: str = "11", question: str = "q1") -> Item:
    return Item(question, pmid)


def of_sentence(number: int = 1, pmid: str = "11", question: str = "q1") -> Item:
    return Item(question, pmid, SPANS[number])
