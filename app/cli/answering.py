"""Commands that answer: ask, batch."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from bioqa.app.answers.answering import Answer, Order, SearchOptions
from bioqa.app.answers.facets import Facets
from bioqa.app.answers.opening import open_answerer
from bioqa.app.cli.batch import answer_batch
from bioqa.app.cli.console import out, print_file, print_json, progress, say
from bioqa.app.cli.options import (
    AfterOption,
    AuthorOption,
    BeforeOption,
    CandidatesOption,
    DeviceOption,
    ExcludeRetractedOption,
    FormatOption,
    FreeFullTextOption,
    HasAbstractOption,
    HeadingOption,
    IndexOption,
    JournalOption,
    JsonOption,
    LanguageOption,
    LiteralOption,
    RankerOption,
    TypeOption,
    UndatedOption,
    WeakSnippetsOption,
)
from bioqa.app.exports.formats import FORMATS
from bioqa.app.exports.standing import notice_text, shown_notices, word
from bioqa.app.http.schemas import search_answer
from bioqa.app.settings import MAX_CANDIDATES, load_settings
from bioqa.bioasq.domain import Document, Question
from bioqa.bioasq.files import read_testset
from bioqa.indexer.search.filtering.filters import Filters
from bioqa.indexer.search.notation.interpretation import interpret
from bioqa.indexer.search.questions.reading import Reading
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import has_lone_surrogate


def ask(
    question: Annotated[str, typer.Argument(help="The question.", show_default=False)],
    index: IndexOption = None,
    ranker: RankerOption = None,
    max_documents: Annotated[int, typer.Option(min=1, help="Maximum number of documents.")] = 10,
    max_snippets: Annotated[int, typer.Option(min=0, help="Maximum number of snippets.")] = 10,
    candidates: CandidatesOption = None,
    device: DeviceOption = None,
    after: AfterOption = None,
    before: BeforeOption = None,
    undated: UndatedOption = False,
    types: TypeOption = None,
    languages: LanguageOption = None,
    headings: HeadingOption = None,
    journals: JournalOption = None,
    authors: AuthorOption = None,
    has_abstract: HasAbstractOption = False,
    free_full_text: FreeFullTextOption = False,
    exclude_retracted: ExcludeRetractedOption = False,
    order: Annotated[
        Order, typer.Option("--order", help="date: the newest of the candidates first.")
    ] = "relevance",
    offset: Annotated[
        int, typer.Option(min=0, max=MAX_CANDIDATES - 1, help="Documents to skip, for further results.")
    ] = 0,
    facets: Annotated[
        bool, typer.Option("--facets", help="Count the best documents by year and type.")
    ] = False,
    plain: Annotated[
        bool, typer.Option("--plain", help="Take the question as it is: no tags, operators or identifiers.")
    ] = False,
    format: FormatOption = None,
    literal: LiteralOption = False,
    weak_snippets: WeakSnippetsOption = False,
    json: JsonOption = False,
) -> None:
    """Answer one question: documents and snippets, best first, with their scores.

    PubMed's field tags, phrases and AND, OR, NOT are understood; a PMID, DOI or PMCID shows that article.
    """
    if format and json:
        raise BioqaError("--format and --json exclude each other: --format csl is JSON, too")
    if not question.strip() or has_lone_surrogate(question):
        raise BioqaError(
            "the question is empty" if not question.strip() else "the question is not valid Unicode"
        )
    settings = load_settings(index=index, ranker=ranker, candidates=candidates, device=device)
    options = SearchOptions(
        max_documents,
        max_snippets,
        settings.candidates,
        Filters(
            published_after=after.date() if after else None,
            published_before=before.date() if before else None,
            undated=undated,
            types=tuple(types or ()),
            languages=tuple(languages or ()),
            headings=tuple(headings or ()),
            journals=tuple(journals or ()),
            authors=tuple(authors or ()),
            has_abstract=has_abstract,
            free_full_text=free_full_text,
            exclude_retracted=exclude_retracted,
        ),
        order,
        offset,
        facets,
        interpret(question, "never" if plain else "auto"),
        literal,
        weak_snippets,
    )
    answer = open_answerer(settings).answer(Question("", question), options)
    if json:
        print_json(search_answer(answer).model_dump(mode="json"))
    elif format:
        print_file(FORMATS[format].write([ranked.document for ranked in answer.documents]))
    else:
        print_answer(answer)


def print_answer(answer: Answer) -> None:
    out.print(Text(answer.question.body.strip(), style="bold"))
    if found := answer.interpretation:
        words = f"“{found.words}”" if found.words else "documents by date"
        restriction = f", restricted to: {found.restriction}" if found.restriction else ""
        out.print(Text(f"Searched for {words}{restriction}"), soft_wrap=True)
    if answer.reading:
        print_reading(answer.reading)
    if not answer.documents:
        print_nothing(answer)
    if answer.documents and answer.confidence and answer.confidence.caution:
        out.print(Text(answer.confidence.caution, style="yellow"), soft_wrap=True)
    first = answer.options.offset + 1
    for rank, scored in enumerate(answer.documents, start=first):
        if rank == first:
            out.print(Text("\nDocuments", style="underline"))
        document = scored.document
        published = f" ({document.published})" if document.published else ""
        title = f"{_mark(document)}{document.title}{published}"
        out.print(f"{rank:3}. {scored.score:7.3f}  {document.pmid}  {title}", soft_wrap=True)
        for notice in shown_notices(document.metadata):
            out.print(f"{'':16}{notice_text(notice)}", soft_wrap=True)
    for rank, ranked in enumerate(answer.sentences, start=1):
        if rank == 1:
            out.print(Text("\nSnippets", style="underline"))
        sentence = ranked.sentence
        place = f"{ranked.document.pmid} {sentence.section} {sentence.begin}-{sentence.end}"
        out.print(
            f"{rank:3}. {ranked.score:7.3f}  {place}  {_mark(ranked.document)}{ranked.text}", soft_wrap=True
        )
    if answer.facets:
        print_facets(answer.facets)
    timings = answer.timings_ms
    out.print(
        f"\nIndex {answer.index}, ranker {answer.ranker} ({answer.ranker_hash[:12]}); milliseconds: "
        f"retrieve {timings.retrieve:.1f}, re-rank {timings.rerank:.1f}, select {timings.select:.1f}",
        soft_wrap=True,
    )
    if answer.condensed:
        out.print(Text(f"The question is long. It was answered by these words: {answer.condensed}"))
    if answer.documents and not answer.calibrated:
        out.print("Scores are comparable within this answer only: the ranker has no scale.")
    if answer.truncated_sentences:
        out.print(f"{answer.truncated_sentences} sentences were truncated.")


def _mark(document: Document) -> str:
    """Say what is withdrawn, doubted or a notice, before its text."""
    said = word(document.metadata)
    return f"[{said}] " if said else ""


def print_reading(reading: Reading) -> None:
    """Say what was searched for beside the words of the question, or instead of them."""
    if reading.corrections:
        taken = ", ".join(each.correction for each in reading.corrections)
        asked = ", ".join(each.word for each in reading.corrections)
        out.print(Text(f"Results for {taken}; search for {asked} instead with --literal"), soft_wrap=True)
    if reading.expansions:
        also = "; ".join(f"{each.words}: {', '.join(each.also)}" for each in reading.expansions)
        out.print(Text(f"Searched for, too: {also}"), soft_wrap=True)


def print_nothing(answer: Answer) -> None:
    """Say why there are no documents."""
    if answer.emptied:
        out.print("The filters leave no document:")
        for each in answer.emptied:
            out.print(Text(f"  {each.documents} without {each.filter}: {each.condition}"), soft_wrap=True)
    elif answer.interpretation and answer.interpretation.identifiers:
        out.print("The index has no such document.")
    elif answer.options.offset:
        out.print("There are no further documents.")
    else:
        out.print("No document contains a word of this question.")


def print_facets(facets: Facets) -> None:
    """Print counts by year, and the most frequent types, languages, journals and headings."""
    out.print(Text(f"\nThe {facets.documents} best documents", style="underline"))
    years = [(str(year), number) for year, number in facets.years]
    undated = [("without a date", facets.undated)] if facets.undated else []
    for name, counts in (
        ("Years", [*years, *undated]),
        ("Types", facets.types),
        ("Languages", facets.languages),
        ("Journals", facets.journals),
        ("Headings", facets.headings),
    ):
        if counts:
            shown = ", ".join(f"{value} {number}" for value, number in counts)
            out.print(Text(f"{name}: {shown}"), soft_wrap=True)


def batch(
    testset: Annotated[Path, typer.Argument(help="A BioASQ test set of phase A.", show_default=False)],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The submission to write.", show_default=False)
    ],
    index: IndexOption = None,
    ranker: RankerOption = None,
    candidates: CandidatesOption = None,
    device: DeviceOption = None,
    literal: LiteralOption = False,
    weak_snippets: WeakSnippetsOption = False,
) -> None:
    """Answer a test set and write a valid submission, completely or not at all.

    Snippets that are much weaker than a question's best are left out: that makes the mean snippet F1 higher.
    After an interruption, run the same command to resume: answers so far are kept in OUTPUT.journal.
    """
    questions = read_testset(testset)
    settings = load_settings(index=index, ranker=ranker, candidates=candidates, device=device)
    answerer = open_answerer(settings)
    options = SearchOptions(
        candidates=settings.candidates,
        literal=literal,
        weak_snippets=weak_snippets or settings.weak_snippets,
    )
    try:
        with progress("answering", len(questions)) as report:
            responses = answer_batch(
                answerer,
                questions,
                output,
                options,
                lambda done, question: report(done, f"{done}/{len(questions)} questions"),
            )
    except KeyboardInterrupt:
        say("interrupted; run the same command to resume")
        raise
    empty = sum(not response.documents for response in responses)
    say(f"{output}: questions {len(responses)}, without any document {empty}")
