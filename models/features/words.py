"""What each feature is, in a few words: for people who read an explanation."""

from typing import Literal

_LEXICAL = {
    "word_share": "share of the question's words that it has",
    "bigram_share": "share of the question's pairs of words that it has",
    "idf_share": "share of the question's words that it has, rare ones counting more",
    "words": "its length in words",
    "question_characters": "the question's length",
    "characters": "its length in characters",
    "common_content_words": "number of the question's content words that it has",
    "bm25": "BM25, of words as they are written",
    "common_content_idf": "content words in common, rare ones counting more",
    "common_idf_share": "share of the question's words that it has, rare ones counting more",
    "soft_share": "how near its words come to each of the question's",
    "soft_cubic_share": "how near they come, close likeness counting more",
    "stemmed_idf_share": "share of the question's stems that it has, rare ones counting more",
}
SENTENCE_WORDS = {
    **_LEXICAL,
    "stemmed_bm25": "BM25 of stems",
    "stemmed_bm25_of_best": "BM25 of stems, compared with the document's best sentence",
    "before_stemmed_bm25": "BM25 of the sentence before it",
    "after_stemmed_bm25": "BM25 of the sentence after it",
    "title": "whether it is the title",
    "first_of_abstract": "whether it is the abstract's first sentence",
    "last_of_abstract": "whether it is the abstract's last sentence",
    "position": "its place in the abstract",
    "soft_share_below_best": "how near its words come, compared with the document's best sentence",
    "soft_cubic_share_below_best": "the same, close likeness counting more",
}
DOCUMENT_WORDS = {
    **_LEXICAL,
    "norm_bm25": "the index's BM25, compared with the other candidates",
    "sentences": "its number of sentences",
    "norm_stemmed_bm25": "BM25 of stems, compared with the other candidates",
    "title_stemmed_idf_share": "share of the question's stems that its title has",
    "best_sentence_stemmed_bm25": "BM25 of its best sentence",
    "without_abstract": "whether it has no abstract",
    "title_soft_share": "how near the title's words come to each of the question's",
    "title_soft_cubic_share": "how near they come, close likeness counting more",
}


def describe(unit: Literal["document", "sentence"], name: str) -> str:
    """A feature's name and what it is."""
    words = (DOCUMENT_WORDS if unit == "document" else SENTENCE_WORDS).get(name, "")
    return f"{name}: {words}" if words else name
