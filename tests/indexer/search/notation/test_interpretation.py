"""What is meant: an article, a query, or a question, which is taken as it is."""

import pickle
import time
from contextlib import suppress
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.bioasq.files import read_golden
from bioqa.indexer.search.filtering.conditions import (
    AllOf,
    HasBeginning,
    HasKey,
    HasPhrase,
    HasPmid,
    HasWords,
    Published,
    Without,
)
from bioqa.indexer.search.filtering.keys import KeyKind
from bioqa.indexer.search.notation.interpretation import Interpretation, interpret
from bioqa.indexer.search.notation.syntax import SyntaxFault

QUESTIONS = [
    "Is aspirin, and not warfarin, safe?",
    "Does metformin AND exercise lower glucose?",
    "Which drugs do NOT cross the blood-brain barrier?",
    "IS ASPIRIN AND WARFARIN SAFE",
    "ASPIRIN AND WARFARIN",
    'role of "junk" DNA (non-coding) in cancer',
    "What is the size of the left atrium [LA] in adults?",
    "degree of polymerization [DP] of chitosan",
    "benzo[a]pyrene and [18F]FDG",
    "odds ratio (OR) 2.5 of stroke",
    "OR of stroke",
    "gates (AND/OR) in neurons (AND)",
    "Metformin does NOT cause hypoglycaemia.",
    "METHODS AND RESULTS: In mice, all lived. We conclude that they were well",
    'a 5" needle',
    "title:statin (*",
    "poly[ADP-ribose] polymerase",
    "treatment of depression (MDD) and anxiety",
    'role of "junk" DNA or "selfish" genes',
    "NOT",
    "AND OR",
    "What does x[ LA] mean?",
    "CYP2C9*2 and CYP2C9*3 and warfarin",
    "p < 0.05* in rats",
    "Which cardi* drugs help?",
    "12 monkeys",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_taken_as_it_is(question: str) -> None:
    assert interpret(question) is None


@pytest.mark.parametrize("name", ["dev", "train", "test"])
def test_no_question_of_bioasq_is_taken_for_syntax(shared: Path, name: str) -> None:
    golden = read_golden(shared / "data" / "bioasq" / f"{name}.json.gz")
    assert [r.question.body for r in golden.responses if interpret(r.question.body)] == []


@pytest.mark.parametrize("text", ["31020319", "aspirin AND (stroke", "smith j[au]"])
def test_nothing_is_interpreted_where_that_is_not_wanted(text: str) -> None:
    assert interpret(text, "never") is None


ASPIRIN = HasWords("text", "aspirin")
SMITH, REVIEW = HasKey(KeyKind.AUTHOR, "smith j"), HasKey(KeyKind.TYPE, "review")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("aspirin AND smith j[au]", Interpretation("aspirin", SMITH)),
        ("how does aspirin work AND review[pt]", Interpretation("how does aspirin work", REVIEW)),
        (
            "does aspirin help? review[pt]",
            Interpretation("", HasKey(KeyKind.TYPE, "does aspirin help? review")),
        ),
        ("aspirin (smith j[au]) NOT review[pt]", Interpretation("aspirin", AllOf((SMITH, Without(REVIEW))))),
        ("smith j[au]", Interpretation("", SMITH)),
        ("NOT review[pt]", Interpretation("", Without(REVIEW))),
        ('"heart failure"', Interpretation("heart failure", HasPhrase("text", "heart failure"))),
        (
            "aspirin AND stroke",
            Interpretation(
                "aspirin stroke", AllOf((HasWords("text", "aspirin"), HasWords("text", "stroke")))
            ),
        ),
        ("aspirin NOT rats", Interpretation("aspirin", Without(HasWords("text", "rats")))),
        (
            "stroke 2015:2020[dp]",
            Interpretation("stroke", Published(date(2015, 1, 1), date(2021, 1, 1))),
        ),
        ("stroke 2015/12[dp]", Interpretation("stroke", Published(date(2015, 12, 1), date(2016, 1, 1)))),
        ("stroke 2016-02-29[dp]", Interpretation("stroke", Published(date(2016, 2, 29), date(2016, 3, 1)))),
        ("9999[dp] stroke", Interpretation("stroke", Published(date(9998, 1, 1), date(9999, 1, 1)))),
        ("german[la] stroke", Interpretation("stroke", HasKey(KeyKind.LANGUAGE, "german"))),
        ("7[pmid]", Interpretation("", HasPmid(7))),
        ("cardi*", Interpretation("", HasBeginning("text", "cardi"))),
        ("risk of Cardi* events", Interpretation("risk of events", HasBeginning("text", "cardi"))),
        ("cardi* AND risk", Interpretation("risk", HasBeginning("text", "cardi"))),
        (
            "heart fail*[ti]",
            Interpretation(
                "heart", AllOf((HasWords("title", "heart"), HasBeginning("title", "fail"))), from_tags=True
            ),
        ),
        (
            "stroke AND anti-inflamm*[tiab]",
            Interpretation("stroke", AllOf((HasWords("text", "anti"), HasBeginning("text", "inflamm")))),
        ),
        (
            "HLA-B*27[ti]",
            Interpretation("HLA-B*27", HasWords("title", "HLA-B*27"), from_tags=True),
        ),
        ("6602490[pmc]", Interpretation("", HasKey(KeyKind.PMCID, "PMC6602490"))),
    ],
)
def test_queries_are_a_question_and_a_restriction(text: str, expected: Interpretation) -> None:
    assert interpret(text) == expected
    assert pickle.loads(pickle.dumps(expected)) == expected


@pytest.mark.parametrize(
    ("text", "position", "word"),
    [
        ("stroke 2015/13[dp]", 7, "no such day"),
        ("stroke 2020:2015[dp]", 7, "before it begins"),
        ("stroke soon[dp]", 7, "date"),
        ("stroke klingon[la]", 7, "klingon"),
        ("stroke x[pmid]", 7, "number"),
        ("stroke AND free[filter]", 11, "free full text"),
        ("asthma[Titel]", 6, "[Titel]"),
        ('"asthma child"[tiab:~5]', 14, "[tiab:~5]"),
        ("London[ad]", 6, "affiliations"),
        ("drug therapy[sh]", 12, "[mh]"),
        ("stroke last five years[dp]", 17, "last 5 years"),
        ("asthma or copd[ti]", 7, "OR in capitals"),
        ("asthma not mice[ti]", 7, "NOT in capitals"),
        ('smith j[au] "x', 12, "partner"),
        ("aspirin AND (stroke", 12, "never closed"),
        ("stroke AND car*[ti]", 11, "4 letters"),
        (f"stroke AND {'x' * 101}*[ti]", 11, "100 letters"),
        (f"{'癌' * 3000}*[ti]", 0, "100 letters"),
        (f"metformin AND {'y' * 1200}*", 14, "100 letters"),
        ('stroke AND "breast feed*"', 11, "phrase"),
        ("stroke AND smith*[au]", 11, "[ti]"),
        ("stroke AND asthm*[mh]", 11, "[ti]"),
        (" ".join(f"lett{chr(97 + n)}*[ti]" for n in range(21)), 220, "20 words"),
    ],
)
def test_faults_are_pointed_at(text: str, position: int, word: str) -> None:
    with pytest.raises(SyntaxFault) as caught:
        interpret(text)
    assert caught.value.position == position
    assert word in caught.value.message


def test_whatever_is_wrong_is_reported_if_that_is_wanted() -> None:
    with pytest.raises(SyntaxFault):
        interpret("odds ratio (OR", "always")
    assert interpret("heart failure", "always") == Interpretation("heart failure")


def test_articles_are_named() -> None:
    found = interpret("PMID: 31020319; PMC6602490")
    assert found is not None
    assert [each.kind for each in found.identifiers] == ["pmid", "pmcid"]
    assert (found.words, found.perhaps_words) == ("", False)
    number = interpret("31020319")
    assert number is not None
    assert number.perhaps_words


@pytest.mark.parametrize("piece", ["a AND ", "(", '"', "[au] ", "x[au] ", ". ", ".)", "a\n", "? ", "[", "…'"])
def test_no_text_takes_long(piece: str) -> None:
    text = piece * (10_000 // len(piece))
    begun = time.process_time()
    with suppress(SyntaxFault):
        interpret(text)
    assert time.process_time() - begun < 1


@given(st.text(st.characters()))
def test_any_text_is_interpreted_or_a_fault(text: str) -> None:
    for mode in ("auto", "always"):
        with suppress(SyntaxFault):
            interpret(text, mode)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("diabetes[ti] not mice[ti]", "diabetes[ti] NOT mice[ti]"),
        ("asthma[ti] or copd[ti] or wheeze[ti]", "asthma[ti] OR copd[ti] OR wheeze[ti]"),
        ("asthma[ti] And child[ti]", "asthma[ti] AND child[ti]"),
        ("asthma[ti] | copd[ti] || wheeze[ti]", "asthma[ti] OR copd[ti] OR wheeze[ti]"),
        ("asthma[ti] & child[ti]", "asthma[ti] AND child[ti]"),
        ("asthma[ti]AND child[ti]", "asthma[ti] AND child[ti]"),
        ("(asthma[ti] or copd[ti]) not mice[ti]", "(asthma[ti] OR copd[ti]) NOT mice[ti]"),
    ],
)
def test_behind_a_tag_an_operator_is_one_however_it_is_written(written: str, meant: str) -> None:
    assert interpret(written) == interpret(meant) != None  # noqa: E711 - both, and neither None


def test_a_word_between_words_is_no_operator() -> None:
    one, other = interpret("signs and symptoms[ti]"), interpret("signs AND symptoms[ti]")
    assert one is not None
    assert one != other
    assert interpret("benzo[a]pyrene and not mice") is None


@pytest.mark.parametrize("tag", ["sh", "ad", "ot", "lastau", "edat"])
def test_a_tag_for_what_no_index_keeps_is_refused_also_alone(tag: str) -> None:
    with pytest.raises(SyntaxFault, match=rf"\[{tag}\]: an index does not keep"):
        interpret(f"metabolism[{tag}]")
    assert interpret(f"the left atrium [{tag.upper()}] of mice") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("diabetes[ti] AND metformin[tiab] NOT rats", "diabetes metformin"),
        ("diabetes[ti] NOT (mice[ti] OR rats[ti])", "diabetes"),
        ("asthma[mh] AND wheeze[tiab]", "wheeze"),
        ("asthma/drug therapy[mh] AND humans[mh]", "asthma"),
        ("child[ti] AND smith j[au]", "child"),
        ("humans[mh] AND smith j[au]", ""),
        ("cardi*[ti]", ""),
    ],
)
def test_words_with_tags_are_ranked_by_if_there_are_no_others(text: str, words: str) -> None:
    interpretation = interpret(text)
    assert interpretation is not None
    assert (interpretation.words, interpretation.from_tags) == (words, bool(words))
