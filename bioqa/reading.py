"""MEDLINE files as documents, and the bundled sample's files."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from bioqa.bioasq.domain import Document
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.medline.reader import MedlineFile


@dataclass(frozen=True, slots=True)
class Sample:
    """The files of the bundled sample: 168 invented citations, and 25 questions with their gold answers."""

    medline: Path
    questions: Path


def sample() -> Sample:
    """The bundled sample, to try everything on.

    >>> len(bioqa.read_testset(bioqa.sample().questions))
    25
    """
    folder = Path(str(files("bioqa.app") / "sample"))
    return Sample(folder / "medline.xml", folder / "questions.json")


def read_medline(path: str | Path, *, joiner: str = "") -> Iterator[Document]:
    """The citations of a MEDLINE or PubMed XML file, plain or gzip, one at a time, with their sentences.

    A citation that the file has twice comes twice. ``bioqa.MedlineFile`` gives deletions too, and counts what
    was skipped or rejected. ``joiner``: what stands between the parts of a structured abstract. Raises
    BioqaError where the file is broken, with its line; what came before it should then not be used.

    >>> document = next(bioqa.read_medline(bioqa.sample().medline))
    >>> document.pmid, document.published.year, len(document.sentences)
    ('90000001', 2019, 8)
    >>> document.sentence_text(document.sentences[0])
    "Blocking PCSK9 from outside and inside the cell: a clinician's guide."
    """
    return (event.document for event in MedlineFile(Path(path), joiner) if isinstance(event, Upsert))
