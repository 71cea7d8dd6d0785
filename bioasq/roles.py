"""Which file is which: files in the wrong place are refused, because their measures would only mislead."""

from collections import Counter
from collections.abc import Sequence

from bioqa.bioasq.domain import MOST_DOCUMENTS, Response
from bioqa.bioasq.golden import Golden, Irregularity
from bioqa.system.errors import BioqaError

FEWEST = 10
"""Golden questions from which on the lengths of lists say whether two files are swapped."""

FULL = 0.8
"""Share of questions with MOST_DOCUMENTS documents that golden files do not reach, and submissions do."""


def check_golden(golden: Sequence[Response], name: str) -> None:
    """Raise BioqaError for a golden file without questions or without gold, such as a test set."""
    if not golden:
        raise BioqaError(f"{name}: has no questions, so there is nothing to measure")
    if not any(response.documents or response.snippets for response in golden):
        raise BioqaError(
            f"{name}: is a test set, not a golden file: none of its questions has documents or snippets"
        )


def check_submission(system: Golden, name: str) -> None:
    """Raise BioqaError for a test set in place of a submission, in which every list is missing."""
    missing = system.irregularities.get(Irregularity.MISSING_LIST, 0)
    if system.responses and missing == 2 * len(system.responses):
        raise BioqaError(
            f"{name}: is a test set, not a submission: none of its questions has documents and snippets"
        )


def check_pair(
    golden: Sequence[Response], system: Sequence[Response], golden_name: str, system_name: str
) -> None:
    """Raise BioqaError for files without a common question, and for two that are swapped.

    Submissions have full lists, golden files lists of any length. So they are swapped if nearly every
    question of the first has exactly MOST_DOCUMENTS documents, none has more, and the second's lengths vary
    or are mostly shorter.
    """
    if not {r.question.id for r in golden} & {r.question.id for r in system}:
        raise BioqaError(f"{golden_name} and {system_name}: have no question in common")
    if len(golden) >= FEWEST and _like_a_submission(golden) and _like_gold(system):
        raise BioqaError(
            f"{golden_name} and {system_name}: are swapped: nearly every question of the first has exactly "
            f"{MOST_DOCUMENTS} documents, as in a submission; the golden file comes first"
        )


def _like_a_submission(responses: Sequence[Response]) -> bool:
    lengths = [len(response.documents) for response in responses]
    return max(lengths) <= MOST_DOCUMENTS and lengths.count(MOST_DOCUMENTS) >= FULL * len(lengths)


def _like_gold(responses: Sequence[Response]) -> bool:
    lengths = Counter(len(response.documents) for response in responses)
    short = sum(count for length, count in lengths.items() if length < MOST_DOCUMENTS)
    return 2 * short > len(responses) or 2 * max(lengths.values()) < len(responses)
