"""How rare words are in biomedical English."""

import pytest

from bioqa.models.text.background import background
from bioqa.models.text.words import stem
from bioqa.models.training.files import bundled_vocabulary
from bioqa.system.characters import fold


def test_it_has_the_idf_of_the_bundled_vocabulary() -> None:
    vocabulary = bundled_vocabulary()
    known = background()
    for term in ("patients", "warfarin", "therapies", vocabulary.terms[-1]):
        ids = vocabulary.term_ids[term]
        assert known.weight(stem(term)) == pytest.approx(float(vocabulary.stem_idf[ids]))
    assert known.idf.keys() == {stem(fold(term)) for term in vocabulary.terms}


def test_it_knows_everyday_words() -> None:
    assert {"valley", "recipe", "wheel"} <= background().everyday
    assert not {"warfarin", "##s", "3"} & background().everyday


def test_a_word_that_it_lacks_is_as_rare_as_its_rarest() -> None:
    known = background()
    assert known.weight("xyzzyplugh") == max(known.idf.values()) > known.weight(stem("patients"))
