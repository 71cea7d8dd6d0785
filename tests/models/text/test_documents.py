from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from bioqa.models.text.documents import DocumentTokens
from bioqa.models.text.tokens import TokenisedDocument, tokenise_documents
from bioqa.models.text.vocabulary import Vocabulary
from tests.models.toys import DOCUMENTS


def _words(found: list[TokenisedDocument]) -> list[list[int]]:
    return [tokens.words.tolist() for tokens in found]


def test_the_cache_keeps_the_most_recently_used(vocabulary: Vocabulary) -> None:
    tokens = DocumentTokens(vocabulary, capacity=2)
    one, two, three = DOCUMENTS[:3]
    first = tokens([one, two])
    assert tokens([one])[0] is first[0]
    tokens([three])
    assert tokens([one])[0] is first[0]
    again = tokens([two])[0]
    assert again is not first[1]
    assert again.words.tolist() == first[1].words.tolist()


def test_without_a_cache_the_same(vocabulary: Vocabulary) -> None:
    cached, not_cached = DocumentTokens(vocabulary), DocumentTokens(vocabulary, capacity=0)
    assert _words(cached(DOCUMENTS)) == _words(not_cached(DOCUMENTS))
    assert not_cached(DOCUMENTS[:1])[0] is not not_cached(DOCUMENTS[:1])[0]


def test_a_revised_document_is_read_anew(vocabulary: Vocabulary) -> None:
    tokens = DocumentTokens(vocabulary)
    before = DOCUMENTS[0]
    after = replace(before, abstract=before.abstract.replace("forty", "eighty"))
    assert tokens([before])[0].words.tolist() != tokens([after])[0].words.tolist()


def test_threads_share_the_cache(vocabulary: Vocabulary) -> None:
    tokens = DocumentTokens(vocabulary, capacity=3)
    expected = _words([tokenise_documents([d], vocabulary)[0] for d in DOCUMENTS])
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: _words(tokens(DOCUMENTS)), range(12)))
    assert found == [expected] * 12


def test_a_document_twice_in_one_call_is_read_once(vocabulary: Vocabulary) -> None:
    one, two = DOCUMENTS[:2]
    found = DocumentTokens(vocabulary, capacity=1)([one, two, one])
    assert found[0] is found[2]
    assert _words(found) == _words([tokenise_documents([d], vocabulary)[0] for d in (one, two, one)])


def test_what_somebody_sent_is_not_kept(vocabulary: Vocabulary) -> None:
    tokens = DocumentTokens(vocabulary)
    sent = replace(DOCUMENTS[0], pmid="")
    assert tokens([sent])[0] is not tokens([sent])[0]
