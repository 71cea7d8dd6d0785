"""What is to be done with each of the files given: which are loaded already, and how all count in order."""

from collections.abc import Iterator, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bioqa.bioasq.errors import BioqaError
from bioqa.indexer.loading.ledger import FILES_BITS, MEDLINE_NAME, LoadedFile, file_number
from bioqa.indexer.loading.parsing import md5_of

MAX_NAMES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Step:
    """A file given, in its place."""

    path: Path
    size_bytes: int
    number: int
    """See ``bioqa.indexer.loading.ledger.file_number``."""
    held: LoadedFile | None = None
    """What the ledger says of this content, under whatever name."""
    copy: bool = False
    """The same content was given before."""
    replaces: bool = False
    """A file of this name was loaded with another content."""
    refused: str = ""
    """Why it cannot be loaded now, if it cannot."""

    @property
    def name(self) -> str:
        return self.path.name


def steps(
    files: Sequence[Path], loaded: Sequence[LoadedFile], orders_itself: bool, threads: int
) -> tuple[Step, ...]:
    """The files in the order in which they count: as given, but NLM's files by their numbers.

    A file that is not loaded yet takes a number between those of its neighbours in the list. There may be
    none left; then an index that goes by numbers (``orders_itself``) cannot take it. Any other index cannot
    take one of NLM's files whose successors are loaded and not given along, to be applied once more.
    """
    files = _in_order(files)
    held = _held(files, loaded, threads)
    numbers = _numbers(files, held, loaded)
    made = []
    seen: set[str] = set()
    loaded_names = {entry.name for entry in loaded}
    for position, (path, entry) in enumerate(zip(files, held, strict=True)):
        refused = ""
        if entry is None and orders_itself:
            refused = _without_place(position, numbers, held, loaded, files)
        elif entry is None:
            refused = _before_loaded(path, files, held, loaded)
        copy = entry is not None and entry.md5 in seen
        seen |= {entry.md5} if entry else set()
        replaces = entry is None and path.name in loaded_names
        made.append(Step(path, path.stat().st_size, numbers[position], entry, copy, replaces, refused))
    return tuple(made)


def _in_order(files: Sequence[Path]) -> list[Path]:
    """NLM's files in the order of their numbers, in the places that they have together."""
    numbered = iter(sorted(filter(_is_medline, files), key=lambda path: file_number(path.name, ())))
    return [next(numbered) if _is_medline(path) else path for path in files]


def _is_medline(path: Path) -> bool:
    return MEDLINE_NAME.fullmatch(path.name) is not None


def _held(files: Sequence[Path], loaded: Sequence[LoadedFile], threads: int) -> list[LoadedFile | None]:
    """The ledger's entry of each file's content. Only files of a size that it knows are read."""
    entries = {entry.md5: entry for entry in loaded}
    sizes = {entry.size_bytes for entry in loaded}

    def find(path: Path) -> LoadedFile | None:
        try:
            return entries.get(md5_of(path)) if path.stat().st_size in sizes else None
        except OSError:  # the parser will tell
            return None

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(find, files))


def _numbers(
    files: Sequence[Path], held: Sequence[LoadedFile | None], loaded: Sequence[LoadedFile]
) -> list[int]:
    """From the last file to the first, each of no number of its own just before its successor."""
    own = [
        entry.number if entry else file_number(path.name, ()) if _is_medline(path) else None
        for path, entry in zip(files, held, strict=True)
    ]
    known = [entry.number for entry in loaded] + [number for number in own if number is not None]
    ceiling = 1 + max(known, default=0) + own.count(None)
    if ceiling > 1 << FILES_BITS:
        raise BioqaError(f"{len(files)} files are more than there are numbers left for in this index")
    numbers = []
    for number in reversed(own):
        number = ceiling - 1 if number is None else number
        ceiling = min(ceiling, number)
        numbers.append(number)
    return numbers[::-1]


def _without_place(
    position: int,
    numbers: Sequence[int],
    held: Sequence[LoadedFile | None],
    loaded: Sequence[LoadedFile],
    files: Sequence[Path],
) -> str:
    """Why a file has no number of its own between its neighbours; "" if it has one."""
    path, number = files[position], numbers[position]
    if _is_medline(path):
        if any(entry.name == path.name for entry in loaded):
            return f"{path} is loaded already with another content; load all into a new index"
        return ""
    before = max((numbers[p] for p in range(position) if held[p] or _is_medline(files[p])), default=0)
    taken = {entry.number for entry in loaded}
    if number > before and number not in taken:
        return ""
    after = next(files[p].name for p in range(position + 1, len(files)) if numbers[p] > number)
    return (
        f"{path} cannot be put before {after}, which is loaded or has a number: "
        "give it after the files that are loaded, or load all into a new index"
    )


def _before_loaded(
    path: Path, files: Sequence[Path], held: Sequence[LoadedFile | None], loaded: Sequence[LoadedFile]
) -> str:
    """Why one of NLM's files cannot be loaded without its successors; "" if it can be."""
    if not _is_medline(path):
        return ""
    given = {entry.md5 for entry in held if entry} | {other.name for other in files}
    number = file_number(path.name, ())
    later = list(_later(number, given, loaded))
    if not later:
        return ""
    more = f" and {len(later) - MAX_NAMES_SHOWN} more" if len(later) > MAX_NAMES_SHOWN else ""
    return (
        f"{path} counts before files that are loaded already and would undo what they say; "
        f"give these along, to be applied again after it: {', '.join(later[:MAX_NAMES_SHOWN])}{more}"
    )


def _later(number: int, given: Set[str], loaded: Sequence[LoadedFile]) -> Iterator[str]:
    for entry in sorted(loaded, key=lambda entry: entry.number):
        if (
            entry.number > number
            and MEDLINE_NAME.fullmatch(entry.name)
            and not given & {entry.name, entry.md5}
        ):
            yield entry.name
