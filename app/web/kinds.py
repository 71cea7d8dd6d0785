"""What kind of article it is, as far as that says something to a reader."""

from bioqa.app.exports.standing import WORDS
from bioqa.bioasq.metadata import RETRACTED_TYPE, Metadata

TELLING = (
    "Practice Guideline", "Guideline", "Meta-Analysis", "Systematic Review", "Randomized Controlled Trial",
    "Review", "Preprint", "Case Reports", "Editorial", "Letter", "Comment",
)  # fmt: skip
"""Types by which articles are often chosen, those first that weigh most in medicine."""

_SILENT = frozenset({"Journal Article", "English Abstract", RETRACTED_TYPE})
_MOST = 3


def kinds(metadata: Metadata) -> list[str]:
    """Return the publication types to show beside a title: the telling ones first, three at most."""
    said = {WORDS[metadata.standing]}
    types = [
        each
        for each in dict.fromkeys(metadata.types)
        if each not in _SILENT and each not in said and not each.startswith("Research Support")
    ]
    telling = [each for each in TELLING if each in types]
    return [*telling, *(each for each in types if each not in TELLING)][:_MOST]
