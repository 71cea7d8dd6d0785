"""Tokens beside an index: read where the text is the same, and never in the way."""

import logging
import mmap
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.bioasq.domain import Document, Sentence
from bioqa.indexer.search.records import decode, encode
from bioqa.models.arrays import Ints
from bioqa.models.text import stored_tokens
from bioqa.models.text.documents import DocumentTokens
from bioqa.models.text.stored_tokens import (
    TokensBeside,
    digests,
    file_name,
    pmids,
    record_of,
    store,
    tokens_of,
)
from bioqa.models.text.tokens import TokenisedDocument, tokenise_documents
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.system.arrayfile import HEADER_BYTES
from bioqa.system.errors import BioqaError
from tests.models.text.test_tokens import TEXT, VOCABULARY
from tests.models.toys import DOCUMENTS, document, pieces_of, vocabulary_of

EXPECTED = tokenise_documents(DOCUMENTS, VOCABULARY)
WITHOUT_PIECES = replace(VOCABULARY, pieces=None)
OTHER_VOCABULARY = vocabulary_of(("velorin", "other"))
OTHER_PIECES = replace(VOCABULARY, pieces=pieces_of(("zel", "##osis")))
REVISED = replace(DOCUMENTS[3], abstract="Nothing of it.", sentences=DOCUMENTS[3].sentences[:1])


def assert_same(found: Sequence[TokenisedDocument | None], expected: Sequence[TokenisedDocument]) -> None:
    """Also in the kinds of numbers."""
    for one, other in zip(found, expected, strict=True):
        assert one is not None
        for name in (field.name for field in fields(TokenisedDocument)):
            assert getattr(one, name).dtype == getattr(other, name).dtype
            assert getattr(one, name).tolist() == getattr(other, name).tolist()


def assert_come_back(documents: Sequence[Document], vocabulary: Vocabulary = VOCABULARY) -> None:
    """Records have what tokenising makes, with pieces and without."""
    expected = tokenise_documents(documents, vocabulary)
    records = [record for record in map(record_of, expected) if record is not None]
    pieces = vocabulary.pieces is not None
    assert_same([tokens_of(record, pieces=pieces) for record in records], expected)
    without = tokenise_documents(documents, replace(vocabulary, pieces=None))
    assert_same([tokens_of(record, pieces=False) for record in records], without)


def test_records_come_back(vocabulary: Vocabulary) -> None:
    greek = document(3, "Zelosis (IL-2/TNF-α)\u2028\x1cin ΟΔΟΣ.")
    spans = (Sentence("title", 0, 3), Sentence("abstract", 2, 90), Sentence("abstract", 0, 9))
    odd = Document("7", 1, "Zelosis", "Velorin cures it.", None, spans)
    for other in (VOCABULARY, WITHOUT_PIECES, vocabulary):
        assert_come_back([document(1), TEXT, *DOCUMENTS, greek, odd, document(4), document(5, "...")], other)


@given(st.lists(st.text(), max_size=4), st.text())
def test_any_text(sentences: list[str], title: str) -> None:
    assert_come_back([document(1, title, *sentences), document(2, title), document(3)])


IDS = st.lists(st.integers(-(1 << 32), (1 << 40)) | st.integers(65_533, 65_537)).map(np.array)


@given(IDS, IDS, IDS)
def test_any_ids(words: Ints, stems: Ints, pieces: Ints) -> None:
    ids = [each.astype(np.int64) for each in (words, stems, pieces)]
    counts = [np.array([len(each), 0]) for each in ids]
    tokens = TokenisedDocument(
        *(ids[0], counts[0]),
        *(ids[1], counts[1]),
        *(ids[2], counts[2]),
        characters=np.array([65_535, 0]),
        titles=np.array([True, False]),
    )
    record = record_of(tokens)
    assert record is not None
    assert_same([tokens_of(record, pieces=True)], [tokens])


@pytest.mark.parametrize(
    "huge", [document(999, "a " * 70_000), document(999, *["x"] * 70_000)], ids=["words", "sentences"]
)
def test_a_document_that_does_not_fit_is_left_out(tmp_path: Path, huge: Document) -> None:
    for made in (len(DOCUMENTS), 0):
        stored = store([*DOCUMENTS, huge], VOCABULARY, tmp_path)
        assert (stored.documents, stored.made) == (len(DOCUMENTS), made)
    assert TokensBeside(tmp_path, VOCABULARY)([huge]) == [None]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return store(DOCUMENTS, VOCABULARY, tmp_path).path


def known(beside: TokensBeside, documents: tuple[Document, ...] = DOCUMENTS) -> list[bool]:
    return [tokens is not None for tokens in beside(documents)]


def test_what_is_stored_is_what_tokenising_makes(path: Path) -> None:
    for vocabulary in (VOCABULARY, WITHOUT_PIECES):
        found = TokensBeside(path.parent, vocabulary)(DOCUMENTS)
        assert_same(found, tokenise_documents(DOCUMENTS, vocabulary))


def test_rankers_take_it_and_tokenise_the_rest(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = DocumentTokens(VOCABULARY)
    tokens.look_in(path.parent)
    tokens.look_in(path.parent)
    revised = replace(DOCUMENTS[0], abstract=DOCUMENTS[0].abstract.replace("forty", "eighty"))
    sent = replace(DOCUMENTS[1], pmid="")
    many = [DOCUMENTS[0], revised, sent, document(4), *DOCUMENTS]
    assert_same(tokens(many), tokenise_documents(many, VOCABULARY))
    asked: list[str] = []

    def asking(found: Sequence[Document]) -> list[TokenisedDocument]:
        asked.extend(each.pmid for each in found)
        return []

    monkeypatch.setattr(tokens, "_tokenised", asking)
    assert_same(tokens(DOCUMENTS), EXPECTED)
    assert asked == []


def test_several_folders(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    more = [document(7, "Velorin."), document(8, "Zelosis.")]
    store(more, VOCABULARY, other)
    tokens = DocumentTokens(VOCABULARY)
    for folder in (path.parent, other, tmp_path / "nowhere"):
        tokens.look_in(folder)
    many = [more[0], *DOCUMENTS, more[1], document(9, "The.")]
    assert_same(tokens(many), tokenise_documents(many, VOCABULARY))


@pytest.mark.parametrize(
    "change",
    [
        lambda d: replace(d, title=d.title + " "),
        lambda d: replace(d, abstract=d.abstract.upper()),
        lambda d: replace(d, title=d.title + d.abstract, abstract=""),
        lambda d: replace(d, sentences=d.sentences[:-1]),
        lambda d: replace(d, sentences=(*d.sentences[:-1], Sentence("abstract", 0, 3))),
        lambda d: replace(d, sentences=(replace(d.sentences[0], section="abstract"), *d.sentences[1:])),
        lambda d: replace(d, pmid=""),
        lambda d: replace(d, pmid="999"),
        lambda d: replace(d, pmid="9" * 30),
        lambda d: replace(d, pmid="²"),
    ],
)
def test_of_another_text_nothing_is_stored(path: Path, change: Callable[[Document], Document]) -> None:
    beside = TokensBeside(path.parent, VOCABULARY)
    assert known(beside, (change(DOCUMENTS[0]), DOCUMENTS[1])) == [False, True]


def test_a_new_version_of_the_same_text_is_stored(path: Path) -> None:
    beside = TokensBeside(path.parent, VOCABULARY)
    assert known(beside, (replace(DOCUMENTS[0], version=2),)) == [True]


def test_documents_of_an_index_have_the_same_digests() -> None:
    lazy = [decode(encode(each)) for each in DOCUMENTS]
    assert digests(lazy).tolist() == digests(DOCUMENTS).tolist()
    assert len({*digests(DOCUMENTS).tolist()}) == len(DOCUMENTS)
    assert pmids([document(12), document("0"), document("x"), document(10**18)]).tolist() == [12, 0, -1, -1]


def test_a_half_character_is_no_error(path: Path) -> None:
    assert known(TokensBeside(path.parent, VOCABULARY), (document(101, "\ud800"),)) == [False]


def test_no_documents(path: Path, tmp_path: Path) -> None:
    assert TokensBeside(path.parent, VOCABULARY)([]) == []
    empty = tmp_path / "empty"
    empty.mkdir()
    store([], VOCABULARY, empty)
    assert not any(known(TokensBeside(empty, VOCABULARY)))


def test_a_file_may_appear_change_and_go(tmp_path: Path) -> None:
    beside = TokensBeside(tmp_path, VOCABULARY)
    assert not any(known(beside))
    path = store(DOCUMENTS[:1], VOCABULARY, tmp_path).path
    assert known(beside).count(True) == 1
    store(DOCUMENTS, VOCABULARY, tmp_path)
    assert all(known(beside))
    path.unlink()
    assert not any(known(beside))


def cut_off(content: bytes) -> bytes:
    return content[:-8]


def longer(content: bytes) -> bytes:
    return content + bytes(8)


def nothing(content: bytes) -> bytes:
    return b""


def half_a_header(content: bytes) -> bytes:
    return content[: HEADER_BYTES // 2]


def only_a_header(content: bytes) -> bytes:
    return content[:HEADER_BYTES]


def another_file(content: bytes) -> bytes:
    return b"\x89PNG" + content[4:]


def flipped(place: int) -> Callable[[bytes], bytes]:
    return lambda content: content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


DAMAGE = {
    "cut off": cut_off,
    "longer": longer,
    "empty": nothing,
    "half a header": half_a_header,
    "only a header": only_a_header,
    "another file": another_file,
    "header": flipped(30),
    "first record": flipped(HEADER_BYTES + 3),
    "name of an array": lambda content: content.replace(b'"ends"', b'"exds"'),
    "fingerprint": lambda content: content.replace(b'"words": "', b'"words": "0').replace(b"  ", b" ", 1),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damage_is_reported_once_and_texts_are_tokenised(
    path: Path, damage: Callable[[bytes], bytes], caplog: pytest.LogCaptureFixture
) -> None:
    path.write_bytes(damage(path.read_bytes()))
    tokens = DocumentTokens(VOCABULARY, capacity=0)
    tokens.look_in(path.parent)
    for _ in range(3):
        assert_same(tokens(DOCUMENTS), EXPECTED)
    (record,) = caplog.records
    assert str(path) in record.getMessage()
    assert record.getMessage().endswith("tokenised instead, which takes longer: run `bioqa tokens`")
    # Once it is made again, it is read again.
    store(DOCUMENTS, VOCABULARY, path.parent)
    assert all(known(TokensBeside(path.parent, VOCABULARY)))


@pytest.mark.parametrize("place", range(40))
def test_no_single_wrong_byte_changes_tokens(path: Path, place: int) -> None:
    content = path.read_bytes()
    path.write_bytes(flipped(len(content) * place // 40)(content))
    tokens = DocumentTokens(VOCABULARY, capacity=0)
    tokens.look_in(path.parent)
    assert_same(tokens(DOCUMENTS), EXPECTED)


def test_a_file_that_is_cut_off_while_it_is_in_use(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    beside = TokensBeside(path.parent, VOCABULARY)
    assert all(known(beside))
    with path.open("rb+") as file:
        file.truncate(mmap.PAGESIZE)
    assert not any(known(beside))
    assert len(caplog.records) == 1


def test_a_file_that_cannot_be_read(path: Path) -> None:
    path.unlink()
    path.mkdir()
    assert not any(known(TokensBeside(path.parent, VOCABULARY)))


@pytest.mark.parametrize("vocabulary", [OTHER_VOCABULARY, OTHER_PIECES], ids=["words", "pieces"])
def test_another_vocabulary_is_reported_once(
    path: Path, vocabulary: Vocabulary, caplog: pytest.LogCaptureFixture
) -> None:
    beside = TokensBeside(path.parent, vocabulary)
    for _ in range(3):
        assert not any(known(beside))
    (record,) = caplog.records
    assert (
        "other word pieces" in record.getMessage() or "not for the ranker's vocabulary" in record.getMessage()
    )
    assert record.levelno == logging.WARNING


def test_another_library_of_stems_or_letters_is_another_vocabulary(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nltk.__version__", "99.0")
    assert file_name(VOCABULARY) != path.name
    assert not any(known(TokensBeside(path.parent, VOCABULARY)))


def test_readers_share_a_file(path: Path) -> None:
    tokens = [DocumentTokens(VOCABULARY, capacity=0) for _ in range(2)]
    for each in tokens:
        each.look_in(path.parent)
    with ThreadPoolExecutor(4) as threads:
        for number, found in enumerate(threads.map(lambda n: tokens[n % 2](DOCUMENTS), range(40))):
            assert_same(found, EXPECTED)
            if number % 10 == 0:
                path.touch()


def assert_stored(folder: Path, documents: Sequence[Document]) -> None:
    assert_same(TokensBeside(folder, VOCABULARY)(documents), tokenise_documents(documents, VOCABULARY))


def test_only_what_is_new_or_revised_is_made(tmp_path: Path) -> None:
    first = store(DOCUMENTS[:10], VOCABULARY, tmp_path)
    assert (first.documents, first.made, first.bytes) == (10, 10, first.path.stat().st_size)
    later = [each if each.pmid != REVISED.pmid else REVISED for each in DOCUMENTS[1:]]
    second = store(later, VOCABULARY, tmp_path)
    assert (second.documents, second.made) == (len(DOCUMENTS) - 1, len(DOCUMENTS) - 10 + 1)
    assert_stored(tmp_path, later)
    content = second.path.read_bytes()
    again = store(later, VOCABULARY, tmp_path)
    assert (again.documents, again.made, again.path.read_bytes()) == (len(later), 0, content)
    assert [*tmp_path.iterdir()] == [second.path]


def test_many_batches_and_their_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_tokens, "AT_ONCE", 4)
    done: list[int] = []
    store(DOCUMENTS, VOCABULARY, tmp_path, done.append)
    assert done == [*range(4, len(DOCUMENTS), 4), len(DOCUMENTS)]
    assert_stored(tmp_path, DOCUMENTS)


@pytest.mark.parametrize(("damage", "made"), [(cut_off, len(DOCUMENTS)), (flipped(HEADER_BYTES + 3), 1)])
def test_what_is_damaged_is_made_anew(
    path: Path, damage: Callable[[bytes], bytes], made: int, caplog: pytest.LogCaptureFixture
) -> None:
    path.write_bytes(damage(path.read_bytes()))
    assert store(DOCUMENTS, VOCABULARY, path.parent).made == made
    assert caplog.records == []
    assert_stored(path.parent, DOCUMENTS)


def test_other_pieces_replace_it_but_none_do_not(tmp_path: Path) -> None:
    store(DOCUMENTS, WITHOUT_PIECES, tmp_path)
    assert store(DOCUMENTS, OTHER_PIECES, tmp_path).made == len(DOCUMENTS)
    assert store(DOCUMENTS, VOCABULARY, tmp_path).made == len(DOCUMENTS)
    with pytest.raises(BioqaError, match="serves those without, too"):
        store(DOCUMENTS, WITHOUT_PIECES, tmp_path)
    assert_stored(tmp_path, DOCUMENTS)


def test_interrupted_it_leaves_the_old_file(path: Path) -> None:
    def interrupted() -> Iterator[Document]:
        yield from DOCUMENTS[:2]
        raise KeyboardInterrupt

    before = path.read_bytes()
    with pytest.raises(KeyboardInterrupt):
        store(interrupted(), VOCABULARY, path.parent)
    assert path.read_bytes() == before
    assert [*path.parent.iterdir()] == [path]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BioqaError, match="cannot be written: No such file"):
        store(DOCUMENTS, VOCABULARY, tmp_path / "nowhere")
