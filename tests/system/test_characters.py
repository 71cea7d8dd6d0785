"""Equal text in other code points becomes one form."""

import pytest

from bioqa.system.characters import (
    GREEK,
    GREEK_NAMES,
    drop_marks,
    fold,
    in_other_forms,
    normalise,
    strings_otherwise,
)


@pytest.mark.parametrize(
    ("written", "one_form"),
    [
        ("Sjo\u0308gren", "Sjögren"),
        ("Behc\u0327et", "Behçet"),
        ("Aldes\u00adleukin", "Aldesleukin"),
        ("ada\u200blimu\u2060mab\ufeff", "adalimumab"),
        ("\u00b5-opioid", "\u03bc-opioid"),
        ("ﬁbrosis", "fibrosis"),
        ("ＩＬ－６", "IL-6"),
        ("IL\u201017 and COVID\u201119", "IL-17 and COVID-19"),
        ("Parkinson’s", "Parkinson's"),
        ("ά-synuclein", "α-synuclein"),
        ("10²", "102"),
        ("Entresto™, №5", "Entresto ,  5"),
    ],
)
def test_it_is_one_form(written: str, one_form: str) -> None:
    assert normalise(written) == one_form


def test_ascii_stays_as_it_is() -> None:
    text = "".join(map(chr, range(128)))
    assert normalise(text) == text
    assert strings_otherwise(text) == ""


def test_letters_with_accents_stay_composed() -> None:
    assert normalise("Ménière, Sjögren") == "Ménière, Sjögren"


@pytest.mark.parametrize("text", ["", "\u200b", "\u200b\u00ad\ufeff", "\u0308"])
def test_nothing_visible_becomes_nothing(text: str) -> None:
    assert normalise(text) == ""
    assert strings_otherwise(text) == ""


def test_only_strings_that_an_index_would_not_find_are_repeated() -> None:
    assert (
        strings_otherwise("Pilocarpine in Sjo\u0308gren – Ménière ± ﬁbrosis (5 µg)") == "Sjögren fibrosis μg)"
    )
    assert strings_otherwise("Ménière ± 5") == strings_otherwise("Entresto™, №5") == ""


def test_no_form_is_changed_twice() -> None:
    for code in range(0x3000):
        once = normalise(f"a{chr(code)}b")
        assert normalise(once) == once, hex(code)


def test_other_forms_are_those_that_are_normalised() -> None:
    forms = dict(in_other_forms())
    assert forms["\u00b5"] == "\u03bc"
    assert all(normalise(old) == new != old for old, new in forms.items())


def test_names_and_letters_belong_together() -> None:
    assert all(GREEK_NAMES[letter] == name for name, letter in GREEK.items())


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("sjögren", "sjogren"),
        ("Sjo\u0308gren", "Sjogren"),
        ("chédiak–higashi", "chediak–higashi"),
        ("straße, œdème, ångström, łódź, smørrebrød", "strasse, oedeme, angstrom, lodz, smorrebrod"),
        ("α-synuclein, ά, µm, 10², ™, naïve", "α-synuclein, ά, µm, 10², ™, naive"),
        ("plain", "plain"),
    ],
)
def test_latin_letters_lose_their_accents_and_nothing_else_changes(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_accents_are_folded_as_the_engine_folds_them() -> None:
    pytest.importorskip("tantivy")
    from bioqa.indexer.search.tantivy.schema import analyzer

    analyse = analyzer().analyze
    letters = [
        chr(code)
        for code in (*range(0xC0, 0x180), *range(0x1E00, 0x1E9A), *range(0x1EA0, 0x1EFA))
        if chr(code).isalpha()
    ]
    differing = {
        letter
        for letter in letters
        # Within a word that has no stem of its own.
        if analyse(f"qx{letter}qx") != [f"qx{fold(letter.lower())}qx"]
    }
    # The engine has a dotted capital I with its dot beside it.
    assert differing <= {"İ"}


def test_marks_of_any_script_are_dropped_and_letters_stay() -> None:
    assert drop_marks("Sjögren, ø, ß, ά, й") == "Sjogren, ø, ß, α, и"
    assert drop_marks("plain") == "plain"
