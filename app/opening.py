"""Opening what the settings name: the index's folder and the ranker's checkpoint.

Rankers are imported here and only when asked for: torch takes seconds, which ``bioqa --help`` should not.
"""

from pathlib import Path

from app.answering import Answerer, Ranks
from app.settings import Settings
from bioasq.errors import BioqaError
from indexer.search.base import SearchIndex
from indexer.search.tantivy import TantivyIndex


def index_folder(settings: Settings) -> Path:
    """Raises BioqaError if none is named."""
    if settings.index is None:
        raise BioqaError(
            "no index is named: give --index DIR or set BIOQA_INDEX "
            "(`bioqa index FILE… --index DIR` makes one, `bioqa demo` a small one)"
        )
    return settings.index


def open_index(settings: Settings) -> SearchIndex:
    return TantivyIndex.open(index_folder(settings))


def load_ranker(settings: Settings) -> Ranks:
    """Raises BioqaError, naming what is wrong with the checkpoint."""
    import torch

    from models.reranker import Reranker

    torch.set_num_threads(settings.torch_threads)
    return Reranker.load(settings.ranker)


def open_answerer(settings: Settings) -> Answerer:
    """The index first: it opens at once, and its absence is the likelier mistake."""
    return Answerer(open_index(settings), load_ranker(settings))
