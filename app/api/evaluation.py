"""Validate and evaluate submissions, as ``bioqa validate`` and ``bioqa evaluate`` do."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from bioqa.app.api.uploads import CurrentUploads, Upload, file_part, request_body, require_files
from bioqa.app.http.errors import FieldError, document_problems
from bioqa.bioasq.domain import Response
from bioqa.bioasq.files import parse_testset
from bioqa.bioasq.golden import Golden, parse_golden
from bioqa.bioasq.measures import EDITIONS, evaluate
from bioqa.bioasq.overlap import pmid_of
from bioqa.bioasq.roles import check_golden, check_pair, check_submission
from bioqa.bioasq.validation import MAX_OFFSET, Fault, faults_of
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import shorten, show

router = APIRouter(prefix="/v1/bioasq", tags=["submissions"])

MOST_FAULTS = 1000
MOST_MISSING = 1000
MOST_COMPARISONS = 5_000_000
"""Limit of the comparisons between snippets of one document; they take some seconds."""

USUAL_EDITIONS = (5, 8, 9)

_ENTRY: dict[str, Any] = {
    "id": "5e2f3a0bd6ef6a2d4b000001",
    "type": "yesno",
    "body": "Is metformin a first-line treatment of type 2 diabetes?",
    "documents": ["http://www.ncbi.nlm.nih.gov/pubmed/90000001"],
    "snippets": [],
}
FILE = {"questions": [_ENTRY]}
"""A submission, and a golden file."""
_QUESTION = {key: _ENTRY[key] for key in ("id", "type", "body")}


class FoundFault(BaseModel):
    question: str = Field(description="Its id, or its position if it has none; empty for the whole file.")
    field: str
    message: str


class Validation(BaseModel):
    valid: bool
    faults: list[FoundFault]
    more: bool = Field(description=f"Whether there are more faults than the {MOST_FAULTS} listed.")


class EditionMeasures(BaseModel):
    """The official measures of phase A, under the official tool's names."""

    edition: int
    questions: int = Field(description="Golden questions that the submission answers.")
    missing: list[str] = Field(
        description=f"Golden questions that it lacks, left out of the means: the first {MOST_MISSING} ids, "
        "long ones shortened."
    )
    missing_questions: int = Field(description="Number of golden questions that it lacks.")
    mprec_documents: float
    mrec_documents: float
    mf1_documents: float
    map_documents: float
    gmap_documents: float
    mprec_snippets: float
    mrec_snippets: float
    mf1_snippets: float
    map_snippets: float
    gmap_snippets: float


class Evaluation(BaseModel):
    measures: list[EditionMeasures] = Field(description="One for each edition requested.")
    irregularities: dict[str, dict[str, int]] = Field(
        description="Irregularities of the golden file and of the submission, with their numbers."
    )


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties}


TESTSET_SCHEMA = {"anyOf": [{"$ref": "#/components/schemas/BatchTestSet"}, {"type": "null"}]}
EDITIONS_SCHEMA = {
    "anyOf": [
        {
            "type": "array",
            "minItems": 1,
            "uniqueItems": True,
            "items": {"type": "integer", "enum": list(EDITIONS)},
        },
        {"type": "null"},
    ],
    "default": list(USUAL_EDITIONS),
    "description": "2 for BioASQ 1 and 2, 3 for 3 and 4, 5 for 5 to 7, 8 for 8, 9 from 9 on.",
}


@router.post(
    "/validate",
    responses=document_problems(400, 413, 415, 422),
    openapi_extra=request_body(
        _object(["submission"], submission={"description": "The submission."}, testset=TESTSET_SCHEMA),
        {
            "submission": file_part("The submission, plain or gzip."),
            "testset": file_part("The test set that it answers."),
        },
        ["submission"],
        {"a submission": {"value": {"submission": FILE, "testset": {"questions": [_QUESTION]}}}},
    ),
)
async def validate_a_submission(request: Request, uploads: CurrentUploads) -> Validation:
    """List every fault of a submission; if its test set is given, also against that."""
    return await uploads.parse(validate_upload, await uploads.receive(request))


@router.post(
    "/evaluate",
    responses=document_problems(400, 413, 415, 422),
    openapi_extra=request_body(
        _object(
            ["submission", "golden"],
            submission={"$ref": "#/components/schemas/Submission"},
            golden={"type": "object", "description": "A golden file, as BioASQ publishes it."},
            editions=EDITIONS_SCHEMA,
        ),
        {
            "submission": file_part("The submission, plain or gzip."),
            "golden": file_part("The golden file."),
            "editions": {"type": "string", "description": "Comma-separated: 5,8"},
        },
        ["submission", "golden"],
        {"a submission": {"value": {"submission": FILE, "golden": FILE, "editions": [8]}}},
    ),
)
async def evaluate_a_submission(request: Request, uploads: CurrentUploads) -> Evaluation:
    """Compute the official measures of phase A for a submission against a golden file."""
    return await uploads.parse(evaluate_upload, await uploads.receive(request))


def validate_upload(upload: Upload) -> Validation:
    given = _Inputs(upload)
    testset = None
    if given.has("testset"):
        testset = read_field("testset", lambda: parse_testset(given.value("testset"), "testset"))
    try:
        submission = given.value("submission")
    except BioqaError as error:
        faults = [Fault("", "", str(error))]
    else:
        faults = list(islice(faults_of(submission, testset), MOST_FAULTS + 1))
    listed = [FoundFault(question=f.question, field=f.field, message=f.message) for f in faults[:MOST_FAULTS]]
    return Validation(valid=not faults, faults=listed, more=len(faults) > MOST_FAULTS)


def evaluate_upload(upload: Upload) -> Evaluation:
    given = _Inputs(upload)
    editions = _editions(given)
    golden, submission = (
        read_field(name, lambda name=name: parse_golden(given.value(name), name))  # type: ignore[misc]
        for name in ("golden", "submission")
    )
    check_files(golden, submission)
    measured = [evaluate(golden.responses, submission.responses, edition) for edition in editions]
    return Evaluation(
        measures=[
            EditionMeasures(
                edition=measures.edition,
                questions=measures.questions,
                missing=[encodable(identifier) for identifier in measures.missing_ids[:MOST_MISSING]],
                missing_questions=len(measures.missing_ids),
                **measures.official(),
            )
            for measures in measured
        ],
        irregularities={
            "golden": dict(golden.irregularities),
            "submission": dict(submission.irregularities),
        },
    )


class _Inputs:
    """The fields of a request by name, from a JSON body or a form."""

    def __init__(self, upload: Upload) -> None:
        self._upload = upload
        self._object: Mapping[str, object] | None = None
        if upload.body is not None:
            data = upload.json()
            if not isinstance(data, Mapping):
                raise FieldError("the request's body", f"must be an object, not {show(data)}")
            self._object = data

    def has(self, name: str) -> bool:
        return name in self._upload.files if self._object is None else self._object.get(name) is not None

    def value(self, name: str) -> object:
        """Raises FieldError if it is missing, BioqaError if its file holds no JSON."""
        if self._object is None:
            require_files(self._upload, [name])
            return self._upload.file(name)
        if name not in self._object:
            raise FieldError(name, "is missing")
        return self._object[name]

    def editions(self) -> object:
        """Return the field ``editions``; a form's text is split into numbers where possible."""
        if self._object is not None:
            return self._object.get("editions")
        text = self._upload.texts.get("editions")
        return text and [
            int(edition) if edition.isascii() and edition.isdecimal() else edition
            for edition in text[:100].split(",")
        ]


def _editions(given: _Inputs) -> Sequence[int]:
    editions = given.editions()
    if editions is None or editions == "":
        return USUAL_EDITIONS
    if (
        isinstance(editions, list)
        and all(type(edition) is int and edition in EDITIONS for edition in editions)
        and 0 < len(set(editions)) == len(editions)
    ):
        return editions
    raise FieldError("editions", f"must be some of {', '.join(map(str, EDITIONS))}, each once")


Read = TypeVar("Read")


def read_field(name: str, read: Callable[[], Read]) -> Read:
    """Read a field, turning the reader's errors into errors of the field."""
    try:
        return read()
    except BioqaError as error:
        raise FieldError(name, str(error).removeprefix(f"{name}: ")) from error


def check_files(golden: Golden, submission: Golden, name: str = "submission") -> None:
    """Raise FieldError for files that cannot be evaluated; ``name``: the submission's field."""
    read_field("golden", lambda: check_golden(golden.responses, "golden"))
    read_field(name, lambda: check_submission(submission, name))
    read_field("golden", lambda: check_pair(golden.responses, submission.responses, "golden", name))
    for field, read in (("golden", golden), (name, submission)):
        _check_offsets(field, read)
    _check_work(golden, submission)


def _check_offsets(name: str, read: Golden) -> None:
    for response in read.responses:
        for snippet in response.snippets:
            if max(abs(snippet.begin), abs(snippet.end)) > MAX_OFFSET:
                question = show(response.question.id)
                raise FieldError(name, f"question {question}: an offset is beyond {MAX_OFFSET}")


def _check_work(golden: Golden, submission: Golden) -> None:
    """Refuse work that would take minutes: each snippet is compared with all others of its document."""
    answered: dict[str, Response] = {}
    for answer in submission.responses:
        answered.setdefault(answer.question.id, answer)
    comparisons = 0
    for gold in golden.responses:
        if (response := answered.get(gold.question.id)) is not None:
            ours, theirs = (Counter(pmid_of(s.document) for s in r.snippets) for r in (response, gold))
            comparisons += sum(n * (n + theirs[document]) for document, n in ours.items())
            comparisons += sum(n * n for n in theirs.values())
    if comparisons > MOST_COMPARISONS:
        raise FieldError(
            "submission",
            "it and the golden file have too many snippets of the same documents to be evaluated here; "
            "use `bioqa evaluate`",
        )


def encodable(text: str) -> str:
    """Shortened, and without halves of characters, which no response can hold."""
    return shorten(text).encode(errors="backslashreplace").decode()
