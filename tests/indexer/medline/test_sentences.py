"""Spans of sentences: exact, in order, nothing but white space outside."""

import random
from itertools import islice, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.bioasq.domain import Part, Sentence
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.medline.punkt import breaks
from bioqa.indexer.medline.reader import read
from bioqa.indexer.medline.sentences import Offsets, sentences_of, split, split_abstract

MARKS = [". ", ".", "? ", "! ", "...", ", ", ": ", ")", "(", '"', "”", "-", "%", "[1]"]
SPACES = [" ", "  ", "\n", "\u00a0", "\u2009", "\t", "\x1c", "\u2028"]
LABELS = ["METHODS: ", "RESULTS:", "Results: ", "Background"]
WORDS = [
    "et al",
    "Fig",
    "vs",
    "i.v",
    "E. coli",
    "The",
    "we",
    "p53",
    "0.05",
    "5",
    "Z",
    "mRNAs",
    "α",
    "𝛼",
    "e\u0301",
]
PIECES = st.sampled_from([*MARKS, *SPACES, *LABELS, *WORDS])
TEXTS = st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=60)


def sentences(text: str) -> list[str]:
    return [text[begin:end] for begin, end in split(text)]


def assert_spans(text: str, spans: list[Offsets]) -> None:
    ends = [0]
    for begin, end in spans:
        assert 0 <= begin < end <= len(text)
        assert ends[-1] <= begin
        assert text[ends[-1] : begin].strip() == ""
        assert text[begin:end] == text[begin:end].strip()
        ends.append(end)
    assert text[ends[-1] :].strip() == ""


@pytest.mark.parametrize(
    "text",
    [
        "Doses were given i.v. and p.o. to both arms.",
        "Smith et al. reported a lower rate (Fig. 2 and Figs. 3-5).",
        "Growth of E. coli was slower than that of S. aureus and C. difficile.",
        "Binding of p50.c-rel dimers was lost at 0.05 mM.",
        "The drug was better than placebo (3.5 vs. 7.1 days; P < .001).",
        "Several taxa, e.g. Bacillus sp. and Candida spp. in soil, i.e. not in water, were found.",
        "Rates in the U.S. Army fell.",
        "It was taken b.i.d. with food, approx. 5 h before sleep.",
        "H. pylori was eradicated by J. Miller and R. B. Stone.",
        "See www.example.org or mail a.b@example.org for data.",
        "Isolates of Vibrio sp. ... were graded by K. L. Tamsin and stored under var. minor until use.",
        "The method of R. A. Fisher, (C. A. O'Brien), P. A. de Vries and Å. A. Sørensen was used.",
        "Data of N.R. Rose, T.-A. Smith and J. B. S. Haldane were pooled.",
        "Cells grew . . . and died, [. . .] as did IL-2 ... IL-6 and spores etc. ... of both.",
        "Isolates of E. coli str. K-12, B. abortus bv. 1, Vibrio sp. A and P. aff. Chrysogenum were kept.",
        "Ca. 40% of them, cf. Table 1, were treated",
        "a",
    ],
)
def test_one_sentence(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    "expected",
    [
        ["Is it safe?", "It is!", "We say so."],
        ["It was reported by Lee et al.", "The rate was low."],
        ["All had hepatitis C.", "We treated them."],
        ["We gave rifamycin SV.", "Genome-wide analysis followed."],
        ["Others had type A.", "A new test was used for Vibrio sp.", "A new one failed."],
        ["We waited ...", "The results were clear."],
        ["The cells grew for 24 h.", "Samples were taken at 37 °C.", "Others died."],
        ["This was seen in the U.S.", "However, it was rare elsewhere."],
        ["The gain was 5%.", "23 patients left.", "(One came back.)", "“It works.”", "They said so."],
        ["We knocked out both genes.", "miR-21 rose.", "mTOR fell.", "p53 stayed."],
        ["The dose was 0.5.", "Then it was 1.5."],
        ["Doses were given i.v.", "In controls they were not."],
        ["It binds DNA.", "RNA is left alone [3].", "Both are needed (see below)."],
    ],
)
def test_several_sentences(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


def test_sentences_that_were_joined_by_nothing() -> None:
    assert sentences("The state improved.However, it did not last.") == [
        "The state improved.",
        "However, it did not last.",
    ]
    assert sentences("Registered at ClinicalTrials.Gov under a number.") == [
        "Registered at ClinicalTrials.Gov under a number."
    ]


def test_offsets_count_code_points_and_keep_special_spaces() -> None:
    text = " 𝛼-Synuclein\u00a0binds.\u2009We saw\u00a0it. "
    assert split(text) == [(1, 19), (20, 30)]
    assert sentences(text) == ["𝛼-Synuclein\u00a0binds.", "We saw\u00a0it."]


@pytest.mark.parametrize("text", ["", " ", "\u00a0\n", "\u2009" * 5])
def test_white_space_has_no_sentence(text: str) -> None:
    assert split(text) == split_abstract(text) == []
    assert sentences_of(text, text, ()) == ()


def test_equal_sentences_have_their_own_places() -> None:
    assert split("It fell. It fell. It fell.") == [(0, 8), (9, 17), (18, 26)]


def test_labels_are_spans_of_their_own() -> None:
    text = "AIM: To see.METHODS: We saw it. Results and discussion: It worked. DNA was cut."
    assert [text[begin:end] for begin, end in split_abstract(text)] == [
        "AIM:",
        "To see.",
        "METHODS:",
        "We saw it.",
        "Results and discussion:",
        "It worked.",
        "DNA was cut.",
    ]


def test_a_colon_does_not_make_a_label() -> None:
    for text in ("One thing is clear: it works.", "Two arms were compared: A and B."):
        assert split_abstract(text) == [(0, len(text))]


def test_a_known_label_is_apart_whatever_its_form() -> None:
    text = "What is new: it works. So it does."
    assert split_abstract(text, "What is new") == [(0, 12), (13, 22), (23, 34)]


def test_a_title_keeps_its_label() -> None:
    assert sentences_of("BACKGROUND: a title.", "", ()) == (Sentence("title", 0, 20),)


def test_no_sentence_crosses_parts() -> None:
    abstract = "AIM: To see it and METHODS: then to do it"
    parts = (Part("AIM", 0, 18), Part("METHODS", 19, 41))
    assert sentences_of("One. Two.", abstract, parts) == (
        Sentence("title", 0, 4),
        Sentence("title", 5, 9),
        Sentence("abstract", 0, 4),
        Sentence("abstract", 5, 18),
        Sentence("abstract", 19, 27),
        Sentence("abstract", 28, 41),
    )


@given(TEXTS)
def test_any_text_is_covered_exactly(text: str) -> None:
    assert_spans(text, split(text))
    assert_spans(text, split_abstract(text))
    assert split(text) == split(text)


@given(TEXTS)
def test_splitting_again_stays_inside(text: str) -> None:
    for begin, end in split(text):
        assert_spans(text[begin:end], split(text[begin:end]))


LABELLED = st.tuples(st.sampled_from(["", "AIM", "What is new", "\u00a0"]), TEXTS)


@given(TEXTS, TEXTS, st.lists(LABELLED, max_size=4))
def test_parts_are_independent(title: str, first: str, others: list[tuple[str, str]]) -> None:
    abstract = ""
    parts: list[Part] = []
    before: tuple[Sentence, ...] = ()
    for label, text in [("", first), *others]:
        text = f"{label}: {text}" if label else text
        parts.append(Part(label, len(abstract), len(abstract) + len(text)))
        abstract += text
        found = sentences_of(title, abstract, tuple(parts))
        assert found[: len(before)] == before
        before = found
    assert_spans(title, [(s.begin, s.end) for s in before if s.section == "title"])
    spans = [(s.begin, s.end) for s in before if s.section == "abstract"]
    assert_spans(abstract, spans)
    for one, next_one in pairwise(parts):
        assert not any(begin < one.end and end > next_one.begin for begin, end in spans)


def test_plain_ends_are_decided_as_punkt_would() -> None:
    """The fast rule is only a shortcut: put to Punkt, the same two tokens give the same answer."""
    generator = random.Random(1)
    words = ["cells", "DNA", "al", "fig", "mice-vs", "TNF-alpha", "(approx", "days)", "10%)", "sp", "tip60"]
    starts = ["The", "Zebra", "(One", "5", "“In", "[A", "We", "DNA-bound"]
    for _ in range(300):
        word, start = generator.choice(words), generator.choice(starts)
        assert (len(split(f"x {word}. {start} y")) == 2) == breaks(f"{word}. {start}"), (word, start)


def test_text_without_plain_spaces_is_still_linear() -> None:
    text = "a.\u00a0b" * 20_000
    assert_spans(text, split(text))


def test_real_citations(shared: Path) -> None:
    path = shared / "data" / "medline" / "pool0002.xml.gz"
    for event in islice(read(path), 1500):
        assert isinstance(event, Upsert)
        document = event.document
        spans = {
            name: [(s.begin, s.end) for s in document.sentences if s.section == name]
            for name in ("title", "abstract")
        }
        assert_spans(document.title, spans["title"])
        assert_spans(document.abstract, spans["abstract"])
