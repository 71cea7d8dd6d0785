"""Every feature is said in words."""

from bioqa.models.features.extractor import DOCUMENT_FEATURES, SENTENCE_FEATURES
from bioqa.models.features.words import DOCUMENT_WORDS, SENTENCE_WORDS, describe


def test_every_feature_has_words_and_no_others_do() -> None:
    assert set(DOCUMENT_WORDS) >= set(DOCUMENT_FEATURES)
    assert set(SENTENCE_WORDS) >= set(SENTENCE_FEATURES)
    assert not (set(DOCUMENT_WORDS) | set(SENTENCE_WORDS)) - set(DOCUMENT_FEATURES) - set(SENTENCE_FEATURES)
    assert describe("document", "sentences") == "sentences: its number of sentences"
    assert describe("document", "of tomorrow") == "of tomorrow"
