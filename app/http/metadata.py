"""Schema of a citation's metadata, in every answer that has documents."""

from datetime import date

from pydantic import BaseModel, ConfigDict, Field

from bioqa.bioasq.metadata import (
    Author,
    Correction,
    Heading,
    Journal,
    Markup,
    Metadata,
    metadata_json,
)


class KnownDate(BaseModel):
    """A date as precise as it is known."""

    text: str = Field(description='To be shown: "2015", "2015 Mar", "2015 Mar 4", "2015 Spring".')
    earliest: date = Field(description="The first day that agrees with it.")
    latest: date = Field(description="The last day that agrees with it.")


class CitationMetadata(BaseModel):
    """What MEDLINE says beside title and abstract. What a record does not say is empty, or null."""

    model_config = ConfigDict(frozen=True)

    authors: tuple[Author, ...] = Field(description="In order; a group has no other name.")
    authors_complete: bool = Field(description='Whether all are listed; otherwise "et al." follows.')
    journal: Journal
    volume: str
    issue: str
    pages: str = Field(description='As MEDLINE writes them: "101-9" is 101 to 109.')
    published: KnownDate | None
    electronic: KnownDate | None = Field(description="When it was published electronically.")
    doi: str
    pmcid: str = Field(description="In PubMed Central, where its full text is free.")
    types: tuple[str, ...] = Field(description="NLM's publication types.")
    headings: tuple[Heading, ...] = Field(description="MeSH headings; none until NLM has indexed the record.")
    keywords: tuple[str, ...]
    substances: tuple[str, ...]
    languages: tuple[str, ...] = Field(description="Codes of three letters: eng.")
    status: str = Field(description="NLM's state of the record: MEDLINE, In-Process, Publisher, …")
    corrections: tuple[Correction, ...] = Field(description="Also comments, and what it corrects itself.")
    vernacular_title: str
    markup: tuple[Markup, ...] = Field(
        description="Superscript, subscript, italics and bold in title and abstract, by offsets."
    )


def citation_metadata(metadata: Metadata) -> CitationMetadata:
    return CitationMetadata.model_validate(metadata_json(metadata))
