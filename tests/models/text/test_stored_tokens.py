"""Tokens beside an index: read where the text is the same, and never in the way."""

import json
import logging
import mmap
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from bioqa.bioasq.domain import Document, Sentence
from bioqa.indexer.search.records import decode, encode
from bioqa.models.text import stored_tokens
from bioqa.models.text.documents import DocumentTokens
from bioqa.models.text.stored_tokens import (
    HEADER_BYTES,
    StoredTokens,
    StoredTokensError,
    TokensBeside,
    digests,
    file_name,
    header_of,
    pmids,
)
from bioqa.models.text.storing_tokens import store
from bioqa.models.text.tokens import TokenisedDocument, tokenise_documents
from bioqa.models.text.vocabulary import Vocabulary
from tests.models.text.test_token_records import WITHOUT_PIECES, assert_same
from tests.models.text.test_tokens import VOCABULARY
from tests.models.toys import DOCUMENTS, document, pieces_of, vocabulary_of

EXPECTED = tokenise_documents(DOCUMENTS, VOCABULARY)
OTHER_VOCABULARY = vocabulary_of(("velorin", "other"))
OTHER_PIECES = replace(VOCABULARY, pieces=pieces_of(("zel", "##osis")))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return store(DOCUMENTS, VOCABULARY, tmp_path).path


def known(beside: TokensBeside, documents: tuple[Document, ...] = DOCUMENTS) -> list[bool]:
    return [tokens is not None for tokens in beside(documents)]


def test_what_is_stored_is_what_tokenising_makes(path: Path) -> None:
    for vocabulary in (VOCABULARY, WITHOUT_PIECES):
        found = TokensBeside(path.parent, vocabulary)(DOCUMENTS)
        assert_same([each for each in found if each], tokenise_documents(DOCUMENTS, vocabulary))


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


def of_another_format(content: bytes) -> bytes:
    return changed_header(content, format=99)


def changed_header(content: bytes, **values: object) -> bytes:
    header = json.loads(content[:HEADER_BYTES].split(b"\n")[1])
    return header_of({**header, **values}) + content[HEADER_BYTES:]


DAMAGE = {
    "cut off": cut_off,
    "longer": longer,
    "empty": nothing,
    "half a header": half_a_header,
    "only a header": only_a_header,
    "another file": another_file,
    "header": flipped(30),
    "first record": flipped(HEADER_BYTES + 3),
    "dictionary": flipped(-9),
    "format": of_another_format,
    "no arrays": lambda content: changed_header(content, arrays={}),
    "arrays beyond the end": lambda content: changed_header(
        content, arrays=dict.fromkeys(stored_tokens.PER_DOCUMENT | stored_tokens.DICTIONARY, (10**9, 10**9))
    ),
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
    with pytest.raises(StoredTokensError, match="cannot be read"):
        StoredTokens.open(path)


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
