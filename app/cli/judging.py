"""Commands for judging: pool answers into a sheet, serve it to judges, agreement, files in and out."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.opening import load_ranker, open_index
from bioqa.app.answers.question import MAX_SIZE, Options
from bioqa.app.cli.batch import answer_missing, job_of
from bioqa.app.cli.console import echo, print_json, progress, say
from bioqa.app.cli.journal import AnswerJournal
from bioqa.app.cli.options import DeviceOption, IndexOption, JsonOption, SeedOption, no_stream
from bioqa.app.judging.agreement import Agreement, KindAgreement, agreement_of
from bioqa.app.judging.exchange import (
    Form,
    contradictions,
    golden_file,
    judged_sentences,
    read_judged,
    relevance_judgements,
)
from bioqa.app.judging.judgments import JudgmentLog, Judgments, check_name, log_path, read_judgments
from bioqa.app.judging.pooling import Shown, make_sheet, read_questions, read_shown
from bioqa.app.judging.sheet import ANSWERS, BEARS_ON_IT, Item, Sheet, read_sheet, write_sheet
from bioqa.app.reports.tables import markdown
from bioqa.app.settings import Settings, load_settings
from bioqa.bioasq.domain import DEPTH, Question
from bioqa.bioasq.inputs import system_names
from bioqa.indexer.search.base import SearchIndex
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import is_standard_output, read_bytes, write_bytes, write_json

judge = typer.Typer(no_args_is_help=True, help="Judge pooled answers: documents and sentences, by people.")

SheetArgument = Annotated[
    Path,
    typer.Argument(help="A sheet of `bioqa judge pool`.", show_default=False, callback=no_stream),
]
JudgeOption = Annotated[
    str | None,
    typer.Option("--judge", metavar="NAME", help="This judge's judgments alone.", show_default=False),
]


@judge.command()
def pool(
    questions: Annotated[
        Path, typer.Argument(help="A BioASQ file, or a list of objects with id and body.", show_default=False)
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="SHEET",
            help="The sheet to write.",
            show_default=False,
            callback=no_stream,
        ),
    ],
    rankers: Annotated[
        list[str] | None,
        typer.Option(
            "--ranker",
            metavar="NAME",
            help="A ranker to pool: bundled, or a checkpoint's folder; repeatable.",
        ),
    ] = None,
    runs: Annotated[
        list[Path] | None,
        typer.Option("--run", metavar="FILE", help="A submission or TREC run to pool, too; repeatable."),
    ] = None,
    depth: Annotated[
        int,
        typer.Option(
            "--depth",
            metavar="N",
            min=1,
            max=MAX_SIZE,
            help="First documents, and first sentences, of each system.",
        ),
    ] = DEPTH,
    index: IndexOption = None,
    seed: SeedOption = 1,
    device: DeviceOption = None,
) -> None:
    """Pool what several systems show into a sheet to be judged, without saying which showed what.

    Documents are in an order of chance. After an interruption, run the same command to resume.
    """
    _check_output(output)
    asked = read_questions(questions)
    shown = _read_runs(runs or [], rankers or [])
    settings = load_settings(index=index, device=device)
    opened = open_index(settings)
    with ExitStack() as stack:
        journals = []
        for name in rankers or []:
            of_ranker = load_settings(index=index, device=device, ranker=name)
            answers, journal = _ask(opened, of_ranker, name, asked, output, depth, stack)
            shown.append(answers)
            journals.append(journal)
        pooled = make_sheet(asked, shown, opened, depth, seed)
        _check_output(output)
        write_sheet(output, pooled.sheet)
        for journal in journals:
            journal.remove()
    if pooled.missing:
        say(f"documents that the index does not have, which are left out: {len(pooled.missing)}")
    if len(shown) == 1:
        say("one system was pooled: whatever another one shows will be without judgment")
    documents = sum(len(question.documents) for question in pooled.sheet.questions)
    sentences = len(pooled.sheet.items) - documents
    say(f"{output}: questions {len(asked)}, documents {documents}, sentences {sentences} to judge")


def _check_output(output: Path) -> None:
    """Raises BioqaError where a sheet has judgments already, which a new one would orphan."""
    if is_standard_output(output) or (output.exists() and not output.is_file()):
        raise BioqaError(
            f"{output}: cannot be written: not a regular file, beside which judgments can be kept"
        )
    if log_path(output).exists():
        raise BioqaError(f"{output}: has judgments already, in {log_path(output)}; choose another name")


def _read_runs(runs: Sequence[Path], rankers: Sequence[str]) -> list[Shown]:
    if not runs and not rankers:
        raise BioqaError("nothing to pool: name rankers by --ranker, files by --run, or both")
    names = [*(Path(ranker).name for ranker in rankers), *system_names(runs)]
    if twice := [name for name in names if names.count(name) > 1]:
        raise BioqaError(f"two systems are called {twice[0]}")
    return [read_shown(path, name) for path, name in zip(runs, names[len(rankers) :], strict=True)]


def _ask(
    index: SearchIndex,
    settings: Settings,
    ranker: str,
    questions: Sequence[Question],
    output: Path,
    depth: int,
    stack: ExitStack,
) -> tuple[Shown, AnswerJournal]:
    """A ranker's answers, from a journal beside the sheet as far as it has them."""
    name = Path(ranker).name
    answerer = Answerer(index, load_ranker(settings))
    options = Options(max_documents=depth, max_snippets=depth, weak_snippets=True, syntax="never")
    options = options.ready(max(settings.candidates, depth))
    beside = output.with_name(f"{output.name}.{name}")
    journal = AnswerJournal.open(beside, job_of(answerer, questions, options))
    stack.callback(journal.close)
    with progress(f"asking {name}", len(questions)) as report:
        responses = answer_missing(
            answerer,
            questions,
            journal,
            options,
            lambda done, question: report(done, f"{done}/{len(questions)} questions"),
        )
    return Shown(name, {response.question.id: response for response in responses}), journal


@judge.command()
def serve(
    sheet: SheetArgument,
    host: Annotated[str | None, typer.Option(help="Address to listen on. [BIOQA_HOST]")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on. [BIOQA_PORT]")] = None,
) -> None:
    """Serve the pages on which people judge a sheet. With API keys, a key is a judge and sees its own alone.

    Each judgment is on the disk, in SHEET.judgments, before the page shows it as kept.
    """
    from bioqa.app.cli.serving import serve_judging

    settings = load_settings(host=host, port=port).check()
    with JudgmentLog(sheet) as log:
        serve_judging(log, settings)


@judge.command()
def agreement(sheet: SheetArgument, json: JsonOption = False) -> None:
    """Print each judge's progress, and how far judges agree: Cohen's kappa, and Fleiss' for three or more."""
    read = read_sheet(sheet)
    agreed = agreement_of(read, read_judgments(sheet, read))
    if json:
        print_json(agreed.as_json())
        return
    if not agreed.judges:
        echo("Nobody has judged anything yet.")
        return
    echo("\n\n".join([_progress_table(agreed), *(_kind_table(kind) for kind in agreed.kinds)]))


def _progress_table(agreed: Agreement) -> str:
    lines = [["judge", f"of {agreed.documents} documents", f"of {agreed.sentences} sentences"]]
    lines += [[judge.judge, str(judge.documents), str(judge.sentences)] for judge in agreed.judges]
    return markdown(lines)


def _kind_table(kind: KindAgreement) -> str:
    if not kind.pairs:
        return f"{kind.kind}: one judge alone agrees with nobody"
    lines = [[kind.kind, "judged by both", "same grade", "Cohen's kappa"]]
    lines += [
        [f"{pair.first}, {pair.second}", str(pair.items), _figure(pair.observed), _figure(pair.kappa)]
        for pair in kind.pairs
    ]
    rest = [f"mean kappa of the pairs: {_figure(kind.mean_kappa)}"] if len(kind.pairs) > 1 else []
    if kind.fleiss is not None:
        rest.append(f"Fleiss' kappa of the {kind.judged_by_all} judged by all: {_figure(kind.fleiss)}")
    return "\n".join([markdown(lines), *rest])


def _figure(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.3f}"


@judge.command("export")
def export_judgments(
    sheet: SheetArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.", show_default=False)],
    form: Annotated[
        Form,
        typer.Option(
            "--form",
            help="golden: BioASQ JSON; qrels: TREC judgements; sentences: JSON of graded sentences.",
        ),
    ] = "golden",
    name: JudgeOption = None,
    least: Annotated[
        int,
        typer.Option(
            "--least",
            min=BEARS_ON_IT,
            max=ANSWERS,
            help="golden: least grade of a snippet; 2 answers, 1 bears on the question.",
        ),
    ] = ANSWERS,
) -> None:
    """Write what was judged for other programs.

    Of several judges' grades of one item the median counts, the lower one of two in the middle.
    """
    read = read_sheet(sheet)
    grades = _grades(read_judgments(sheet, read), name)
    if form == "golden":
        write_json(output, golden_file(read, grades, least))
    elif form == "sentences":
        write_json(output, judged_sentences(read, grades))
    else:
        write_bytes(output, "".join(f"{line}\n" for line in relevance_judgements(read, grades)).encode())
    _say_what_lacks(output, read, grades)


def _grades(judgments: Judgments, name: str | None) -> dict[Item, int]:
    if name is not None and not judgments.grades_by(name):
        judges = ", ".join(judge for judge, grades in judgments.by_judge.items() if grades) or "nobody"
        raise BioqaError(f"no judge is called {name}; judges so far: {judges}")
    grades = judgments.consensus(None if name is None else [name])
    if not grades:
        raise BioqaError("nobody has judged anything yet")
    return grades


def _say_what_lacks(output: Path, sheet: Sheet, grades: Mapping[Item, int]) -> None:
    say(f"{output}: judged {len(grades)} of the sheet's {len(sheet.items)} documents and sentences")
    without = sum(not any(item in grades for item in question.items()) for question in sheet.questions)
    if without:
        say(f"questions without any judgment: {without}")
    if items := contradictions(sheet, grades):
        first = items[0]
        say(
            f"sentences that answer, in documents that are judged not relevant: {len(items)}, such as "
            f"{first.key} of question {first.question}"
        )


@judge.command("import")
def import_judgments(
    sheet: SheetArgument,
    file: Annotated[
        Path,
        typer.Argument(
            help="A golden file, TREC judgements, or a list of judged sentences.", show_default=False
        ),
    ],
    name: Annotated[
        str, typer.Option("--judge", metavar="NAME", help="Whose judgments they are.", show_default=False)
    ],
) -> None:
    """Add a file's judgments of what is on the sheet, as those of one judge."""
    by = check_name(name)
    content = read_bytes(file)
    with JudgmentLog(sheet) as log:
        read = read_judged(content, str(file), log.sheet, by)
        log.add(read.judgments)
    say(f"{log_path(sheet)}: judgments of {by} added: {len(read.judgments)}")
    if read.elsewhere:
        say(f"{file}: judgments of what is not on the sheet, left out: {read.elsewhere}")
