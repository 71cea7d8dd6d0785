"""Commands that answer: ask, batch."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from bioqa.app.answers.answering import Answer, SearchOptions
from bioqa.app.answers.opening import open_answerer
from bioqa.app.cli.batch import answer_batch
from bioqa.app.cli.console import out, print_file, print_json, progress, say
from bioqa.app.cli.options import (
    CandidatesOption,
    DeviceOption,
    FormatOption,
    IndexOption,
    JsonOption,
    PublishedBeforeOption,
    RankerOption,
)
from bioqa.app.exports.formats import FORMATS
from bioqa.app.exports.standing import notice_text, shown_notices, word
from bioqa.app.http.schemas import search_answer
from bioqa.app.settings import load_settings
from bioqa.bioasq.domain import Document, Question
from bioqa.bioasq.errors import BioqaError
from bioqa.bioasq.files import read_testset
from bioqa.bioasq.jsonfile import has_lone_surrogate


def ask(
    question: Annotated[str, typer.Argument(help="The question.", show_default=False)],
    index: IndexOption = None,
    ranker: RankerOption = None,
    max_documents: Annotated[int, typer.Option(min=1, help="Maximum number of documents.")] = 10,
    max_snippets: Annotated[int, typer.Option(min=0, help="Maximum number of snippets.")] = 10,
    candidates: CandidatesOption = None,
    device: DeviceOption = None,
    published_before: PublishedBeforeOption = None,
    format: FormatOption = None,
    json: JsonOption = False,
) -> None:
    """Answer one question: documents and snippets, best first, with their scores."""
    if format and json:
        raise BioqaError("--format and --json exclude each other: --format csl is JSON, too")
    if not question.strip() or has_lone_surrogate(question):
        raise BioqaError(
            "the question is empty" if not question.strip() else "the question is not valid Unicode"
        )
    settings = load_settings(index=index, ranker=ranker, candidates=candidates, device=device)
    day = published_before.date() if published_before else None
    answerer = open_answerer(settings)
    answer = answerer.answer(
        Question("", question), SearchOptions(max_documents, max_snippets, settings.candidates, day)
    )
    if json:
        print_json(search_answer(answer).model_dump(mode="json"))
    elif format:
        print_file(FORMATS[format].write([ranked.document for ranked in answer.documents]))
    else:
        print_answer(answer)


def print_answer(answer: Answer) -> None:
    out.print(Text(answer.question.body.strip(), style="bold"))
    if not answer.documents:
        out.print("No document contains a word of this question.")
    if answer.confidence and answer.confidence.caution:
        out.print(Text(answer.confidence.caution, style="yellow"), soft_wrap=True)
    for rank, scored in enumerate(answer.documents, start=1):
        if rank == 1:
            out.print(Text("\nDocuments", style="underline"))
        document = scored.document
        published = f" ({document.published})" if document.published else ""
        title = f"{_mark(document)}{document.title}{published}"
        out.print(f"{rank:3}. {scored.score:8.4f}  {document.pmid}  {title}", soft_wrap=True)
        for notice in shown_notices(document.metadata):
            out.print(f"{'':16}{notice_text(notice)}", soft_wrap=True)
    for rank, ranked in enumerate(answer.sentences, start=1):
        if rank == 1:
            out.print(Text("\nSnippets", style="underline"))
        sentence = ranked.sentence
        place = f"{ranked.document.pmid} {sentence.section} {sentence.begin}-{sentence.end}"
        out.print(
            f"{rank:3}. {ranked.score:8.4f}  {place}  {_mark(ranked.document)}{ranked.text}", soft_wrap=True
        )
    timings = answer.timings_ms
    out.print(
        f"\nIndex {answer.index}, ranker {answer.ranker} ({answer.ranker_hash[:12]}); milliseconds: "
        f"retrieve {timings.retrieve:.1f}, re-rank {timings.rerank:.1f}, select {timings.select:.1f}",
        soft_wrap=True,
    )
    if answer.condensed:
        out.print(Text(f"The question is long. It was answered by these words: {answer.condensed}"))
    if answer.truncated_sentences:
        out.print(f"{answer.truncated_sentences} sentences were truncated.")


def _mark(document: Document) -> str:
    """Say what is withdrawn, doubted or a notice, before its text."""
    said = word(document.metadata)
    return f"[{said}] " if said else ""


def batch(
    testset: Annotated[Path, typer.Argument(help="A BioASQ test set of phase A.", show_default=False)],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The submission to write.", show_default=False)
    ],
    index: IndexOption = None,
    ranker: RankerOption = None,
    candidates: CandidatesOption = None,
    device: DeviceOption = None,
) -> None:
    """Answer a test set and write a valid submission, completely or not at all.

    After an interruption, run the same command to resume: answers so far are kept in OUTPUT.journal.
    """
    questions = read_testset(testset)
    settings = load_settings(index=index, ranker=ranker, candidates=candidates, device=device)
    answerer = open_answerer(settings)
    try:
        with progress("answering", len(questions)) as report:
            responses = answer_batch(
                answerer,
                questions,
                output,
                settings.candidates,
                lambda done, question: report(done, f"{done}/{len(questions)} questions"),
            )
    except KeyboardInterrupt:
        say("interrupted; run the same command to resume")
        raise
    empty = sum(not response.documents for response in responses)
    say(f"{output}: questions {len(responses)}, without any document {empty}")
