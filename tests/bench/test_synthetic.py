from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench import synthetic
from bench.synthetic import Generator, Shares
from bench.vocabulary import DISCOUNT, GrowingVocabulary
from bioqa.bioasq.domain import Document
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.medline.reader import MedlineFile
from bioqa.indexer.medline.sentences import sentences_of

SHARES = Shares()
TOPICS = ("asthma", "gout", "rickets", "scurvy", "anthrax", "mumps")


def given(number: int) -> Document:
    """An invented citation of three sentences."""
    topic = TOPICS[number % len(TOPICS)]
    title = f"Of {topic} in town {number}."
    abstract = f"We saw {topic} <0.{number} often. Drug x{number} & rest were tried. Most of them were well."
    return Document(str(number), 1, title, abstract, sentences=sentences_of(title, abstract, ()))


GIVEN = [given(number) for number in range(1, 61)]


def generated(
    folder: Path, citations: int, seed: int = 0, shares: Shares = SHARES, of: Sequence[Document] = GIVEN
) -> list[Document]:
    folder.mkdir()
    files = list(Generator(of, seed, shares).files(folder, citations))
    events = [event for path in files for event in MedlineFile(path)]
    return [event.document for event in events if isinstance(event, Upsert)]


def test_files_are_named_and_cut_as_nlms_and_their_pmids_ascend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(synthetic, "CITATIONS_PER_FILE", 20)
    documents = generated(tmp_path / "out", 50)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "pubmed99n0001.xml.gz",
        "pubmed99n0002.xml.gz",
        "pubmed99n0003.xml.gz",
    ]
    assert [document.pmid for document in documents] == [str(pmid) for pmid in range(1, 51)]


def test_the_seed_decides_everything(tmp_path: Path) -> None:
    assert generated(tmp_path / "a", 30, seed=1) == generated(tmp_path / "b", 30, seed=1)
    assert generated(tmp_path / "c", 30, seed=2) != generated(tmp_path / "d", 30, seed=1)


def test_shares_without_abstract_and_with_labels(tmp_path: Path) -> None:
    documents = generated(tmp_path / "out", 2000, shares=Shares(without_abstract=0.25, structured=0))
    assert sum(not document.abstract for document in documents) == pytest.approx(500, abs=80)
    assert not any(part.label for document in documents for part in document.parts)
    assert all(document.published for document in documents)


def test_abstracts_are_of_given_sentences_and_length(tmp_path: Path) -> None:
    documents = generated(tmp_path / "out", 300, shares=Shares(0, 0))
    # Some words of any sentence are replaced by new ones.
    first = Counter(document.abstract.split()[0] for document in documents)
    assert sum(first[word] for word in ("We", "Drug", "Most")) > 285
    assert {len(document.sentences) - 1 for document in documents} == {3}
    assert all(document.abstract.count("often.") <= 2 for document in documents)


def test_the_vocabulary_grows_by_heaps_law() -> None:
    known = 2000
    vocabulary = GrowingVocabulary(Counter({f"w{number}": 1 for number in range(known)}))
    drawn = 20_000
    words = Counter(vocabulary.draw() for _ in range(drawn))
    start = DISCOUNT * known
    expected = known * ((1 + drawn / start) ** DISCOUNT - 1)
    assert vocabulary.minted == pytest.approx(expected, rel=0.06)
    assert len(words) <= vocabulary.minted
    # A share of the discount comes only once, in the long run.
    assert 0.4 < sum(count == 1 for count in words.values()) / len(words) < 0.8


def test_long_abstracts_can_be_structured(tmp_path: Path) -> None:
    longer = [
        Document(d.pmid, 1, d.title, text, sentences=sentences_of(d.title, text, ()))
        for d in GIVEN
        for text in [f"{d.abstract} All was told. Nothing more is known."]
    ]
    documents = generated(tmp_path / "out", 50, shares=Shares(0, 1), of=longer)
    assert all(len(document.parts) == 4 for document in documents)
    assert {d.parts[2].label for d in documents} == {"RESULTS"}


def test_only_rare_words_are_replaced_the_rarest_most() -> None:
    vocabulary = GrowingVocabulary(Counter({"often": 100, "twice": 2, "once": 1}))
    assert vocabulary.replaceable("Once, twice, often") == (
        (0, 4, DISCOUNT),
        (6, 11, DISCOUNT / 2),
    )
