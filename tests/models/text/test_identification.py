"""Which language a question is in."""

import pytest

from bioqa.models.text.identification import _FUNCTION_WORDS, _LETTERS, _SCRIPTS, foreign_language
from bioqa.models.text.language import NAMES


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Quels sont les effets indésirables de la metformine ?", "French"),
        ("Quel est le rôle de BRCA1 dans le cancer du sein ?", "French"),
        ("Welche Nebenwirkungen hat Metformin?", "German"),
        ("Wie wirkt Aspirin bei einem Herzinfarkt?", "German"),
        ("¿Cuáles son los efectos secundarios de la metformina?", "Spanish"),
        ("Quali sono gli effetti collaterali della metformina?", "Italian"),
        ("Quais são os efeitos colaterais da metformina?", "Portuguese"),
        ("Wat zijn de bijwerkingen van metformine?", "Dutch"),
        ("Jakie są działania niepożądane metforminy i kto nie może jej brać?", "Polish"),
        ("Vilka är biverkningarna av metformin?", "Swedish"),
        ("Каковы побочные эффекты метформина?", "Russian"),
        ("Які побічні ефекти метформіну?", "Ukrainian"),
        ("二甲双胍有哪些副作用？", "Chinese"),
        ("メトホルミンの副作用は何ですか？", "Japanese"),
        ("메트포르민의 부작용은 무엇입니까?", "Korean"),
        ("ما هي الآثار الجانبية للميتفورمين؟", "Arabic"),
        ("Ποιες είναι οι παρενέργειες της μετφορμίνης;", "Greek"),
        ("BRCA1 基因突变与乳腺癌有什么关系？", "Chinese"),
    ],
)
def test_a_language_is_named(question: str, name: str) -> None:
    found = foreign_language(question)
    assert found is not None
    assert (found.name, NAMES[found.code]) == (name, name)


@pytest.mark.parametrize(
    "question",
    [
        "Which genes influence the dose of warfarin?",
        "Is Sjögren's syndrome linked to Guillain-Barré syndrome?",
        "De novo mutations in autism",
        "Is Escherichia coli O157:H7 found in vitro and in vivo?",
        "What is the role of TGF-β, IFN-γ and α-synuclein?",
        "Kaposi sarcoma HIV",
        "Do die Zellen of the pons die?",
        "Is the Ménière disease of Prosper Ménière an ear disease?",
        "αβγ",
        "metformin",
        "des-gamma-carboxyprothrombin and et al",
        "Was ist die",  # "was" and "die" are English words, and one function word is not enough
        "12345 67",
        "?!",
        "",
    ],
)
def test_biomedical_english_and_what_is_uncertain_has_no_name(question: str) -> None:
    assert foreign_language(question) is None


def test_white_space_case_and_composition_change_nothing() -> None:
    assert foreign_language("  WELCHE GENE SIND FÜR KREBS WICHTIG?\n") == foreign_language(
        "welche gene sind fu\u0308r krebs wichtig"
    )


def test_every_language_listed_has_a_name() -> None:
    assert {*_FUNCTION_WORDS, *_SCRIPTS.values()} <= NAMES.keys()
    assert _LETTERS.keys() <= _FUNCTION_WORDS.keys()


def test_characters_that_are_in_no_script_do_no_harm() -> None:
    assert foreign_language("\ud800 \x00 \U0010ffff 😀 " * 50) is None
