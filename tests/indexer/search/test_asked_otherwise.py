"""Questions asked otherwise find the same documents, in both back ends."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bioqa.bioasq.domain import Document
from bioqa.indexer.medline.events import Delete, Upsert
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.elastic.address import IndexAddress
from bioqa.indexer.search.elastic.connection import connect
from bioqa.indexer.search.elastic.index import ElasticIndex
from bioqa.indexer.search.evidence import MOST_FORMS
from bioqa.indexer.search.tantivy.index import TantivyIndex
from tests.indexer.documents import document

TEXTS = {
    "1": "Pilocarpine in Sjo\u0308gren disease of the eye; Behc\u0327et uveitis was excluded.",
    "2": "Inter\u00adleukin therapy: ada\u200blimumab and aldes\u00adleukin.",
    "3": "Role of TNF-α in µ-opioid signalling.",
    "4": "Pulmonary ﬁbrosis and eﬃcacy of nintedanib.",
    "5": "Ｐirfenidone ＩＬ－６ at full width.",
    "6": "IL‐17 and COVID‑19 with special hyphens.",
    "7": "Imaging of a tumour of the oesophagus in anaemia.",
    "8": "IL6 and alpha-synuclein in Parkinson’s disease.",
    "9": "Unrelated record about knees.",
    "10": "Sacubitril/Valsartan (Entresto™) after a stroke.",
}
DEFINED = "Treatment {} of non-small cell lung cancer (NSCLC) was studied."


@pytest.fixture(params=["tantivy", "elastic"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SearchIndex]:
    if request.param == "elastic":
        where = IndexAddress(
            (request.getfixturevalue("elastic_url"),), request.getfixturevalue("elastic_name")
        )
        made: SearchIndex = ElasticIndex.create(connect(where), where)
    else:
        made = TantivyIndex.create(tmp_path / "index")
    made.apply([Upsert(_document(pmid, text)) for pmid, text in TEXTS.items()])
    made.apply([Upsert(_document(str(pmid), DEFINED.format(pmid))) for pmid in range(20, 25)])
    made.commit()
    yield made
    made.close()


def _document(pmid: str, text: str) -> Document:
    return document(pmid, title=text, abstract="")


def found(index: SearchIndex, question: str) -> list[str]:
    return [each.document.pmid for each in index.search(index.read(question).wording)]


@pytest.mark.parametrize(
    ("question", "pmid"),
    [
        ("Sjögren", "1"),
        ("Sjogren", "1"),
        ("Sjo\u0308gren", "1"),
        ("Behçet", "1"),
        ("adalimumab", "2"),
        ("ada\u200blimumab", "2"),
        ("Aldesleukin", "2"),
        ("interleukin", "2"),
        ("\u03bc-opioid", "3"),
        ("\u00b5-opioid", "3"),
        ("mu-opioid", "3"),
        ("TNFalpha", "3"),
        ("TNF-alpha", "3"),
        ("fibrosis", "4"),
        ("efficacy", "4"),
        ("Pirfenidone", "5"),
        ("COVID-19", "6"),
        ("COVID19", "6"),
        ("IL-17", "6"),
        ("tumor", "7"),
        ("esophagus", "7"),
        ("anemia", "7"),
        ("α-synuclein", "8"),
        ("Parkinson", "8"),
        ("Parkinson's", "8"),
        ("parkinsn", "8"),
        ("Entresto", "10"),
        ("Entresto™", "10"),
    ],
)
def test_the_document_is_found_however_it_is_asked_for(index: SearchIndex, question: str, pmid: str) -> None:
    assert found(index, question)[:1] == [pmid]


def test_il6_and_il_6_find_the_same(index: SearchIndex) -> None:
    assert found(index, "IL6") == found(index, "IL-6") == found(index, "il-6")
    assert {"5", "8"} <= {*found(index, "IL6")}


def test_abbreviations_are_learned_and_follow_deletions(index: SearchIndex) -> None:
    assert {*found(index, "lung cancer NSCLC")} == {str(pmid) for pmid in range(20, 25)}
    assert [each.also for each in index.read("NSCLC").expansions] == [("non-small cell lung cancer",)]
    index.apply([Delete(str(pmid)) for pmid in range(20, 25)])
    index.commit()
    assert index.search(index.read("NSCLC").wording) == []


AMBIGUOUS = {
    "30": "Relapses of multiple sclerosis (MS) under ocrelizumab.",
    "40": "Spectra of peptides by mass spectrometry (MS).",
    "50": "Relapses of acute lymphoblastic leukaemia (ALL).",
}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Does ocrelizumab prevent relapses of MS?", [("multiple sclerosis",)]),
        ("Spectra of peptides by MS", [("mass spectrometry",)]),
        ("Which relapses of ALL are late?", [("acute lymphoblastic leukaemia",)]),
        ("MS", []),
    ],
)
def test_the_rest_of_the_question_decides_what_an_abbreviation_means(
    index: SearchIndex, question: str, expected: list[tuple[str]]
) -> None:
    for pmid, text in AMBIGUOUS.items():
        index.apply([Upsert(_document(str(int(pmid) + more), text)) for more in range(5)])
    index.commit()
    expansions = index.read(question).expansions
    assert [each.also for each in expansions if each.why == "abbreviation"] == expected


def test_a_correction_is_told(index: SearchIndex) -> None:
    reading = index.read("Pilocarpin for uveittis")
    assert {(each.word, each.correction) for each in reading.corrections} == {
        ("Pilocarpin", "Pilocarpine"),
        ("uveittis", "uveitis"),
    } or {each.word for each in reading.corrections} == {"uveittis"}
    assert "uveitis" in reading.text


@pytest.mark.parametrize(
    ("question", "correction"),
    [
        # No beginning of these is one edit from the right word's stem.
        ("diahrrea after antibiotics", "diarrhea"),
        ("early signs of alzimers", "alzheimer"),
        ("Fibromialgya", "Fibromyalgia"),
        ("hiperthenssion", None),  # three edits
        ("liabetic", None),  # two, one of which changes the first letter
    ],
)
def test_two_edits_of_a_long_word(index: SearchIndex, question: str, correction: str | None) -> None:
    words = "Diarrhea, diabetes and hypertension in Alzheimer's disease and fibromyalgia."
    index.apply([Upsert(_document("40", words))])
    index.commit()
    corrections = index.read(question).corrections
    assert [each.correction for each in corrections] == ([correction] if correction else [])


@pytest.mark.parametrize(
    "question", ["\u200b", "\u00ad\u200b", "?", "the", "xyzzyqux", "\ud800", "x" * 10_000]
)
def test_a_question_without_known_words_finds_nothing(index: SearchIndex, question: str) -> None:
    assert found(index, question) == []


def test_many_are_searched_for_at_once(index: SearchIndex) -> None:
    wordings = [index.read(question).wording for question in ("tumor", "the", "IL6")]
    many = index.search_many(wordings)
    assert [[each.document.pmid for each in candidates] for candidates in many] == [
        found(index, "tumor"),
        [],
        found(index, "IL6"),
    ]


def test_the_stored_text_is_as_it_was(index: SearchIndex) -> None:
    assert {pmid: index.get([pmid])[pmid].title for pmid in TEXTS} == TEXTS


def test_of_many_definitions_the_most_frequent_ones_are_given(index: SearchIndex) -> None:
    assert isinstance(index, TantivyIndex | ElasticIndex)
    forms = [f"m{chr(97 + number % 26) * 6}{number} sclerosis" for number in range(MOST_FORMS + 40)]
    # The last ones alphabetically are defined twice, so that they come first.
    texts = [f"Relapses of {form} (MS)." for form in [*forms, *sorted(forms)[-50:]]]
    index.apply([Upsert(_document(str(number), text)) for number, text in enumerate(texts, 100)])
    index.commit()
    definitions = [*index.evidence().definitions({"ms", "nsclc"}, {"unknown"})]
    of_ms = [definition for definition in definitions if definition.short == "MS"]
    assert len(of_ms) == MOST_FORMS
    assert {definition.long for definition in of_ms if definition.documents == 2} == {*sorted(forms)[-50:]}
    # Those of a rare one are there, however many a frequent one has.
    assert {definition.long for definition in definitions} - {*forms} == {"non-small cell lung cancer"}
