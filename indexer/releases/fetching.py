"""Fetching files in a few threads, in order, and a bounded number ahead of the consumer."""

from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from bioqa.indexer.releases.source import BadFile, FetchedFile, PublishedFile, Source


def fetch_ahead(
    source: Source, files: Sequence[PublishedFile], threads: int, ahead: int
) -> Generator[FetchedFile, None, tuple[PublishedFile, BadFile] | None]:
    """Yield files in order when they are fetched. Stops before a bad file, and returns it with its error."""
    fetching: deque[tuple[PublishedFile, Future[FetchedFile]]] = deque()
    remaining = iter(files)
    with ThreadPoolExecutor(threads, thread_name_prefix="fetching") as pool:
        try:
            while True:
                while len(fetching) < ahead and (file := next(remaining, None)) is not None:
                    fetching.append((file, pool.submit(source.fetch, file)))
                if not fetching:
                    return None
                file, future = fetching.popleft()
                try:
                    fetched = future.result()
                except BadFile as error:
                    return file, error
                yield fetched
        finally:
            pool.shutdown(cancel_futures=True)
