"""Planning an update, from the files that a source lists and those that an index has. Without any I/O.

NLM numbers a year's files in one sequence: the baseline from 1, then the updates. An index is correct only if
it has the beginning of that sequence without gaps, so no file after a gap is loaded.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bioqa.indexer.loading.ledger import MEDLINE_NAME, LoadedFile
from bioqa.indexer.releases.source import CENTURY, PublishedFile
from bioqa.system.errors import BioqaError


@dataclass(frozen=True, slots=True)
class Plan:
    """The files to load for a year's release."""

    year: int
    files: tuple[PublishedFile, ...]
    """Files to load, in this order."""
    waiting: tuple[str, ...] = ()
    """Names of files that cannot be loaded yet."""
    faults: tuple[str, ...] = ()
    """Reasons why they cannot."""
    notes: tuple[str, ...] = ()
    """Further information for the user."""


def year_of(listing: Iterable[PublishedFile], serving: int | None) -> int:
    """Return the year of the release to serve: the latest with a baseline, or the one that serves.

    Raises BioqaError if there is neither, or if there are no files of that year.
    """
    files = list(listing)
    years = {file.year for file in files if file.directory == "baseline"}
    updates = [file for file in files if file.directory == "updatefiles"]
    if serving is None and not years:
        if updates:
            raise BioqaError(
                f"{updates[0].name} updates the baseline of {updates[0].year}, which is not there: "
                "baseline/ has no file"
            )
        raise BioqaError(
            "there are no files with names like NLM's (pubmed25n0001.xml.gz), so there is nothing to load"
        )
    year = max(years | ({serving} if serving is not None else set()))
    if not any(file.year == year for file in files):
        raise BioqaError(
            f"the release of {year} is serving, and there are only files of {_listed_years(files)}: "
            "is this the right source?"
        )
    return year


def make_plan(listing: Sequence[PublishedFile], year: int, ledger: Sequence[LoadedFile]) -> Plan:
    """Plan to load the files of ``year`` that an index with this ledger lacks.

    Raises BioqaError if the baseline has gaps or is missing, or if file numbers conflict.
    """
    loaded = {entry.name for entry in ledger}
    files = _by_number(file for file in listing if file.year == year)
    done = {_number(name) for name in loaded if _is_of(name, year)}
    if foreign := sorted(name for name in loaded if not _is_of(name, year)):
        raise BioqaError(
            f"the release of {year} has {foreign[0]}, which is not a file of that year: rebuild it"
        )
    _check_baseline(files, done, year)
    last = max([*files, *done], default=0)
    to_load: list[PublishedFile] = []
    fault = None
    for number in range(1, last + 1):
        file = files.get(number)
        if number in done:
            continue
        if file is None:
            fault = f"{_name(year, number)} is missing"
        elif not file.ready:
            fault = f"{file.name} has no .md5 yet"
        if fault:
            break
        assert file is not None
        to_load.append(file)
    return _plan(listing, year, files, loaded, to_load, fault)


def _plan(
    listing: Sequence[PublishedFile],
    year: int,
    files: dict[int, PublishedFile],
    loaded: set[str],
    to_load: Sequence[PublishedFile],
    fault: str | None,
) -> Plan:
    taken = loaded | {file.name for file in to_load}
    waiting = [file.name for _, file in sorted(files.items()) if file.name not in taken]
    faults = [f"{fault}; {len(waiting)} of the files listed wait for it"] if fault else []
    baselines = {file.year for file in listing if file.directory == "baseline"}
    if early := sorted(file.name for file in listing if file.year > year and file.year not in baselines):
        waiting += early
        faults.append(f"{early[0]} waits for its baseline: baseline/ has no file of its year")
    notes = []
    if earlier := sum(file.year < year for file in listing):
        notes.append(f"{earlier} files of other years are ignored: the release is of {year}")
    return Plan(year, tuple(to_load), tuple(waiting), tuple(faults), tuple(notes))


def changed_files(published: Mapping[str, str], ledger: Iterable[LoadedFile]) -> list[str]:
    """Return names of loaded files whose MD5 at the source, as far as it is published, differs now."""
    return sorted(entry.name for entry in ledger if published.get(entry.name, entry.md5) != entry.md5)


def _check_baseline(files: dict[int, PublishedFile], done: set[int], year: int) -> None:
    baseline = {number for number, file in files.items() if file.directory == "baseline"}
    updates = set(files) - baseline
    if not baseline and not done:
        first = files[min(updates)].name if updates else f"any file of {year}"
        raise BioqaError(f"{first} updates the baseline of {year}, which is neither there nor loaded")
    if updates and baseline and min(updates) < max(baseline):
        raise BioqaError(
            f"updatefiles/ has {files[min(updates)].name}, whose number is among the baseline's: "
            "the source mixes files that do not belong together"
        )
    if missing := sorted(set(range(1, max(baseline, default=0))) - baseline - done):
        raise BioqaError(
            f"the baseline of {year} is not complete: {_ranges(missing, year)} missing in baseline/"
        )


def _by_number(files: Iterable[PublishedFile]) -> dict[int, PublishedFile]:
    numbered: dict[int, PublishedFile] = {}
    for file in files:
        other = numbered.setdefault(file.number, file)
        if other is not file:
            raise BioqaError(
                f"{other.directory}/{other.name} and {file.directory}/{file.name} have the same number"
            )
    return numbered


def _is_of(name: str, year: int) -> bool:
    match = MEDLINE_NAME.fullmatch(name)
    return match is not None and CENTURY + int(match[1]) == year


def _number(name: str) -> int:
    match = MEDLINE_NAME.fullmatch(name)
    assert match is not None
    return int(match[2])


def _name(year: int, number: int) -> str:
    return f"pubmed{year - CENTURY:02}n{number:04}.xml.gz"


def _listed_years(files: Iterable[PublishedFile]) -> str:
    return ", ".join(map(str, sorted({file.year for file in files}))) or "no year"


def _ranges(numbers: Sequence[int], year: int) -> str:
    """Format at most five ranges: ``pubmed25n0003.xml.gz, pubmed25n0007.xml.gz to pubmed25n0009.xml.gz
    are``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    words = [
        _name(year, run[0]) + (f" to {_name(year, run[-1])}" if len(run) > 1 else "") for run in runs[:5]
    ]
    more = f" and {len(runs) - 5} more runs" if len(runs) > 5 else ""
    return ", ".join(words) + more + (" is" if len(numbers) == 1 else " are")
