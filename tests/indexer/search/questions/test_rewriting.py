"""What a ranker reads."""

import pytest

from bioqa.bioasq.domain import Document
from bioqa.indexer.search.questions.pieces import Abbreviated, Piece, Ways
from bioqa.indexer.search.questions.reading import Reading
from bioqa.indexer.search.questions.rewriting import rewritten
from bioqa.indexer.search.wording import Every
from tests.indexer.documents import document

MANY = [document(pmid, title="Role of IL-6.", abstract="IL-6 was high. It fell.") for pmid in range(1, 4)]
OTHER = document(9, title="IL6 and il 6 in men.", abstract="The IL6 test. IL61 is another.")


def reading(*pieces: Piece) -> Reading:
    return Reading("", Every(()), pieces)


def sentences(found: Document) -> list[str]:
    return [found.sentence_text(sentence) for sentence in found.sentences]


IL6 = Ways(("IL6", "IL-6"))


def test_a_question_without_other_ways_changes_nothing() -> None:
    made = rewritten(reading("Role of IL6?"), MANY)
    assert made.question == "Role of IL6?"
    assert all(mine is theirs for mine, theirs in zip(made.documents, MANY, strict=True))


def test_all_are_written_as_most_documents_do() -> None:
    made = rewritten(reading("Role of ", IL6, "?"), [*MANY, OTHER])
    assert made.question == "Role of IL-6?"
    assert sentences(made.documents[-1]) == ["IL-6 and IL-6 in men.", "The IL-6 test.", "IL61 is another."]
    assert made.documents[0] is MANY[0]


@pytest.mark.parametrize("asked", [("IL6", "IL-6"), ("IL-6", "IL6")])
def test_it_does_not_matter_which_way_was_asked(asked: tuple[str, str]) -> None:
    made = rewritten(reading(Ways(asked)), [*MANY, OTHER])
    assert made.question == "IL-6"


def test_sentences_stay_the_same_ones() -> None:
    made = rewritten(reading(IL6), [*MANY, OTHER]).documents[-1]
    assert len(made.sentences) == len(OTHER.sentences)
    assert [each.section for each in made.sentences] == [each.section for each in OTHER.sentences]
    assert made.pmid == OTHER.pmid


def test_the_name_of_a_greek_letter_is_preferred() -> None:
    letters = [document(pmid, title="TNF-α rose.") for pmid in range(1, 4)]
    made = rewritten(reading(Ways(("TNF-α", "TNF-alpha"))), letters)
    assert made.question == "TNF-alpha"
    assert sentences(made.documents[0]) == ["TNF-alpha rose."]


CROHN = [document(pmid, title="Crohn\u2019s disease.", abstract="CROHN'S was mild.") for pmid in range(1, 4)]


@pytest.mark.parametrize(
    ("asked", "documents", "expected"),
    [
        ("Is crohn disease mild?", CROHN, "Is crohn's disease mild?"),
        ("Is Crohn's disease mild?", CROHN, "Is Crohn's disease mild?"),
        ("Is Crohn disease mild?", [document(1, title="Crohn's, Crohn disease.")], "Is Crohn disease mild?"),
        ("Is Crohn's mild?", [document(1, title="Crohn disease.")], "Is Crohn's mild?"),
        ("Is Crohnson mild?", CROHN, "Is Crohnson mild?"),
        ("What is it?", [document(1, title="What's new? It's mild.")], "What is it?"),
    ],
)  # fmt: skip
def test_possessives_are_written_as_most_documents_do(
    asked: str, documents: list[Document], expected: str
) -> None:
    made = rewritten(reading(asked), documents)
    assert made.question == expected
    assert all(mine is theirs for mine, theirs in zip(made.documents, documents, strict=True))


def test_what_no_document_has_is_written_as_it_was_asked() -> None:
    assert rewritten(reading(Ways(("tumour", "tumor"))), [document(1)]).question == "tumour"


@pytest.mark.parametrize(("read_long", "expected"), [(True, "multiple sclerosis"), (False, "MS")])
def test_an_abbreviation_is_read_as_was_decided(read_long: bool, expected: str) -> None:
    piece = Abbreviated(Ways(("MS",)), ("multiple", " ", "sclerosis"), False, read_long, dominant=False)
    assert rewritten(reading(piece), [document(1)]).question == expected


@pytest.mark.parametrize("read_long", [True, False])
@pytest.mark.parametrize(("asked_long", "dominant"), [(False, False), (False, True), (True, True)])
def test_documents_with_only_the_other_form_are_rewritten(
    asked_long: bool, dominant: bool, read_long: bool
) -> None:
    piece = Abbreviated(Ways(("AIDS",)), ("acquired ", "immunodeficiency"), asked_long, read_long, dominant)
    short = document(1, title="AIDS and hearing aids.")
    long = document(2, title="Acquired-immunodeficiency in men.")
    both = document(3, title="Acquired immunodeficiency (AIDS).", abstract="AIDS came late.")
    made = rewritten(reading("Cause of ", piece, "?"), [short, long, both])
    if read_long:
        assert made.question == "Cause of acquired immunodeficiency?"
        assert sentences(made.documents[0]) == ["acquired immunodeficiency and hearing aids."]
        assert made.documents[1] is long
    else:
        assert made.question == "Cause of AIDS?"
        assert made.documents[0] is short
        assert sentences(made.documents[1]) == ["AIDS in men."]
    assert made.documents[2] is both


@pytest.mark.parametrize("asked", [("TGF-beta", "TGF-β"), ("TGF-β", "TGF-beta")])
def test_all_spellings_of_an_abbreviation_are_rewritten(asked: tuple[str, str]) -> None:
    piece = Abbreviated(Ways(asked), ("growth factor",), asked_long=False, read_long=True, dominant=True)
    made = rewritten(reading(piece), [document(1, title="TGF-beta."), document(2, title="TGF-β.")])
    assert [sentences(each) for each in made.documents] == [["growth factor."]] * 2


def test_all_spellings_of_a_long_form_are_rewritten() -> None:
    long = (Ways(("tumor", "tumour")), " necrosis factor")
    piece = Abbreviated(Ways(("TNF",)), long, asked_long=False, read_long=False, dominant=True)
    texts = ("Tumor necrosis factor.", "Tumour necrosis factor.")
    made = rewritten(reading(piece), [document(pmid, title=text) for pmid, text in enumerate(texts, 1)])
    assert [sentences(each) for each in made.documents] == [["TNF."]] * 2


@pytest.mark.parametrize("read_long", [True, False])
def test_for_a_long_form_that_was_asked_documents_with_an_ambiguous_abbreviation_stay(
    read_long: bool,
) -> None:
    piece = Abbreviated(Ways(("MS",)), ("multiple ", "sclerosis"), True, read_long, dominant=False)
    documents = [document(1, title="MS."), document(2, title="Multiple sclerosis.")]
    made = rewritten(reading(piece), documents)
    assert all(mine is theirs for mine, theirs in zip(made.documents, documents, strict=True))


def test_a_greek_letter_that_no_document_has_is_written_by_its_name() -> None:
    assert rewritten(reading(Ways(("γ-secretase", "gamma-secretase"))), []).question == "gamma-secretase"


def test_no_documents_are_no_trouble() -> None:
    assert rewritten(reading(IL6), []).documents == ()
