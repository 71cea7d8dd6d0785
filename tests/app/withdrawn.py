"""Articles of the small collection's, of which one is retracted, one doubted and one corrected."""

from dataclasses import replace

from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import Correction, Metadata

RETRACTED = "90000001"
DOUBTED = "90000007"
ERRATUM = "90000013"

NOTICE = "Retraction in: Vellum Q. Invent J. 2020 Feb;4(2):11. PMID: 90000002."
METADATA = {
    RETRACTED: Metadata(
        corrections=(Correction("RetractionIn", "90000002", "Vellum Q. Invent J. 2020 Feb;4(2):11"),)
    ),
    DOUBTED: Metadata(
        corrections=(Correction("ExpressionOfConcernIn", "90000003", "<i>Invent</i> J. 2020"),)
    ),
    ERRATUM: Metadata(corrections=(Correction("ErratumIn", "90000004", "Invent J. 2021"),)),
}


def marked(document: Document) -> Document:
    return replace(document, metadata=METADATA.get(document.pmid, document.metadata))
