"""The command ``bioqa tokens``."""

from bioqa.app.answers.opening import index_folder, load_ranker
from bioqa.app.cli.console import progress, say
from bioqa.app.cli.options import IndexOption, RankerOption
from bioqa.app.settings import load_settings
from bioqa.system.errors import BioqaError


def tokens(index: IndexOption = None, ranker: RankerOption = None) -> None:
    """Store how a ranker reads the citations of an index in a folder, in a file beside it.

    From then on, also in a running service, questions are answered sooner, with the same scores. Run it again
    after an update: only citations that are new, or whose text was revised, are read again; until then, those
    take as long as before. Interrupted, it leaves the old file.
    """
    # Not while `bioqa --help` waits.
    from bioqa.indexer.releases.folder_shelf import current_folder
    from bioqa.indexer.search.tantivy.index import TantivyIndex
    from bioqa.models.text.stored_tokens import store

    settings = load_settings(index=index, ranker=ranker)
    folder = index_folder(settings, "tokens")
    with TantivyIndex.open(current_folder(folder), folder) as opened:
        total = opened.stats().documents
        loaded = load_ranker(settings)
        vocabulary = getattr(loaded, "vocabulary", None)
        if vocabulary is None:
            raise BioqaError(f"the ranker {loaded.name} has no vocabulary to store tokens of")
        with progress("storing tokens", total) as report:
            stored = store(
                opened.documents(),
                vocabulary,
                opened.beside,
                lambda done: report(done, f"{done:,}/{total:,} citations"),
            )
    say(
        f"{stored.path}: citations {stored.documents:,}, of these new or revised {stored.made:,}; "
        f"{stored.bytes / 1e6:,.1f} MB"
    )
