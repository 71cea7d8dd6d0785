"""Open what the settings name: the index and the rankers' checkpoints.

Rankers are imported inside functions: torch takes seconds to import, which ``bioqa --help`` should not.
"""

from pathlib import Path

from bioqa.app.answers import vectors
from bioqa.app.answers.answering import Answerer, Ranker
from bioqa.app.answers.threads import use_threads
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Candidate, Document, Sentence
from bioqa.indexer import opening
from bioqa.indexer.loading.target import LoadTarget
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.elastic.address import folder_path, is_url
from bioqa.system.errors import BioqaError


def index_location(settings: Settings) -> str:
    """Return the index's folder or URL. Raises BioqaError if none is set."""
    if settings.index is None:
        raise BioqaError(
            "no index is named: give --index DIR or URL, or set BIOQA_INDEX "
            "(`bioqa index FILE… --index DIR` builds one, `bioqa demo` a small one)"
        )
    return settings.index


def index_folder(settings: Settings, what: str) -> Path:
    """Return the folder of an index that ``what`` ("tokens", say) is a file beside. Raises BioqaError."""
    where = index_location(settings)
    if is_url(where):
        raise BioqaError(
            f"{where} is in Elasticsearch, and {what} are a file in an index's folder; "
            "Elasticsearch has no place for them yet"
        )
    return folder_path(where)


def open_index(settings: Settings) -> SearchIndex:
    return opening.open_index(index_location(settings), settings.access())


def open_target(settings: Settings, joiner: str = "") -> LoadTarget:
    """Open the index to load files into, creating it if necessary."""
    return opening.open_target(index_location(settings), joiner, settings.access(), settings.shape())


def load_ranker(settings: Settings) -> Ranker:
    """Load the default ranker. Raises BioqaError, naming what is wrong with the checkpoint or the device."""
    return _beside_index(_load(settings.ranker, settings), settings)


def load_rankers(settings: Settings, processes: int = 1) -> list[Ranker]:
    """Load and warm up the default ranker and the further ones; so many processes share the cores.

    Raises BioqaError, naming what is wrong with a checkpoint or the device, or two rankers of one name.
    """
    locations = [settings.ranker, *filter(None, map(str.strip, (settings.rankers or "").split(",")))]
    loaded: dict[str, Ranker] = {}
    for location in locations:
        name = Path(location).name
        if name in loaded:
            raise BioqaError(
                f"rankers are served by name, but two of {', '.join(locations)} are called {name}"
            )
        loaded[name] = _beside_index(_load(location, settings, processes), settings)
        warm_up(loaded[name])
    if settings.index is not None and not is_url(settings.index):
        vectors.warm_up(folder_path(settings.index))
    return [*loaded.values()]


def warm_up(ranker: Ranker) -> None:
    """Rank a small question, so that no client waits for what the first call to a model costs."""
    from bioqa.models.answers.evidence import confidence

    title, abstract = "Metformin in type 2 diabetes.", "Metformin lowered glucose. Placebo did not."
    sentences = (Sentence("title", 0, 29), Sentence("abstract", 0, 26), Sentence("abstract", 27, 43))
    document = Document("1", 1, title, abstract, None, sentences)
    question = "Is metformin better than placebo?"
    candidates = [Candidate(document, 1.0)]
    confidence(question, ranker.rank(question, candidates), ranker.calibration)


def _beside_index(ranker: Ranker, settings: Settings) -> Ranker:
    """The ranker, which reads what is stored beside the index, or will be."""
    if settings.index is not None and not is_url(settings.index):
        ranker.read_stored_tokens(folder_path(settings.index))
    return ranker


def _load(location: str, settings: Settings, processes: int = 1) -> Ranker:
    from bioqa.models.answers import baseline

    if folder := baseline.folder_of(location):
        return baseline.load(folder)

    from bioqa.models.cascade import files as cascade_files
    from bioqa.models.encoders.loading import device_of
    from bioqa.models.reranker import Reranker

    # A device that is missing is reported even if no ranker has an encoder.
    device_of(settings.device)
    if folder := cascade_files.folder_of(location):
        # Before it is loaded: its speed is that of so many threads.
        use_threads(settings, processes, encoder=True)
        return cascade_files.load(folder, budget_ms=settings.ranker_budget_ms, device=settings.device)
    ranker = Reranker.load(location, device=settings.device)
    use_threads(settings, processes, encoder=ranker.reads_pieces)
    return ranker


def open_answerer(settings: Settings) -> Answerer:
    """Open the index, then the ranker: the index opens at once, and its absence is the likelier mistake."""
    return Answerer(open_index(settings), load_ranker(settings))
