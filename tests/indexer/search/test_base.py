"""What every search back end must do: ``SearchIndex`` as its callers rely on it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bioqa.bioasq.domain import Document, Part
from bioqa.bioasq.metadata import Standing
from bioqa.indexer.medline.events import Delete, Event, Upsert
from bioqa.indexer.search.base import Applied, SearchIndex
from bioqa.indexer.search.elastic.address import IndexAddress
from bioqa.indexer.search.elastic.connection import connect
from bioqa.indexer.search.elastic.index import ElasticIndex
from bioqa.indexer.search.filtering.conditions import (
    AllOf,
    AnyOf,
    Condition,
    HasBeginning,
    HasKey,
    HasPhrase,
    HasPmid,
    HasWords,
    Published,
    Without,
)
from bioqa.indexer.search.filtering.filters import NO_FILTERS, Filters
from bioqa.indexer.search.filtering.keys import ABSTRACT, FREE_FULL_TEXT, KeyKind
from bioqa.indexer.search.filtering.truncation import LONGEST
from bioqa.indexer.search.notation.interpretation import interpret
from bioqa.indexer.search.questions.condensing import MOST_TERMS
from bioqa.indexer.search.records import Described
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.system.errors import BioqaError
from tests.indexer.documents import document
from tests.indexer.metadata import FULL
from tests.indexer.search.cited import CITED
from tests.indexer.search.reference import accepts, newest

OpenIndex = Callable[[], SearchIndex]


@pytest.fixture(params=["tantivy", "elastic"])
def open_index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenIndex]:
    """Makes fresh, empty indexes of one back end; they are closed at the end."""
    opened: list[SearchIndex] = []
    # Asked for by name: the embedded index needs no server.
    elastic = request.param == "elastic"
    url = request.getfixturevalue("elastic_url") if elastic else ""
    name = request.getfixturevalue("elastic_name") if elastic else ""

    def make() -> SearchIndex:
        number = len(opened)
        index: SearchIndex
        if elastic:
            where = IndexAddress((url,), f"{name}-{number}")
            index = ElasticIndex.create(connect(where), where)
        else:
            index = TantivyIndex.create(tmp_path / f"index{number}")
        opened.append(index)
        return index

    yield make
    for index in opened:
        index.close()


@pytest.fixture
def index(open_index: OpenIndex) -> SearchIndex:
    return open_index()


def fill(index: SearchIndex, documents: Iterable[Document]) -> None:
    index.apply(Upsert(d) for d in documents)
    index.commit()


def pmids(index: SearchIndex, question: str, size: int = 100, filters: Filters = NO_FILTERS) -> list[str]:
    return [c.document.pmid for c in index.search(question, size, filters)]


RICH = Document(
    pmid="38000001",
    version=3,
    title="Thrombin\u00a0inhibition\u2009in <mice> & \U0001f42d.",
    abstract="AIMS: β-blockade at 5 µg. It held.RESULTS: None.",
    published=date(1999, 2, 28),
    sentences=document(
        1, "Thrombin\u00a0inhibition\u2009in <mice> & \U0001f42d.", "AIMS: β-blockade."
    ).sentences,
    parts=(Part("AIMS", 0, 34), Part("RESULTS", 34, 48), Part("", 48, 48)),
    metadata=FULL,
)


def test_a_document_comes_back_as_it_was(index: SearchIndex) -> None:
    bare = Document("7", 1, "", "")
    assert index.apply([Upsert(RICH), Upsert(bare)]) == Applied(upserted=2)
    index.commit()
    assert index.get(["38000001", "7"]) == {"38000001": RICH, "7": bare}
    (found,) = index.search("thrombin")
    assert found.document == RICH
    assert found.document.metadata.authors == FULL.authors
    assert index.get(["38000001"])["38000001"].metadata.standing is Standing.RETRACTED


def test_a_revision_brings_its_metadata(index: SearchIndex) -> None:
    sound = replace(RICH, metadata=replace(FULL, types=(), corrections=()))
    fill(index, [sound])
    assert index.get(["38000001"])["38000001"].metadata.standing is Standing.SOUND
    fill(index, [RICH])
    assert index.search("thrombin")[0].document.metadata.standing is Standing.RETRACTED


def test_get_leaves_out_what_is_not_there(index: SearchIndex) -> None:
    fill(index, [document(5)])
    assert list(index.get(["5", "6", "05", "-5", "", "five", "٥", "5" * 40])) == ["5"]
    assert index.get([]) == {}


def test_get_takes_more_pmids_than_one_look_up_holds(index: SearchIndex) -> None:
    fill(index, [document(n) for n in range(1, 2502)])
    assert len(index.get([str(n) for n in range(1, 3000)])) == 2501


def test_an_empty_index_answers(index: SearchIndex) -> None:
    index.commit()
    assert index.search("anything") == []
    assert index.get(["1"]) == {}
    stats = index.stats()
    assert (stats.documents, stats.without_abstract, stats.joiner) == (0, 0, "")


def test_stats_count_documents_and_missing_texts(index: SearchIndex) -> None:
    fill(index, [document(1), document(2, abstract="Something."), document(3), document(4, "", "Something.")])
    stats = index.stats()
    assert (stats.documents, stats.without_title, stats.without_abstract) == (4, 1, 2)
    assert stats.size_bytes > 0


def test_nothing_is_seen_before_it_is_committed(index: SearchIndex) -> None:
    index.apply([Upsert(document(1, "Insulin."))])
    assert index.search("insulin") == []
    assert index.get(["1"]) == {}
    index.commit()
    assert pmids(index, "insulin") == ["1"]


def test_title_and_abstract_are_searched_together(index: SearchIndex) -> None:
    fill(
        index,
        [document(1, "Insulin.", "Glucose."), document(2, "Glucose.", "Insulin."), document(3, "Lung.")],
    )
    first, second = index.search("insulin glucose")
    assert first.score == pytest.approx(second.score)


def test_better_documents_come_first(index: SearchIndex) -> None:
    fill(
        index,
        [
            document(1, "Kidney stones.", "Stones of the kidney and their cause."),
            document(2, "Kidney.", "Renal function in the aged."),
            document(3, "Heart.", "Cardiac output."),
        ],
    )
    found = index.search("kidney stones cause")
    assert [c.document.pmid for c in found] == ["1", "2"]
    assert found[0].score > found[1].score > 0


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Mutations", "A mutation was found."),
        ("IL-2", "The role of il 2 in mice."),
        ("beta-blockers", "A beta blocker was given."),
        ("β-catenin", "Loss of Β-CATENIN."),
        ("5 µg", "Given at 5 µg daily."),
        ("TNF/IL6", "Levels of TNF and of others."),
    ],
)
def test_words_match_in_any_form(index: SearchIndex, question: str, text: str) -> None:
    fill(index, [document(1, text), document(2, "Unrelated words here.")])
    assert pmids(index, question) == ["1"]


@pytest.mark.parametrize("question", ["", "  \n ", "?", "what is the", '()/\\:"*~^', "AND OR NOT"])
def test_a_question_without_words_of_content_finds_nothing(index: SearchIndex, question: str) -> None:
    fill(index, [document(1, "What is the use of insulin?")])
    assert index.search(question) == []


@pytest.mark.parametrize(
    "noise",
    [
        '"',
        "(",
        "title:",
        "text:",
        "/",
        "-",
        "+",
        "*",
        "~2",
        "^3",
        "[1 TO 5]",
        "\\",
        "\0",
        "\ud800",
        "{",
        "AND (",
    ],
)
def test_nothing_in_a_question_is_an_operator(index: SearchIndex, noise: str) -> None:
    fill(index, [document(1, "Insulin."), document(2, "Glucagon.")])
    assert "1" in pmids(index, f"insulin {noise}")
    assert "1" in pmids(index, f"{noise} insulin")
    assert "1" in pmids(index, f"-insulin {noise}")


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(), max_size=60))
def test_any_text_is_a_question(index: SearchIndex, question: str) -> None:
    if not index.stats().documents:
        fill(index, [document(n, "Insulin and α 1 a b c.") for n in range(1, 4)])
    found = index.search(question)
    assert index.search(f"  {question}\n") == found


def test_a_question_of_5000_words(index: SearchIndex) -> None:
    fill(index, [document(n, f"Word{n}.") for n in range(1, 51)])
    question = " ".join(f"word{n}" for n in range(5000, 0, -1))
    assert pmids(index, question) == [str(n) for n in range(1, 51)]


def test_a_repeated_word_weighs_more(index: SearchIndex) -> None:
    fill(index, [document(1, "Alpha."), document(2, "Omega."), document(3, "Neither.")])
    assert pmids(index, "alpha omega omega") == ["2", "1"]
    once, thrice = index.search("alpha")[0].score, index.search("alpha alpha alpha")[0].score
    assert thrice == pytest.approx(3 * once, rel=1e-5)


def test_equal_scores_come_in_numeric_pmid_order(index: SearchIndex) -> None:
    numbers = [9, 10, 100, 11, 2, 30000000, 1]
    fill(index, [document(n, "Equal words.") for n in numbers])
    index.apply([Upsert(document(3, "Equal words."))])
    index.commit()
    everything = [str(n) for n in sorted([*numbers, 3])]
    assert pmids(index, "equal words") == everything
    for size in range(1, 8):
        assert pmids(index, "equal words", size) == everything[:size]


def test_ties_at_the_cut_off_are_in_pmid_order_however_many(index: SearchIndex) -> None:
    fill(index, [document(n, "Equal words.") for n in range(3000, 0, -1)])
    assert pmids(index, "equal", 5) == ["1", "2", "3", "4", "5"]


def test_several_questions_are_answered_as_each_alone(index: SearchIndex) -> None:
    words = ["Insulin", "Glucagon", "Somatostatin", "Amylin"]
    fill(
        index,
        [
            document(n, f"{words[n % 4]} and {words[n % 3]}.", published=date(2000 + n % 10, 1, 1))
            for n in range(1, 61)
        ],
    )
    questions = [f"{word} {n}?" for n in range(20) for word in words] + [
        "",
        "insulin",
        "what is the",
        "insulin",
    ]
    for filters in (NO_FILTERS, Filters(published_before=date(2005, 1, 1), undated=True)):
        alone = [index.search(question, 7, filters) for question in questions]
        assert index.search_many(questions, 7, filters) == alone
        assert len(alone[0]) == 7
    assert index.search_many([]) == []
    assert index.search_many(["insulin", "amylin"], 0) == [[], []]


@pytest.mark.parametrize(("size", "expected"), [(0, 0), (-1, 0), (1, 1), (3, 3), (1000, 4)])
def test_size_bounds_the_answer(index: SearchIndex, size: int, expected: int) -> None:
    fill(index, [document(n, "Insulin.") for n in range(1, 5)])
    assert len(index.search("insulin", size)) == expected


@pytest.mark.parametrize(
    ("after", "before", "found"),
    [
        (None, date(2010, 5, 2), ["1"]),
        (None, date(1, 1, 2), []),
        (None, date(2012, 1, 1), ["1", "2", "3"]),
        (date(2010, 5, 2), None, ["2", "3"]),
        (date(2010, 5, 2), date(2011, 1, 1), ["2"]),
        (date(9999, 12, 31), None, []),
    ],
)
def test_dates_limit_what_is_found(
    index: SearchIndex, after: date | None, before: date | None, found: list[str]
) -> None:
    days = [date(2010, 5, 1), date(2010, 5, 2), date(2011, 1, 1), None]
    fill(index, [document(n, "Insulin.", published=day) for n, day in enumerate(days, 1)])
    assert pmids(index, "insulin", filters=Filters(after, before)) == found
    assert pmids(index, "insulin", filters=Filters(after, before, undated=True)) == [*found, "4"]


def test_filters_change_no_score(index: SearchIndex) -> None:
    fill(
        index,
        [
            document(n, "Insulin " * (n % 5 + 1) + "in rats.", published=date(2000 + n % 3, 1, 1))
            for n in range(1, 60)
        ],
    )
    scores = {c.document.pmid: c.score for c in index.search("insulin rats")}
    early = index.search("insulin rats", filters=Filters(published_before=date(2001, 6, 1)))
    assert len(early) == 39
    assert {c.document.pmid: c.score for c in early} == pytest.approx(
        {c.document.pmid: scores[c.document.pmid] for c in early}, rel=1e-6
    )


def test_the_cut_off_date_is_applied_before_the_best_are_taken(index: SearchIndex) -> None:
    fill(
        index,
        [
            document(n, "Insulin.", published=date(2020, 1, 1) if n <= 300 else date(1990, 1, 1))
            for n in range(1, 306)
        ],
    )
    assert pmids(index, "insulin", 3, Filters(published_before=date(2000, 1, 1))) == ["301", "302", "303"]


def test_a_revision_replaces_and_an_older_version_does_not(index: SearchIndex) -> None:
    first, second = document(1, "Old words.", version=1), document(1, "New words.", version=2)
    assert index.apply([Upsert(first), Upsert(second), Upsert(first)]) == Applied(upserted=2, stale=1)
    index.commit()
    assert index.get(["1"]) == {"1": second}
    assert index.apply([Upsert(first)]) == Applied(stale=1)
    index.commit()
    assert (pmids(index, "old"), pmids(index, "new")) == ([], ["1"])
    corrected = replace(second, title="Corrected words.")
    assert index.apply([Upsert(corrected)]) == Applied(upserted=1)
    index.commit()
    assert index.get(["1"]) == {"1": corrected}
    assert index.stats().documents == 1


def test_deletion(index: SearchIndex) -> None:
    fill(index, [document(1, "Insulin."), document(2, "Insulin.")])
    assert index.apply([Delete("1"), Delete("1"), Delete("3")]) == Applied(deleted=1, stale=2)
    index.commit()
    assert pmids(index, "insulin") == ["2"]
    assert index.get(["1"]) == {}
    assert index.apply([Upsert(document(1, "Insulin."))]) == Applied(upserted=1)
    index.commit()
    assert pmids(index, "insulin") == ["1", "2"]


def test_a_malformed_pmid_is_refused_by_name(index: SearchIndex) -> None:
    for pmid in ("0", "012", "1.5", "PMC12", "", "٥"):
        with pytest.raises(BioqaError, match="not a PMID: "):
            index.apply([Upsert(document(pmid))])
        with pytest.raises(BioqaError, match="not a PMID: "):
            index.apply([Delete(pmid)])


_EVENTS = st.lists(
    st.one_of(
        st.builds(
            lambda pmid, version, word: Upsert(document(pmid, f"{word} words.", version=version)),
            st.integers(1, 5),
            st.integers(1, 3),
            st.sampled_from(["Red", "Green", "Blue"]),
        ),
        st.integers(1, 5).map(lambda pmid: Delete(str(pmid))),
        st.none(),
    ),
    max_size=25,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_EVENTS)
def test_the_index_is_the_fold_of_its_events(open_index: OpenIndex, events: list[Event | None]) -> None:
    """None stands for a commit."""
    index = open_index()
    expected: dict[str, Document] = {}
    counts = Applied()
    for event in events:
        if event is None:
            index.commit()
            continue
        counts += index.apply([event])
        if isinstance(event, Delete):
            expected.pop(event.pmid, None)
            continue
        held = expected.get(event.document.pmid)
        if held is None or event.document.version >= held.version:
            expected[event.document.pmid] = event.document
    index.commit()
    assert counts.upserted + counts.deleted + counts.stale == sum(e is not None for e in events)
    assert index.get([str(n) for n in range(1, 6)]) == expected
    assert sorted(pmids(index, "words")) == sorted(expected)
    assert index.stats().documents == len(expected)
    index.close()


def test_a_long_question_is_condensed_to_the_words_that_carry_it(index: SearchIndex) -> None:
    common = [f"common{n}" for n in range(60)]
    fill(index, [document(n, "A \U0001d4dctitle.", " ".join(common)) for n in range(1, 8)])
    fill(index, [document(8, "Metformin in K\u00f6ln.", "It lowers glucose.")])
    short = "Does metformin, the drug, lower glucose \U0001f9ec in K\u00f6ln?"
    assert index.condense(short) == short
    kept = index.condense(f"{' '.join(common)} \U0001f9ec {short} unheard " * 3).split(" ")
    assert len(kept) == MOST_TERMS
    assert kept[-4:] == ["metformin,", "lower", "glucose", "K\u00f6ln?"]
    assert set(kept[:-4]) < set(common)
    assert pmids(index, " ".join(kept))[0] == "8"


@pytest.mark.parametrize(
    "question",
    ["\ud800 " * 600, "\U0001f9ec" * 6000, "\u6f22" * 10_000, "the " * 2500, "a-" * 5000, "\0" * 1001],
)
def test_any_long_text_can_be_condensed(index: SearchIndex, question: str) -> None:
    fill(index, [document(1, "A title.", "An abstract.")])
    kept = index.condense(question)
    assert len(kept) <= MOST_TERMS * 65
    assert index.search(kept, 10) == index.search(kept, 10)


def test_an_empty_index_condenses_too(index: SearchIndex) -> None:
    words = [f"w{n}" for n in range(100)]
    assert index.condense(" ".join(words)) == " ".join(words[:MOST_TERMS])


VALUES = {
    KeyKind.TYPE: ("review", "Randomized controlled TRIAL", "meta analysis", "Letter"),
    KeyKind.LANGUAGE: ("English", "fr", "deu", "jpn"),
    KeyKind.HEADING: ("asthma", "Humans", "Asthma/genetics", "Rats", "Asthma genetics"),
    KeyKind.MAJOR_HEADING: ("Asthma", "Asthma/drug therapy", "Asthma/genetics"),
    KeyKind.JOURNAL: (
        "Invented journal of medicine",
        "Invented J. Med.",
        "lancet of inventions",
        "0000-0002",
    ),
    KeyKind.AUTHOR: (
        "tamsin",
        "Tamsin KL",
        "Tamsin K",
        "Sorensen, A.",
        "Jan van der Berg",
        "invented asthma group",
    ),
    KeyKind.FIRST_AUTHOR: ("tamsin", "sorensen a"),
    KeyKind.DOI: ("10.1000/inv.2015(1)", "10.1000/inv"),
    KeyKind.PMCID: ("pmc90101", "PMC9"),
    KeyKind.FILTER: (ABSTRACT, FREE_FULL_TEXT),
    KeyKind.STANDING: (Standing.RETRACTED, Standing.RETRACTION_NOTICE),
}
WORDS = (
    "asthma",
    "children with asthma",
    "asthma of children",
    "steroid",
    "the",
    "heart failure",
    "of",
    "heart in failure",
    "zebra",
)
DAYS = (None, date(1999, 12, 31), date(2015, 1, 1), date(2015, 3, 4), date(2016, 1, 1), date(2018, 1, 1))
PLACES = st.sampled_from(("title", "text"))

SINGLE = st.one_of(
    st.sampled_from([HasKey(kind, value) for kind, values in VALUES.items() for value in values]),
    st.builds(HasPmid, st.sampled_from((101, 105, 999))),
    st.builds(HasWords, PLACES, st.sampled_from(WORDS)),
    st.builds(HasPhrase, PLACES, st.sampled_from(WORDS)),
    st.builds(
        HasBeginning, PLACES, st.sampled_from(("asth", "children", "steroi", "failure", "zebr", "invented"))
    ),
    st.builds(Published, st.sampled_from(DAYS), st.sampled_from(DAYS), st.booleans()),
)
CONDITIONS = st.recursive(
    SINGLE,
    lambda inner: st.one_of(
        st.builds(AllOf, st.lists(inner, max_size=3).map(tuple)),
        st.builds(AnyOf, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(Without, inner),
    ),
    max_leaves=6,
)


def test_each_condition_is_met_by_the_documents_that_it_means(index: SearchIndex) -> None:
    fill(index, CITED)

    asthma = {c.document.pmid for c in index.search("asthma")}

    @settings(max_examples=60)
    @given(CONDITIONS)
    def compare(condition: Condition) -> None:
        filters = Filters(restriction=condition)
        expected = newest([d for d in CITED if accepts(condition, d)])
        assert [d.pmid for d in index.newest(filters)] == [d.pmid for d in expected]
        found = {c.document.pmid for c in index.search("asthma", filters=filters)}
        assert found == asthma & {d.pmid for d in expected}

    compare()


def test_a_beginning_finds_words_whose_stem_is_shorter_and_only_in_its_place(index: SearchIndex) -> None:
    texts = [
        ("Vaccination of lambs.", "Ménière."), ("Lambs.", "They were vaccinated: β-carotene."),
        ("Cardiology.", "Cards."), ("Of cards.", "No cardigans."), ("Anti-inflammatory.", "Anti inflation."),
    ]  # fmt: skip
    fill(index, [document(n, title, abstract) for n, (title, abstract) in enumerate(texts, 1)])

    def found(query: str) -> list[str]:
        interpretation = interpret(query)
        assert interpretation is not None
        return sorted(d.pmid for d in index.newest(Filters(restriction=interpretation.restriction)))

    assert found("vaccinat*") == ["1", "2"]
    assert found("Vaccinat*[ti]") == ["1"]
    assert found("cardi*") == ["3", "4"]
    assert found("cardi*[ti]") == ["3"]
    assert found("cardiol*[tiab] OR méniè*[tiab]") == ["1", "3"]
    assert found("lamb vaccin* NOT carot*") == ["1"]
    assert found("anti-inflam*[tiab]") == ["5"]
    assert found("zebr*[tiab]") == []


@pytest.mark.parametrize("kind", VALUES)
def test_keys_of_each_kind_find_something_and_not_everything(index: SearchIndex, kind: KeyKind) -> None:
    fill(index, CITED)
    found = [index.count(None, Filters(restriction=HasKey(kind, value))) for value in VALUES[kind]]
    assert 0 < max(found) < len(CITED)


def test_filters_together_must_all_be_met(index: SearchIndex) -> None:
    fill(index, CITED)
    assert [d.pmid for d in index.newest(Filters(languages=("English", "German")))] == ["103", "102", "101"]
    together = Filters(languages=("English", "German"), has_abstract=True, exclude_retracted=True)
    assert [d.pmid for d in index.newest(together)] == ["101"]
    assert [d.pmid for d in index.newest(Filters(headings=("Asthma", "Humans")))] == ["101"]
    assert [d.pmid for d in index.newest(Filters(authors=("Tamsin", "Sorensen")))] == ["102", "101"]


def test_the_newest_come_by_date_and_pmid(index: SearchIndex) -> None:
    days = [date(2010, 5, 1), None, date(2010, 5, 1), date(2011, 1, 1), None]
    fill(index, [document(n, "Insulin.", published=day) for n, day in enumerate(days, 1)])
    index.apply([Delete("4")])
    index.commit()
    assert [d.pmid for d in index.newest()] == ["3", "1", "5", "2"]
    assert [d.pmid for d in index.newest(size=3)] == ["3", "1", "5"]
    assert index.newest(size=0) == []
    assert index.count(None) == 4


def test_records_are_described_in_the_order_of_their_documents(index: SearchIndex) -> None:
    fill(index, [*CITED, replace(document(900, "Asthma of old."), metadata=FULL)])

    def said(documents: Iterable[Document]) -> list[Described]:
        return [Described(d.published, d.metadata) for d in documents]

    assert index.describe("asthma") == said(c.document for c in index.search("asthma"))
    assert len(index.describe("asthma", 2)) == 2
    reviews = Filters(types=("Review",))
    assert index.describe("asthma", 9, reviews) == said(
        c.document for c in index.search("asthma", 9, reviews)
    )
    assert index.describe(None) == said(index.newest())
    assert index.describe("zebra") == index.describe("the") == index.describe("asthma", 0) == []
    read = index.read("asthma")
    assert index.describe(read.wording) == index.describe("asthma")


def test_ties_of_the_newest_are_cut_by_pmid_too(index: SearchIndex) -> None:
    fill(index, [document(n, "Insulin.", published=date(2020, 1, 1)) for n in range(1, 306)])
    assert [d.pmid for d in index.newest(size=2)] == ["305", "304"]


def test_counts_are_of_documents_with_a_word_of_the_question(index: SearchIndex) -> None:
    fill(index, CITED)
    assert index.count("heart of rats") == 2
    assert index.count("heart of rats", Filters(types=("Review",))) == 1
    assert index.count("what is the") == index.count(" ") == 0


def test_the_state_changes_with_each_commit_and_only_then(index: SearchIndex) -> None:
    index.commit()
    states = [index.state()]
    for documents in ([document(1), document(2)], [document(1, "Revised.", version=2)]):
        index.apply(Upsert(d) for d in documents)
        assert index.state() == states[-1]
        index.commit()
        states.append(index.state())
    index.apply([Delete("2")])
    index.commit()
    states.append(index.state())
    index.search("anything")
    assert index.state() == states[-1]
    assert len({*states}) == len(states)


def test_the_state_of_two_indexes_is_not_the_same(open_index: OpenIndex) -> None:
    one, other = open_index(), open_index()
    for index in (one, other):
        fill(index, [document(1)])
    assert one.state() != other.state()


@pytest.mark.parametrize("letter", ["x", "癌", "𐐨"])
def test_the_longest_beginning_is_one_for_the_engine(index: SearchIndex, letter: str) -> None:
    whole = letter * (LONGEST + 3)
    fill(index, [document(1, f"On {whole}.")])
    interpretation = interpret(f"{letter * LONGEST}*[ti]")
    assert interpretation is not None
    found = index.newest(Filters(restriction=interpretation.restriction))
    assert [each.pmid for each in found] == ["1"]


def test_an_argument_of_another_type_is_no_damage(index: SearchIndex) -> None:
    fill(index, [document(1)])
    anything: Any = index
    mistakes: list[Callable[[], Any]] = [
        lambda: anything.search("title", filters={"types": ["Review"]}),
        lambda: anything.search("title", size="many"),
        lambda: anything.newest(filters=7),
        lambda: anything.count("title", {"types": ["Review"]}),
        lambda: anything.get([7]),
    ]
    for mistake in mistakes:
        with pytest.raises((TypeError, AttributeError)):
            mistake()
    assert pmids(index, "title") == ["1"]
