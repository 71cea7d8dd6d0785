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
        kind
        for kind in dict.fromkeys(metadata.types)
        if kind not in _SILENT and kind not in said and not kind.startswith("Research Support")
    ]
    telling = [kind for kind in TELLING if kind in types]
    return [*telling, *(kind for kind in types if kind not in TELLING)][:_MOST]
