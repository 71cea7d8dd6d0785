"""The pages on which people judge a sheet: a server of their own, without index and rankers.

With API keys a key is a judge, who sees nobody else's judgments. Without them judges say who they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from bioqa.app.http import errors
from bioqa.app.http.errors import FieldError, problem
from bioqa.app.http.limits import TOGETHER, BodiesInFlight, BodyLimit
from bioqa.app.http.methods import HeadAsGet
from bioqa.app.http.prefix import UnderPrefix, parse_prefix
from bioqa.app.judging.agreement import agreement_of
from bioqa.app.judging.judgments import (
    Judgment,
    JudgmentError,
    JudgmentLog,
    LogError,
    NameRefused,
    SheetChanged,
    check_name,
)
from bioqa.app.judging.sheet import Item, SheetDocument, SheetQuestion
from bioqa.app.security import guards
from bioqa.app.security.keys import ApiKey
from bioqa.app.settings import Settings
from bioqa.app.web import problems
from bioqa.app.web.pages import StaticFolder, page
from bioqa.bioasq.domain import Section
from bioqa.system.jsonfile import show

router = APIRouter(include_in_schema=False)

KEYS = {"relevant": "r", "not relevant": "n", "answers": "a", "bears on it": "b", "no": "n"}
"""The letter of each grade on the keyboard, while an item has the focus."""


PRIVATE = {"Cache-Control": "no-store"}
"""Grades change with every key, and are nobody else's."""


@dataclass
class Judging:
    """What pages and guards ask a service for."""

    settings: Settings
    rankers: tuple[str, ...] = ()
    watched: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Judge:
    name: str
    is_admin: bool
    """Whether judgments of others may be seen: everybody's where there are no keys."""
    has_key: bool

    def address(self, path: str) -> str:
        """The path, with the name where nothing else says it."""
        return path if self.has_key else f"{path}?{urlencode({'judge': self.name})}"

    def menu(self) -> list[tuple[str, str]]:
        shown = [(self.address("/"), "Questions")]
        return [*shown, (self.address("/agreement"), "Agreement")] if self.is_admin else shown


@dataclass(frozen=True, slots=True)
class ShownItem:
    """An item as a group of buttons, numbered on its page from 1."""

    number: int
    item: Item
    grade: int | None

    @property
    def buttons(self) -> Iterator[tuple[int, str, str]]:
        """Grade, name, letter."""
        for grade, name in self.item.grades.items():
            yield grade, name, KEYS[name]


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence to judge, or text around such."""

    text: str
    shown: ShownItem | None = None


@dataclass(frozen=True, slots=True)
class ShownDocument:
    document: SheetDocument
    shown: ShownItem
    title: Sequence[Piece]
    abstract: Sequence[Piece]


def create_judging_app(log: JudgmentLog, settings: Settings) -> FastAPI:
    """The pages of a sheet that is open. Raises BioqaError for a file of keys that cannot be used."""
    app = FastAPI(title="bioqa", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.service = Judging(settings)
    app.state.log = log
    app.state.menu = (("/", "Questions"),)
    most = settings.max_body_bytes
    bodies = BodiesInFlight(TOGETHER * most, TOGETHER // 2 * most)
    app.add_middleware(BodyLimit, max_bytes=most, others={}, bodies=bodies)
    app.include_router(router)
    app.mount("/static", StaticFolder(), name="static")
    errors.install(app)
    app.add_exception_handler(SheetChanged, _respond_changed)
    app.add_exception_handler(LogError, _respond_unwritable)
    guards.guard(app, settings)
    problems.install(app)
    app.add_middleware(HeadAsGet)
    guards.harden(app, settings)
    if prefix := parse_prefix(settings.root_path or ""):
        app.add_middleware(UnderPrefix, prefix=prefix)
    return app


async def _respond_changed(request: Request, error: Exception) -> Response:
    return problem(409, str(error))


async def _respond_unwritable(request: Request, error: Exception) -> Response:
    errors.log.error("%s", error)
    return problem(503, "the judgment could not be written to the disk, and is not kept")


def _judge(request: Request) -> Judge | None:
    """Who judges; None if nobody has said. Raises FieldError for a name that cannot be taken."""
    key: ApiKey | None = getattr(request.state, "key", None)
    if key is not None:
        return Judge(key.name, key.is_admin, has_key=True)
    name = request.query_params.get("judge")
    return None if name is None else _named(name)


def _named(name: str) -> Judge:
    try:
        return Judge(check_name(name), is_admin=True, has_key=False)
    except NameRefused as error:
        raise FieldError("judge", error.reason) from error


def _log(request: Request) -> JudgmentLog:
    log: JudgmentLog = request.app.state.log
    return log


CurrentJudge = Annotated[Judge | None, Depends(_judge)]
CurrentLog = Annotated[JudgmentLog, Depends(_log)]


def _question(number: int, log: CurrentLog) -> SheetQuestion:
    if not 1 <= number <= len(log.sheet.questions):
        raise HTTPException(404, f"the sheet has questions 1 to {len(log.sheet.questions)}")
    return log.sheet.questions[number - 1]


NumberedQuestion = Annotated[SheetQuestion, Depends(_question)]


@router.get("/", response_class=HTMLResponse)
def list_questions(request: Request, judge: CurrentJudge, log: CurrentLog) -> HTMLResponse:
    if judge is None:
        judges = [name for name, grades in log.copy().by_judge.items() if grades]
        begun = [(name, _named(name).address("/")) for name in judges]
        return page(request, "judge_name.html", headers=PRIVATE, judges=begun)
    grades = log.grades_by(judge.name)
    rows = [
        (question, judge.address(f"/question/{number}"), *_progress(question, grades))
        for number, question in enumerate(log.sheet.questions, start=1)
    ]
    unfinished = (address for _, address, judged, items in rows if judged < items)
    return _page(
        request,
        judge,
        "/",
        "judge_questions.html",
        rows=rows,
        judged=len(grades),
        items=len(log.sheet.items),
        following=next(unfinished, None),
    )


@router.get("/question/{number}", response_class=HTMLResponse)
def show_question(
    request: Request, number: int, question: NumberedQuestion, judge: CurrentJudge, log: CurrentLog
) -> Response:
    if judge is None:
        return RedirectResponse("/", 303)
    grades = log.grades_by(judge.name)
    judged, items = _progress(question, grades)
    last = number == len(log.sheet.questions)
    return _page(
        request,
        judge,
        f"/question/{number}",
        "judge_question.html",
        number=number,
        questions=len(log.sheet.questions),
        question=question,
        documents=[*_shown_documents(question, grades)],
        judged=judged,
        items=items,
        following=judge.address("/" if last else f"/question/{number + 1}"),
        last=last,
    )


@router.post("/question/{number}")
async def keep_judgments(
    request: Request, number: int, question: NumberedQuestion, judge: CurrentJudge, log: CurrentLog
) -> Response:
    """Keep what a form says: the key of an item and its grade, or no grade to take one back; any number of
    them. Programs get the progress as JSON, forms the page again."""
    fields = [(name, value) for name, value in (await request.form()).multi_items()]
    if judge is None or not judge.has_key:
        judge = _named(_text("judge", dict(fields).get("judge", "")))
    judgments = [_judgment(log, question, judge, name, value) for name, value in fields if name != "judge"]
    try:
        await run_in_threadpool(log.add, judgments)
    except JudgmentError as error:
        raise FieldError("item", str(error)) from error
    if "application/json" in request.headers.get("accept", ""):
        judged, items = _progress(question, log.grades_by(judge.name))
        return JSONResponse({"judged": judged, "items": items})
    place = f"#item-{_following(question, judgments)}" if judgments else ""
    return RedirectResponse(judge.address(f"/question/{number}") + place, 303)


@router.get("/agreement", response_class=HTMLResponse)
def show_agreement(request: Request, judge: CurrentJudge, log: CurrentLog) -> Response:
    if judge is None:
        return RedirectResponse("/", 303)
    if not judge.is_admin:
        raise HTTPException(403, "agreement says what others judged; only a key with the role admin sees it")
    agreed = agreement_of(log.sheet, log.copy())
    return _page(request, judge, "/agreement", "judge_agreement.html", agreed=agreed)


def _page(request: Request, judge: Judge, path: str, template: str, **context: Any) -> HTMLResponse:
    """A page with a judge's own menu."""
    own: dict[str, Any] = {"judge": judge, "menu": judge.menu(), "here": judge.address(path)}
    return page(request, template, headers=PRIVATE, **own, **context)


def _progress(question: SheetQuestion, grades: Mapping[Item, int]) -> tuple[int, int]:
    """How many of a question's items are judged, and how many there are."""
    items = [*question.items()]
    return sum(item in grades for item in items), len(items)


def _text(name: str, value: str | UploadFile) -> str:
    if not isinstance(value, str):
        raise FieldError(name, "must be text, not a file")
    return value


def _judgment(
    log: JudgmentLog, question: SheetQuestion, judge: Judge, key: str, value: str | UploadFile
) -> Judgment:
    item = log.sheet.items.get((question.id, key))
    if item is None:
        raise FieldError("item", f"is of {show(key)}, which is not to be judged for this question")
    text = _text("item", value)
    if text and not (text.isascii() and text.isdigit() and len(text) < 3):
        raise FieldError("item", f"must be a grade, not {show(text)}")
    return Judgment(judge.name, item, int(text) if text else None)


def _following(question: SheetQuestion, judgments: Sequence[Judgment]) -> int:
    """The number of the item after the one that was judged, or of that one if a grade was taken back."""
    items = [*question.items()]
    last = judgments[-1]
    return min(items.index(last.item) + 1 + (last.grade is not None), len(items))


def _shown_documents(question: SheetQuestion, grades: Mapping[Item, int]) -> Iterator[ShownDocument]:
    shown = iter(
        ShownItem(number, item, grades.get(item)) for number, item in enumerate(question.items(), start=1)
    )
    for document in question.documents:
        of_document = next(shown)
        sentences = [next(shown) for _ in document.sentences]
        yield ShownDocument(
            document,
            of_document,
            [*_pieces(document.title, "title", sentences)],
            [*_pieces(document.abstract, "abstract", sentences)],
        )


def _pieces(text: str, section: Section, sentences: Sequence[ShownItem]) -> Iterator[Piece]:
    """A section's text, cut where the sentences are that are to be judged."""
    position = 0
    for shown in sentences:
        sentence = shown.item.sentence
        if sentence is None or sentence.section != section:
            continue
        if before := text[position : sentence.begin].strip():
            yield Piece(before)
        yield Piece(text[sentence.begin : sentence.end], shown)
        position = max(position, sentence.end)
    if rest := text[position:].strip():
        yield Piece(rest)
