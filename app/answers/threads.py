"""torch's threads: as many as the settings and the rankers want, and one after a fork."""

import os
from functools import cache

from bioqa.app.settings import Settings

_needed = 1
"""Threads that the rankers loaded so far need: threads are torch's, not a ranker's."""

_most = 1
"""The most threads that torch has had here."""

_forked = False
"""Whether this process was forked from one whose torch had several threads."""


def use_threads(settings: Settings, processes: int, *, encoder: bool) -> None:
    """Set the number of torch's threads for a ranker, with an ``encoder`` or not."""
    import torch

    global _needed, _most
    threads = settings.threads(encoder=encoder, processes=processes)
    if settings.torch_threads is None:
        threads = _needed = max(_needed, threads)
    threads = 1 if _forked else threads
    _most = max(_most, threads)
    torch.set_num_threads(threads)
    _watch_forks()


@cache
def _watch_forks() -> None:
    # A fork copies the calling thread alone, but torch's record of its pool, too: with more than one thread
    # the child would hand work to threads that do not exist, and wait for them for ever.
    os.register_at_fork(after_in_child=_use_one_thread)


def _use_one_thread() -> None:
    import torch

    global _forked
    if _most > 1:
        _forked = True
        torch.set_num_threads(1)
