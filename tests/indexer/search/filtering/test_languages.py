"""Names and codes of languages."""

import pytest

from bioqa.indexer.search.filtering.languages import is_language, language_code, language_name


@pytest.mark.parametrize("name", ["eng", "ENG", "en", "English", " english "])
def test_a_language_by_name_or_code(name: str) -> None:
    assert language_code(name) == "eng"
    assert is_language(name)


def test_both_codes_of_iso_639_are_known() -> None:
    assert {language_code(code) for code in ("ger", "deu", "de", "German")} == {"ger"}


def test_what_is_unknown_stays_as_it_is() -> None:
    assert (language_code(" Klingon\n"), language_name("tlh")) == ("klingon", "Tlh")
    assert not is_language("klingon")
    assert not is_language("")


def test_codes_have_names() -> None:
    assert (language_name("eng"), language_name("gla")) == ("English", "Scottish Gaelic")
