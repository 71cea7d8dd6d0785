"""Plausibility checks of a new release, which must pass before it serves."""

from collections.abc import Sequence
from dataclasses import dataclass

from bioqa.indexer.loading.ledger import MEDLINE_NAME, LoadedFile
from bioqa.indexer.search.base import IndexStats

MIN_SHARE_OF_PREVIOUS = 0.95
"""Minimum number of documents, as a share of the previous release's."""

MAX_MISSING_INCREASE = 0.02
"""Maximum increase of the share of records without title, or without abstract."""

MAX_WITHOUT_TITLE = 0.01
"""Share allowed in a first release. If NLM changed its format, all titles might be empty and all PMIDs
right."""

MIN_DISTINCT = 0.99
"""Minimum share of a baseline's citations that are distinct documents, not versions of others."""


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    passed: bool
    says: str
    """The figures compared, for reports."""


@dataclass(frozen=True, slots=True)
class ReleaseContent:
    """Statistics of a release, and the files that it was loaded from."""

    stats: IndexStats
    ledger: Sequence[LoadedFile]

    @property
    def last_file(self) -> str:
        return max((entry.name for entry in self.ledger), default="")


def release_checks(
    new: ReleaseContent, baseline: int, missing: Sequence[str], previous: ReleaseContent | None
) -> list[Check]:
    """Check a new release against its files, and against the previous release.

    ``baseline`` is the number of the baseline's last file in the year's sequence; ``missing`` are files of
    the baseline that were not loaded."""
    checks = [_baseline(missing), _counts(new, baseline)]
    if previous is None or not previous.stats.documents:
        return [*checks, _first_titles(new.stats)]
    checks += [_not_fewer(new.stats, previous.stats), *share_checks(new.stats, previous.stats)]
    if previous.last_file[:8] == new.last_file[:8]:  # a rebuild of the same year
        checks.append(_not_behind(new, previous))
    return checks


def share_checks(new: IndexStats, previous: IndexStats) -> list[Check]:
    """Check that the shares of documents without title or abstract have not grown."""
    return [
        _share("titles", new.without_title, new.documents, previous.without_title, previous.documents),
        _share(
            "abstracts", new.without_abstract, new.documents, previous.without_abstract, previous.documents
        ),
    ]


def _baseline(missing: Sequence[str]) -> Check:
    says = f"{len(missing)} of its files are not loaded, {missing[0]} first" if missing else "complete"
    return Check("baseline", not missing, says)


def _counts(new: ReleaseContent, baseline: int) -> Check:
    """Check the number of documents against bounds, as the ledger does not say which upserts were revisions.

    Upper bound: upserts − deletions. Lower bound: 99 % of the baseline's upserts − deletions − stale events,
    because a baseline has each document about once.
    """
    upserted = sum(entry.upserted for entry in new.ledger)
    upper = upserted - sum(entry.deleted for entry in new.ledger)
    baseline_upserts = sum(entry.upserted for entry in new.ledger if _is_baseline(entry, baseline))
    lower = int(MIN_DISTINCT * baseline_upserts) - sum(entry.deleted + entry.stale for entry in new.ledger)
    documents = new.stats.documents
    rejected = sum(sum(entry.rejected.values()) for entry in new.ledger)
    return Check(
        "documents",
        max(0, lower) <= documents <= upper,
        f"{documents:,} documents; its files allow for {max(0, lower):,} to {upper:,} "
        f"({len(new.ledger):,} files, {upserted:,} upserts, {rejected:,} rejected)",
    )


def _is_baseline(entry: LoadedFile, baseline: int) -> bool:
    match = MEDLINE_NAME.fullmatch(entry.name)
    return match is not None and int(match[2]) <= baseline


def _not_fewer(new: IndexStats, previous: IndexStats) -> Check:
    least = MIN_SHARE_OF_PREVIOUS * previous.documents
    return Check(
        "not fewer",
        new.documents >= least,
        f"{new.documents:,} documents; the previous release has {previous.documents:,}, "
        f"and at least {MIN_SHARE_OF_PREVIOUS:.0%} of that is required",
    )


def _not_behind(new: ReleaseContent, previous: ReleaseContent) -> Check:
    return Check(
        "files",
        new.last_file >= previous.last_file,
        f"loaded up to {new.last_file}; the release it replaces up to {previous.last_file}",
    )


def _first_titles(new: IndexStats) -> Check:
    share = new.without_title / max(1, new.documents)
    return Check(
        "titles",
        share < MAX_WITHOUT_TITLE,
        f"{share:.2%} without title; {MAX_WITHOUT_TITLE:.0%} is too many",
    )


def _share(what: str, missing: int, of: int, missing_before: int, of_before: int) -> Check:
    share, before = missing / max(1, of), missing_before / max(1, of_before)
    return Check(
        what,
        share <= before + MAX_MISSING_INCREASE,
        f"{share:.2%} without {what[:-1]}, before {before:.2%}; "
        f"{100 * MAX_MISSING_INCREASE:.0f} percentage points more are allowed",
    )
