"""Opening what the settings name: the index and the ranker's checkpoint.

Rankers are imported here and only when asked for: torch takes seconds, which ``bioqa --help`` should not.
"""

from pathlib import Path

from bioqa.app.answers.answering import Answerer, Ranks
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Candidate, Document, Sentence
from bioqa.bioasq.errors import BioqaError
from bioqa.indexer import opening
from bioqa.indexer.loading.target import LoadTarget
from bioqa.indexer.search.base import SearchIndex


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
    """Raises BioqaError, naming what is wrong with the checkpoint or the device."""
    return _load(settings.ranker, settings)


def load_rankers(settings: Settings) -> list[Ranks]:
    """The default ranker and the further ones, each having ranked once, so that no question has to wait for
    what the first one costs.

    Raises BioqaError, naming what is wrong: with a checkpoint, the device, or two of one name.
    """
    wanted = [settings.ranker, *filter(None, map(str.strip, (settings.rankers or "").split(",")))]
    loaded: dict[str, Ranks] = {}
    for place in wanted:
        name = Path(place).name
        if name in loaded:
            raise BioqaError(f"rankers are served by name, but of {', '.join(wanted)} two are called {name}")
        loaded[name] = _load(place, settings)
        warm_up(loaded[name])
    return [*loaded.values()]


def warm_up(ranker: Ranks) -> None:
    """Rank once what is like a small question."""
    title, abstract = "Metformin in type 2 diabetes.", "Metformin lowered glucose. Placebo did not."
    sentences = (Sentence("title", 0, 29), Sentence("abstract", 0, 26), Sentence("abstract", 27, 43))
    document = Document("1", 1, title, abstract, None, sentences)
    ranker.rank("Is metformin better than placebo?", [Candidate(document, 1.0)])


def _load(place: str, settings: Settings) -> Ranks:
    import torch

    from bioqa.models.cascade import files as cascade_files
    from bioqa.models.encoders.loading import device_of
    from bioqa.models.reranker import Reranker

    # Told even if no ranker has an encoder.
    device_of(settings.device)
    torch.set_num_threads(settings.torch_threads)
    if folder := cascade_files.folder_of(place):
        return cascade_files.load(folder, budget_ms=settings.ranker_budget_ms, device=settings.device)
    return Reranker.load(place, device=settings.device)


def open_answerer(settings: Settings) -> Answerer:
    """The index first: it opens at once, and its absence is the likelier mistake."""
    return Answerer(open_index(settings), load_ranker(settings))
