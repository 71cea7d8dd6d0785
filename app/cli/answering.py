"""Commands that answer: ask, batch."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from bioqa.app.answers.answer import Answer
from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.facets import Counted, Facets
from bioqa.app.answers.opening import open_answerer
from bioqa.app.answers.question import OF_TEST_SETS, Options
from bioqa.app.answers.remarks import remarks
from bioqa.app.cli.batch import answer_batch
from bioqa.app.cli.console import out, print_file, print_json, progress, say
from bioqa.app.cli.options import (
    DeviceOption,
    FormatOption,
    IndexOption,
    JsonOption,
    RankerOption,
    check_question,
    with_options,
)
from bioqa.app.exports.formats import FORMATS
from bioqa.app.exports.standing import notice_text, shown_notices, word
from bioqa.app.http.schemas import search_answer
from bioqa.app.settings import load_settings
from bioqa.bioasq.domain import Document, Question
from bioqa.bioasq.files import read_testset
from bioqa.system.errors import BioqaError

AFTERWARDS = ("condensed", "truncated", "uncalibrated", "further", "found")
"""Kinds of remarks that are for those who read on; the others stand above the documents."""

STYLES = {"confidence": "yellow", "degraded": "yellow"}


@with_options([*Options.model_fields])
def ask(
    question: Annotated[str, typer.Argument(help="The question.", show_default=False)],
    options: Options,
    index: IndexOption = None,
    ranker: RankerOption = None,
    device: DeviceOption = None,
    format: FormatOption = None,
    json: JsonOption = False,
) -> None:
    """Answer one question: documents and snippets, best first, with their scores.

    PubMed's field tags, phrases and AND, OR, NOT are understood; a PMID, DOI or PMCID shows that article.
    """
    if format and json:
        raise BioqaError("--format and --json exclude each other: --format csl is JSON, too")
    answerer, options = prepare(index, ranker, device, question, options)
    answer = answerer.answer(Question("", question), options)
    if json:
        print_json(search_answer(answer).model_dump(mode="json"))
    elif format:
        print_file(FORMATS[format].write([document.document for document in answer.documents]))
    else:
        print_answer(answer)


def prepare(
    index: str | None, ranker: str | None, device: str | None, question: str, options: Options
) -> tuple[Answerer, Options]:
    """What answers a question, and its options with the settings' defaults. Raises BioqaError for what cannot
    be asked, before anything is opened."""
    check_question(question)
    settings = load_settings(index=index, ranker=ranker, device=device)
    options = options.ready(settings.candidates)
    options.check(question)
    return open_answerer(settings), options


def print_answer(answer: Answer) -> None:
    out.print(Text(answer.question.body.strip(), style="bold"))
    said = remarks(answer)
    for remark in said:
        if remark.kind not in AFTERWARDS:
            out.print(Text(remark.text, style=STYLES.get(remark.kind, "")), soft_wrap=True)
    for document in answer.documents:
        if document.rank == answer.options.offset + 1:
            out.print(Text("\nDocuments", style="underline"))
        published = f" ({document.published})" if document.published else ""
        title = f"{_mark(document.document)}{document.title}{published}"
        out.print(f"{document.rank:3}. {document.score:7.3f}  {document.pmid}  {title}", soft_wrap=True)
        for notice in shown_notices(document.document.metadata):
            out.print(f"{'':16}{notice_text(notice)}", soft_wrap=True)
    for snippet in answer.snippets:
        if snippet.rank == 1:
            out.print(Text("\nSnippets", style="underline"))
        where = f"{snippet.pmid} {snippet.section} {snippet.begin}-{snippet.end}"
        text = f"{_mark(snippet.document)}{snippet.text}"
        out.print(f"{snippet.rank:3}. {snippet.score:7.3f}  {where}  {text}", soft_wrap=True)
    if answer.facets:
        print_facets(answer.facets)
    timings = answer.timings_ms
    out.print(
        f"\nIndex {answer.index}, ranker {answer.ranker} ({answer.ranker_hash[:12]}); milliseconds: "
        f"retrieve {timings.retrieve:.1f}, re-rank {timings.rerank:.1f}, select {timings.select:.1f}",
        soft_wrap=True,
    )
    for remark in said:
        if remark.kind in AFTERWARDS:
            out.print(Text(remark.text), soft_wrap=True)


def _mark(document: Document) -> str:
    """Say what is withdrawn, doubted or a notice, before its text."""
    said = word(document.metadata)
    return f"[{said}] " if said else ""


def print_facets(facets: Facets) -> None:
    """Print counts by year, and the most frequent types, languages, journals and headings."""
    out.print(Text(f"\nThe {facets.documents} best documents", style="underline"))
    years = [Counted(str(counted.year), counted.documents) for counted in facets.years]
    undated = [Counted("without a date", facets.undated)] if facets.undated else []
    for name, counts in (
        ("Years", [*years, *undated]),
        ("Types", facets.types),
        ("Languages", facets.languages),
        ("Journals", facets.journals),
        ("Headings", facets.headings),
    ):
        if counts:
            shown = ", ".join(f"{counted.value} {counted.documents}" for counted in counts)
            out.print(Text(f"{name}: {shown}"), soft_wrap=True)


@with_options(OF_TEST_SETS, syntax="never")
def batch(
    testset: Annotated[Path, typer.Argument(help="A BioASQ test set of phase A.", show_default=False)],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The submission to write.", show_default=False)
    ],
    options: Options,
    index: IndexOption = None,
    ranker: RankerOption = None,
    device: DeviceOption = None,
) -> None:
    """Answer a test set and write a valid submission, completely or not at all.

    Snippets that are much weaker than a question's best are left out: that makes the mean snippet F1 higher.
    After an interruption, run the same command to resume: answers so far are kept in OUTPUT.journal.
    """
    questions = read_testset(testset)
    settings = load_settings(index=index, ranker=ranker, device=device)
    weak_snippets = options.weak_snippets or settings.weak_snippets
    options = options.ready(settings.candidates).with_changes(weak_snippets=weak_snippets)
    options.as_filters()
    answerer = open_answerer(settings)
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
