"""The plan of a run: which files are loaded already, and in which order files take precedence."""

from collections.abc import Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from bioqa.indexer.loading.ledger import FILES_BITS, MEDLINE_NAME, LoadedFile, file_number, md5_of, noted_name
from bioqa.system.errors import BioqaError

MAX_NAMES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Step:
    """A given file, and what to do with it."""

    path: Path
    size_bytes: int
    number: int
    """See ``bioqa.indexer.loading.ledger.file_number``."""
    entry: LoadedFile | None = None
    """The ledger's entry for this content, whatever its name; None if the content is not loaded."""
    duplicate: bool = False
    """An earlier step has the same content."""
    replaces: bool = False
    """A file with this name, but different content, is loaded."""
    refused: str = ""
    """Reason why the file cannot be loaded now; empty if it can."""

    @property
    def name(self) -> str:
        return noted_name(self.path)


def steps(
    files: Sequence[Path], loaded: Sequence[LoadedFile], orders_itself: bool, threads: int
) -> tuple[Step, ...]:
    """Plan the files in order of precedence: as given, but NLM's files by their numbers.

    A file that is not loaded yet gets a number between those of its neighbours in the list. If none is free,
    an index that compares numbers (``orders_itself``) has to refuse the file. Any other index has to refuse
    one of NLM's files if later files are loaded, unless these are given, too, and so can be applied again.
    """
    files = _in_order(files)
    entries = _entries(files, loaded, threads)
    numbers = _numbers(files, entries, loaded)
    planned = []
    seen: set[str] = set()
    loaded_names = {entry.name for entry in loaded}
    for position, (path, entry) in enumerate(zip(files, entries, strict=True)):
        refused = ""
        if entry is None and orders_itself:
            refused = _without_number(position, numbers, entries, loaded, files)
        elif entry is None:
            refused = _before_loaded(path, files, entries, loaded)
        duplicate = entry is not None and entry.md5 in seen
        seen |= {entry.md5} if entry else set()
        replaces = entry is None and noted_name(path) in loaded_names
        planned.append(
            Step(path, path.stat().st_size, numbers[position], entry, duplicate, replaces, refused)
        )
    return tuple(planned)


def candidates(planned: Sequence[Step], loaded: Sequence[LoadedFile]) -> tuple[Step, ...]:
    """Return the steps that replace a loaded file before which another step would be loaded with a higher
    number: if one of them turns out to be broken, that other step has to wait (see ``with_waits``)."""
    own = _lowest_numbers(loaded)
    return tuple(
        step
        for position, step in enumerate(planned)
        if step.replaces
        and not step.refused
        and any(_is_to_load(before) and before.number > own[step.name] for before in planned[:position])
    )


def with_waits(
    planned: Sequence[Step], loaded: Sequence[LoadedFile], broken: Mapping[str, str]
) -> tuple[Step, ...]:
    """Refuse the ``broken`` steps, by name with the reason, and let those before them wait.

    This is for an index that compares numbers. The replacement of a loaded file gets a new, higher number,
    and so do new files before it. If it is broken, the old content stays in the index, under its old number,
    and may come back: then new files before it, loaded now, would override it.
    """
    own = _lowest_numbers(loaded)
    waits: list[Step] = []
    blocking: list[Step] = []
    for step in reversed(planned):
        if not step.refused and step.name in broken:
            step = replace(step, refused=broken[step.name])
        behind = next((other for other in reversed(blocking) if step.number > own[other.name]), None)
        if _is_to_load(step) and behind is not None:
            step = replace(step, refused=waits_for(step.name, behind.name))
        if step.refused and step.replaces:
            blocking.append(step)
        waits.append(step)
    return tuple(reversed(waits))


def waits_for(name: str, behind: str) -> str:
    return f"{name} waits until {behind}, loaded before and now refused, is repaired"


def _is_to_load(step: Step) -> bool:
    return step.entry is None and not step.refused


def _lowest_numbers(loaded: Sequence[LoadedFile]) -> dict[str, int]:
    lowest: dict[str, int] = {}
    for entry in loaded:
        lowest[entry.name] = min(entry.number, lowest.get(entry.name, entry.number))
    return lowest


def _in_order(files: Sequence[Path]) -> list[Path]:
    """Sort NLM's files by their numbers, leaving all other files at their positions."""
    numbered = iter(sorted(filter(_is_medline, files), key=lambda path: file_number(path.name, ())))
    return [next(numbered) if _is_medline(path) else path for path in files]


def _is_medline(path: Path) -> bool:
    return MEDLINE_NAME.fullmatch(path.name) is not None


def _entries(files: Sequence[Path], loaded: Sequence[LoadedFile], threads: int) -> list[LoadedFile | None]:
    """Look up the ledger's entry for each file's content. Only files whose size is in the ledger are read."""
    by_md5 = {entry.md5: entry for entry in loaded}
    sizes = {entry.size_bytes for entry in loaded}

    def find(path: Path) -> LoadedFile | None:
        try:
            return by_md5.get(md5_of(path)) if path.stat().st_size in sizes else None
        except OSError:  # the parser will report it
            return None

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(find, files))


def _numbers(
    files: Sequence[Path], entries: Sequence[LoadedFile | None], loaded: Sequence[LoadedFile]
) -> list[int]:
    """Number the files from last to first. One without a number gets its successor's, minus 1."""
    own = [
        entry.number if entry else file_number(path.name, ()) if _is_medline(path) else None
        for path, entry in zip(files, entries, strict=True)
    ]
    known = [entry.number for entry in loaded] + [number for number in own if number is not None]
    ceiling = 1 + max(known, default=0) + own.count(None)
    if ceiling > 1 << FILES_BITS:
        raise BioqaError(f"this index has no numbers left for {len(files)} files")
    numbers = []
    for number in reversed(own):
        number = ceiling - 1 if number is None else number
        ceiling = min(ceiling, number)
        numbers.append(number)
    return numbers[::-1]


def _without_number(
    position: int,
    numbers: Sequence[int],
    entries: Sequence[LoadedFile | None],
    loaded: Sequence[LoadedFile],
    files: Sequence[Path],
) -> str:
    """Reason why there is no number for a file between its neighbours; "" if there is."""
    path, number = files[position], numbers[position]
    if _is_medline(path):
        if any(entry.name == noted_name(path) for entry in loaded):
            return f"{path} is loaded already, with different content; load all files into a new index"
        return ""
    before = max((numbers[p] for p in range(position) if entries[p] or _is_medline(files[p])), default=0)
    taken = {entry.number for entry in loaded}
    if number > before and number not in taken:
        return ""
    after = next(files[p].name for p in range(position + 1, len(files)) if numbers[p] > number)
    return (
        f"{path} cannot be loaded before {after}, because no order number is left between them: "
        "pass it after the loaded files, or load all files into a new index"
    )


def _before_loaded(
    path: Path, files: Sequence[Path], entries: Sequence[LoadedFile | None], loaded: Sequence[LoadedFile]
) -> str:
    """Reason why one of NLM's files cannot be loaded without its successors; "" if it can."""
    if not _is_medline(path):
        return ""
    given = {entry.md5 for entry in entries if entry} | {noted_name(other) for other in files}
    number = file_number(path.name, ())
    later = list(_later(number, given, loaded))
    if not later:
        return ""
    more = f" and {len(later) - MAX_NAMES_SHOWN} more" if len(later) > MAX_NAMES_SHOWN else ""
    return (
        f"{path} is older than files already loaded, and would overwrite newer revisions. Pass the later "
        f"files too, so that they are applied again: {', '.join(later[:MAX_NAMES_SHOWN])}{more}"
    )


def _later(number: int, given: Set[str], loaded: Sequence[LoadedFile]) -> Iterator[str]:
    for entry in sorted(loaded, key=lambda entry: entry.number):
        if (
            entry.number > number
            and MEDLINE_NAME.fullmatch(entry.name)
            and not given & {entry.name, entry.md5}
        ):
            yield entry.name
