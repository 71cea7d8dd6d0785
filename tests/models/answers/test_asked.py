import pytest

from bioqa.models.answers.asked import FLAGS, asked_for, kind_of

CASES = {
    "How many people with zelosis survive five years?": {"number", "frequency"},
    "side effects of zeloprin": {"harm"},
    "What causes zelosis?": {"cause"},
    "how does zeloprin work": {"mechanism"},
    "what's the best treatment for zelosis": {"treatment"},
    "blood test for zelosis": {"diagnosis"},
    "Which gene is mutated in zelosis?": {"which"},
    "Does zeloprin help against zelosis?": {"yesno", "treatment"},
    "zeloprin versus placebo": {"comparison"},
    "What is zelosis?": {"definition"},
    "zelosis gene without amyloid": {"negated"},
}


@pytest.mark.parametrize("question", CASES)
def test_what_a_question_asks_for(question: str) -> None:
    assert asked_for(question) >= CASES[question]


@pytest.mark.parametrize("question", ["", "zelosis", "?!", "x" * 10_000])
def test_any_question(question: str) -> None:
    assert asked_for(question) <= {*FLAGS}


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How often does zeloprin cause a rash?", "number"),
        ("is zeloprin safe in pregnancy", "harm"),
        ("Does zeloprin work?", "yesno"),
        ("why do people get zelosis", "mechanism"),
        ("zelosis", "which"),
    ],
)
def test_the_kind_that_fits_best(question: str, kind: str) -> None:
    assert kind_of(question) == kind
