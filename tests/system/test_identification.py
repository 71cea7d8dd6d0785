"""Which language a question is in."""

import pytest

from bioqa.system.english import STOP_WORDS
from bioqa.system.foreign_words import CONTENT_WORDS, FUNCTION_WORDS
from bioqa.system.identification import _LETTERS, _SCRIPTS, foreign_language, function_words
from bioqa.system.language import NAMES


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
        ("Was ist die Ursache der Huntington-Krankheit?", "German"),
        ("Metformin Nebenwirkungen", "German"),
        ("Bevolkingsonderzoek borstkanker", "Dutch"),
        ("traitement migraine", "French"),
        ("sintomas hipotiroidismo mujer", "Spanish"),
        ("padaczka leki objawy", "Polish"),
        ("Akciğer embolisi nasıl tedavi edilir", "Turkish"),
        ("Mitkä lääkkeet alentavat verenpainetta?", "Finnish"),
        ("Milyen gyógyszerek csökkentik a vérnyomást?", "Hungarian"),
        ("Efek samping kortison pada anak", "Indonesian"),
        ("Eficacitatea vaccinului împotriva zonei zoster", "Romanian"),
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
        "Huntington",
        "Huntington Alzheimer Parkinson",
        "Behçet uveitis",
        "Sjögren Guillain-Barré",
        "Kaffee und Osteoporose",  # the other words may be names
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
    assert {*FUNCTION_WORDS, *_SCRIPTS.values()} <= NAMES.keys()
    assert _LETTERS.keys() <= FUNCTION_WORDS.keys() == CONTENT_WORDS.keys()


def test_words_that_english_does_not_know_support_a_language() -> None:
    question = "Kaffee und Osteoporose"
    assert foreign_language(question, lambda word: True) is None
    language = foreign_language(question, lambda word: False)
    assert language is not None
    assert language.name == "German"
    assert foreign_language("Which coffee und osteoporosis?", lambda word: False) is None


def test_no_word_of_content_is_english_grammar() -> None:
    for listed in CONTENT_WORDS.values():
        for word in listed.split():
            if word.startswith("-"):
                assert not any(word[1:] in english for english in STOP_WORDS)
            else:
                assert not any(english.startswith(word) for english in STOP_WORDS if len(word) > 4)
                assert word not in STOP_WORDS


def test_the_words_of_grammar_of_a_language_are_those_that_a_search_can_do_without() -> None:
    french, chinese = foreign_language("Quel est le rôle de la metformine ?"), foreign_language("二甲双胍？")
    assert french is not None
    assert chinese is not None
    assert {"le", "de", "quel"} <= function_words(french)
    assert not function_words(chinese)


def test_characters_that_are_in_no_script_do_no_harm() -> None:
    assert foreign_language("\ud800 \x00 \U0010ffff 😀 " * 50) is None
