"""Compare submissions, as ``bioqa compare`` and the page at /evaluate do."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from bioqa.app.api.evaluation import FILE, check_files, encodable, read_field
from bioqa.app.api.uploads import CurrentUploads, Upload, file_part, request_body, require_files
from bioqa.app.http.errors import FieldError, document_problems
from bioqa.bioasq.comparison import Comparison, compare
from bioqa.bioasq.golden import Golden, parse_golden
from bioqa.bioasq.inputs import parse_answers, parse_gold
from bioqa.bioasq.measures import EDITIONS, LATEST
from bioqa.system.jsonfile import show

router = APIRouter(prefix="/v1/bioasq", tags=["submissions"])

MOST_SYSTEMS = 6
"""With a golden file and, on the page, a test set, as many files as a form may have."""
MOST_QUESTIONS = 1000
"""Golden questions that are compared here: with more, a comparison takes long to make and to show."""


class ComparedMeasure(BaseModel):
    """A measure of one system, and its difference from the baseline's: null of the baseline itself."""

    system: str
    measure: str = Field(description="The official tool's name, such as map_documents.")
    value: float
    low: float = Field(description="Of the bootstrap interval.")
    high: float
    questions: int = Field(description="Golden questions in the mean: those that the system answers.")
    difference: float | None = Field(description="Over the questions that both answer.")
    difference_low: float | None
    difference_high: float | None
    p: float | None = Field(description="Two-tailed, of approximate randomisation.")
    p_holm: float | None = Field(description="Corrected for the number of systems.")
    wins: int | None = Field(description="Questions on which the system is better than the baseline.")
    ties: int | None
    losses: int | None
    shared_questions: int | None = Field(description="Questions that both answer.")


class ComparedQuestion(BaseModel):
    """The measures of one system on one question that it answers."""

    system: str
    question: str
    type: str | None
    body: str
    precision_documents: float
    recall_documents: float
    f1_documents: float
    ap_documents: float
    gold_documents: int
    precision_snippets: float
    recall_snippets: float
    f1_snippets: float
    ap_snippets: float
    gold_snippets: int


class ComparedSystems(BaseModel):
    edition: int
    baseline: str
    questions: int = Field(description="Golden questions.")
    resamples: int
    confidence: float = Field(description="Of the intervals.")
    measures: list[ComparedMeasure]
    per_question: list[ComparedQuestion]
    most_different: list[str] = Field(
        description="Ids of the golden questions on which a system differs most from the baseline."
    )


_EDITION = {"anyOf": [{"type": "integer", "enum": list(EDITIONS)}, {"type": "null"}], "default": LATEST}


@router.post(
    "/compare",
    responses=document_problems(400, 413, 415, 422),
    openapi_extra=request_body(
        {
            "type": "object",
            "required": ["golden", "systems"],
            "properties": {
                "golden": {"type": "object", "description": "A golden file, as BioASQ publishes it."},
                "systems": {
                    "type": "object",
                    "description": "Submissions by name. The first is the baseline.",
                    "minProperties": 1,
                    "maxProperties": MOST_SYSTEMS,
                    "additionalProperties": {"$ref": "#/components/schemas/Submission"},
                },
                "edition": _EDITION,
            },
        },
        {
            "golden": file_part("The golden file, or TREC judgements."),
            "submission": {
                "type": "array",
                "minItems": 1,
                "maxItems": MOST_SYSTEMS,
                "items": file_part("Submissions or TREC runs. Their file names name the systems."),
            },
            "edition": {"type": "string", "description": "Such as 8."},
        },
        ["golden", "submission"],
        {"two systems": {"value": {"golden": FILE, "systems": {"a": FILE, "b": FILE}, "edition": 8}}},
    ),
)
async def compare_submissions(request: Request, uploads: CurrentUploads) -> ComparedSystems:
    """Compare submissions with a golden file, and with each other: intervals, differences, p values."""
    return await uploads.parse(compared_systems, await uploads.receive(request, repeated=("submission",)))


def compared_systems(upload: Upload) -> ComparedSystems:
    """Raises FieldError, and BadBody."""
    comparison = _of_form(upload) if upload.body is None else _of_json(upload)
    return ComparedSystems(
        edition=comparison.edition,
        baseline=comparison.baseline.name,
        questions=len(comparison.golden),
        resamples=comparison.resamples,
        confidence=comparison.confidence,
        measures=[ComparedMeasure(**row) for row in comparison.rows()],
        per_question=[ComparedQuestion(**_encodable(row)) for row in comparison.question_rows()],
        most_different=[
            encodable(comparison.golden[position].question.id)
            for position in comparison.most_different(MOST_QUESTIONS)
        ],
    )


def _encodable(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: encodable(value) if isinstance(value, str) else value for name, value in row.items()}


def _of_form(upload: Upload) -> Comparison:
    require_files(upload, ["golden", "submission"])
    sent = {field: upload.names.get(field, "") for field in upload.files if field.startswith("submission")}
    if len(sent) > MOST_SYSTEMS:
        raise FieldError("submission", f"must be at most {MOST_SYSTEMS}")
    return comparison_of_files(upload, unique_names(sent), _edition(upload.texts.get("edition")))


def _of_json(upload: Upload) -> Comparison:
    data = upload.json()
    if not isinstance(data, Mapping):
        raise FieldError("the request's body", f"must be an object, not {show(data)}")
    systems = data.get("systems")
    if not isinstance(systems, Mapping) or not 0 < len(systems) <= MOST_SYSTEMS:
        raise FieldError("systems", f"must be an object of 1 to {MOST_SYSTEMS} submissions by name")
    if "golden" not in data:
        raise FieldError("golden", "is missing")
    golden = read_field("golden", lambda: parse_golden(data["golden"], "golden"))
    answers = {}
    for number, (name, submission) in enumerate(systems.items()):
        field = f"systems[{number}]"
        read = read_field(field, lambda field=field, given=submission: parse_golden(given, field))  # type: ignore[misc]
        answers[encodable(name)] = (field, read)
    if len(answers) < len(systems):
        raise FieldError("systems", "must have names that differ in what can be shown of them")
    return _compare(golden, answers, _edition(data.get("edition")))


def comparison_of_files(upload: Upload, names: Mapping[str, str], edition: int) -> Comparison:
    """Compare the files of these fields, by the names given, with the golden file. Raises FieldError."""
    golden = read_field("golden", lambda: parse_gold(upload.content("golden"), "golden"))
    answers = {}
    for field, name in names.items():
        read = read_field(field, lambda field=field: parse_answers(upload.content(field), field))  # type: ignore[misc]
        answers[name] = (field, read)
    return _compare(golden, answers, edition)


def _compare(golden: Golden, answers: Mapping[str, tuple[str, Golden]], edition: int) -> Comparison:
    """``answers``: by the system's name, the request's field and what it holds."""
    if len(golden.responses) > MOST_QUESTIONS:
        raise FieldError(
            "golden",
            f"has more than {MOST_QUESTIONS} questions, too many to compare here; use `bioqa compare`",
        )
    for field, read in answers.values():
        check_files(golden, read, field)
    systems = {name: read.responses for name, (_, read) in answers.items()}
    return read_field("golden", lambda: compare(golden.responses, systems, edition))


def unique_names(names: Mapping[str, str]) -> dict[str, str]:
    """Names of systems by field: a file's up to its first dot, with a number where it is another's too."""
    unique: dict[str, str] = {}
    for field, full in names.items():
        name = full.partition(".")[0].strip() or field
        same = sum(other == name or other.startswith(f"{name} (") for other in unique.values())
        unique[field] = f"{name} ({same + 1})" if same else name
    return unique


def _edition(value: object) -> int:
    """Read an edition: a number in JSON, its text in a form."""
    if value is None or value == "":
        return LATEST
    editions = {str(edition): edition for edition in EDITIONS}
    if isinstance(value, bool) or not isinstance(value, int | str) or str(value) not in editions:
        raise FieldError("edition", f"must be one of {', '.join(map(str, EDITIONS))}")
    return editions[str(value)]
