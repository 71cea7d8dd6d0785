"""The command that explains where an article stood in an answer."""

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.text import Text

from bioqa.app.answers.explaining import SHOWN_FEATURES, Explanation
from bioqa.app.answers.question import OF_EXPLANATIONS, ExplainOptions, Options
from bioqa.app.cli.answering import prepare
from bioqa.app.cli.console import out, print_json
from bioqa.app.cli.options import DeviceOption, IndexOption, JsonOption, RankerOption, with_options
from bioqa.app.settings import MAX_CANDIDATES
from bioqa.bioasq.domain import Question
from bioqa.system.errors import BioqaError


@with_options(OF_EXPLANATIONS, ExplainOptions)
def explain(
    question: Annotated[str, typer.Argument(help="The question.", show_default=False)],
    pmid: Annotated[str, typer.Argument(help="An article: its PMID, or its address.", show_default=False)],
    options: Options,
    index: IndexOption = None,
    ranker: RankerOption = None,
    device: DeviceOption = None,
    json: JsonOption = False,
) -> None:
    """Explain why an article is, or is not, in the answer to a question.

    Shows where it and its best sentences stood at each stage, what carried them, and what is missing.
    """
    answerer, options = prepare(index, ranker, device, question, options)
    answer = answerer.answer(Question("", question), options)
    explanation = answer.explanation
    if explanation is None:
        raise BioqaError("the question has no words to rank by: its documents are only listed")
    if json:
        print_json(explanation.as_dict())
        return
    for line in lines(explanation):
        out.print(Text(line), soft_wrap=True)


def lines(explanation: Explanation) -> Iterator[str]:
    """The explanation as text."""
    retrieval = explanation.retrieval
    yield f"{retrieval.pmid}: {'not in the index' if retrieval.title is None else retrieval.title}"
    if retrieval.title is not None:
        yield from _of_retrieval(explanation)
    yield from _of_ranker(explanation)
    yield from _of_selection(explanation)
    if explanation.needed:
        yield "\nWhat would have had to be different"
        yield from (f"  {need}" for need in explanation.needed)


def _of_retrieval(explanation: Explanation) -> Iterator[str]:
    retrieval = explanation.retrieval
    where = f"number {retrieval.rank}" if retrieval.rank else f"not among the best {MAX_CANDIDATES:,}"
    kind = "a candidate" if retrieval.is_candidate else "no candidate"
    yield f"\n1. BM25: {where}, score {retrieval.score:.3f}; {kind} ({retrieval.candidates} are ranked)"
    yield from (f"  {term.score:+9.3f}  {term.text}" for term in retrieval.terms)
    found_by = retrieval.found_by
    if found_by is not None:
        rank = f"number {found_by.vectors}" if found_by.vectors else f"not among the best {MAX_CANDIDATES:,}"
        cosine = "it has no vector" if found_by.cosine is None else f"cosine {found_by.cosine:.3f}"
        yield f"   meaning: {rank}; {cosine}"


def _of_ranker(explanation: Explanation) -> Iterator[str]:
    ranker = explanation.ranking
    if ranker is None:
        return
    would = "" if explanation.retrieval.is_candidate else ", had it been a candidate"
    where = f"number {ranker.rank} of {ranker.candidates}"
    yield f"\n2. {ranker.ranker}: {where}, score {ranker.score:.3f}{would}"
    while ranker is not None:
        yield from (f"  {part.effect:+9.3f}  {part.name}" for part in ranker.parts)
        if ranker.features:
            sums = "they add up" if ranker.additive else "they depend on each other, and do not add up"
            yield f"  Effects on the score, each feature set to its mean ({sums}):"
        for feature in ranker.features[:SHOWN_FEATURES]:
            yield (
                f"  {feature.effect:+9.3f}  {feature.unit} {feature.description} "
                f"({feature.value:.3f}, mean {feature.mean:.3f})"
            )
        if ranker.words:
            sums = "they add up to it" if ranker.words_additive else "they do not add up"
            yield f"  Effects on the score, each word left out of the question ({sums}):"
        yield from (
            f"  {word.effect:+9.3f}  {word.word}" + (f" (without it number {word.rank})" if word.rank else "")
            for word in ranker.words
        )
        ranker = ranker.first
        if ranker is not None:
            yield f"  First ranker, {ranker.ranker}: number {ranker.rank}, score {ranker.score:.3f}"


def _of_selection(explanation: Explanation) -> Iterator[str]:
    selection = explanation.selection
    if selection is None:
        return
    selected = "selected" if selection.selected else "not selected"
    yield f"\n3. Selection: {selected}; its share is {selection.share:.4f}"
    for sentence in selection.sentences:
        where = f"number {sentence.rank}" if sentence.rank else "not compared"
        yield (
            f"  {where}{', selected' if sentence.selected else ''}: probability {sentence.probability:.3f} × "
            f"agreement {sentence.agreement:.3f} × aptness {sentence.aptness:.3f} × share = "
            f"{sentence.score:.5f}"
        )
        span = sentence.sentence
        yield f"    {span.section} {span.begin}–{span.end}: {sentence.text}"
