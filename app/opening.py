"""Opening what the settings name: the index and the ranker's checkpoint.

Rankers are imported here and only when asked for: torch takes seconds, which ``bioqa --help`` should not.
"""

from app.answering import Answerer, Ranks
from app.settings import Settings
from bioasq.errors import BioqaError
from indexer.search import opening
from indexer.search.base import SearchIndex
from indexer.target import LoadTarget


def index_place(settings: Settings) -> str:
    """The index's folder or URL. Raises BioqaError if none is named."""
    if settings.index is None:
        raise BioqaError(
            "no index is named: give --index DIR or URL, or set BIOQA_INDEX "
            "(`bioqa index FILE… --index DIR` makes one, `bioqa demo` a small one)"
        )
    return settings.index


def open_index(settings: Settings) -> SearchIndex:
    return opening.open_index(index_place(settings), settings.access())


def open_target(settings: Settings, joiner: str = "") -> LoadTarget:
    """The index to load files into, made if it is not there."""
    return opening.open_target(index_place(settings), joiner, settings.access(), settings.shape())


def load_ranker(settings: Settings) -> Ranks:
    """Raises BioqaError, naming what is wrong with the checkpoint."""
    import torch

    from models import cascade_files
    from models.reranker import Reranker

    torch.set_num_threads(settings.torch_threads)
    if folder := cascade_files.folder_of(settings.ranker):
        return cascade_files.load(folder, budget_ms=settings.ranker_budget_ms)
    return Reranker.load(settings.ranker)


def open_answerer(settings: Settings) -> Answerer:
    """The index first: it opens at once, and its absence is the likelier mistake."""
    return Answerer(open_index(settings), load_ranker(settings))
