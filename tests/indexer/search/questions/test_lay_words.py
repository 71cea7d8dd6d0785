"""Tables of names."""

from pathlib import Path

import pytest

from bioqa.indexer.search.questions.lay_words import (
    FILES,
    LONGEST_TERM,
    LayWordsError,
    Name,
    key_of,
    known_names,
    read,
)
from bioqa.indexer.search.stopwords import STOP_WORDS


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return tmp_path / "names.tsv"


def test_a_lay_word_is_known_by_its_key(table: Path) -> None:
    table.write_text("# a comment\n\nheart attack\tlay\tmyocardial infarction; acute coronary syndrome\n")
    assert read(table) == {
        "heart attack": Name("heart attack", ("myocardial infarction", "acute coronary syndrome"), lay=True)
    }
    assert key_of("Heart attacks") == "heart attack"


def test_each_of_the_same_names_finds_the_others(table: Path) -> None:
    table.write_text("paracetamol\tsame\tacetaminophen; APAP\n")
    names = read(table)
    assert names["acetaminophen"] == Name("acetaminophen", ("paracetamol", "APAP"))
    assert names["apap"].others == ("paracetamol", "acetaminophen")


def test_a_brand_has_all_names_of_its_drug_but_does_not_name_it(table: Path) -> None:
    table.write_text("tylenol\tname\tacetaminophen\nparacetamol\tsame\tacetaminophen\n")
    names = read(table)
    assert names["tylenol"].others == ("acetaminophen", "paracetamol")
    assert names["paracetamol"].others == ("acetaminophen",)


def test_an_ambiguous_word_fits_beside_a_word_of_its_context(table: Path) -> None:
    table.write_text("jab\tlay\tvaccination\tflu arms\n")
    name = read(table)["jab"]
    assert name.fits([key_of("an"), key_of("arm")])
    assert not name.fits([key_of("boxing")])


def test_of_two_tables_the_first_counts(table: Path, tmp_path: Path) -> None:
    table.write_text("jab\tlay\tvaccination\n")
    other = tmp_path / "other.tsv"
    other.write_text("jab\tname\tjabirum\nmobic\tname\tmeloxicam\n")
    names = read(table, other)
    assert names["jab"].others == ("vaccination",)
    assert names["mobic"].others == ("meloxicam",)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("jab vaccination", "1 columns"),
        ("jab\tlay", "2 columns"),
        ("jab\tlay\tvaccination\tflu\tarm", "5 columns"),
        ("jab\tsideways\tvaccination", "the way is 'sideways', not one of same, name, lay"),
        ("jab\tlay\tvaccination; jabs", "twice"),
        ("jab\tlay\ta; b; c; d; e", "5 other terms, more than 4"),
        ("jab\tlay\t", "'' is no term"),
        ("--\tlay\tvaccination", "'--' is no term"),
        ("jab \tlay\tvaccination", "'jab ' is no term"),
        ("j" * 200 + "\tlay\tvaccination", f"{'j' * LONGEST_TERM}' is longer than 60 characters"),
        ("a b c d e f g\tlay\tvaccination", "or 6 words"),
    ],
)
def test_a_damaged_line_is_named(table: Path, line: str, message: str) -> None:
    table.write_text(f"# names\n{line}\n")
    with pytest.raises(LayWordsError) as error:
        read(table)
    assert str(error.value).startswith(f"{table}, line 2: ")
    assert message in str(error.value)


def test_a_term_that_stands_in_two_lines_is_named_with_both(table: Path) -> None:
    table.write_text("jab\tlay\tvaccination\njabs\tlay\tinjection\n")
    with pytest.raises(LayWordsError, match=r"line 2: 'jabs' is in line 1, too"):
        read(table)


def test_a_table_that_is_missing_or_no_text_is_named(table: Path) -> None:
    with pytest.raises(LayWordsError, match=r"names.tsv cannot be read"):
        read(table)
    table.write_bytes(b"\xff\xfe")
    with pytest.raises(LayWordsError, match=r"names.tsv cannot be read"):
        read(table)


# The package's own tables


def test_the_tables_name_their_source_and_licence() -> None:
    for path in FILES:
        comment = "".join(line for line in path.read_text().splitlines() if line.startswith("#"))
        assert "licence" in comment.lower() or "CC BY-SA" in comment


@pytest.mark.parametrize(
    ("asked", "called"),
    [
        ("heart attack", "myocardial infarction"),
        ("bowel cancer", "colorectal cancer"),
        ("hives", "urticaria"),
        ("painkillers", "analgesic"),
        ("put on weight", "weight gain"),
        ("waste water", "wastewater"),
        ("paracetamol", "acetaminophen"),
        ("acetaminophen", "paracetamol"),
        ("Seroquel", "quetiapine"),
        ("Coumadin", "warfarin"),
        ("Ventolin", "salbutamol"),
    ],
)
def test_what_people_say_is_known(asked: str, called: str) -> None:
    assert called in known_names()[key_of(asked)].others


@pytest.mark.parametrize(
    "word", ["impact", "advance", "ease", "relax", "vision", "rela", "generics", "thein x"]
)
def test_ordinary_words_are_no_names(word: str) -> None:
    assert key_of(word) not in known_names()


def test_no_stop_word_is_a_name() -> None:
    assert known_names().keys().isdisjoint(map(key_of, STOP_WORDS))
