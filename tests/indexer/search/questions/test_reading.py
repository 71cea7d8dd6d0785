"""How a question is read."""

from collections.abc import Sequence

import pytest

from bioqa.bioasq.domain import Document
from bioqa.indexer.search.evidence import Evidence
from bioqa.indexer.search.questions.abbreviations import MOST_ABBREVIATIONS
from bioqa.indexer.search.questions.chunks import MAX_PARTS
from bioqa.indexer.search.questions.condensing import LONG_CHARACTERS, LONG_TERMS
from bioqa.indexer.search.questions.meanings import MOST_MEANINGS, MOST_SPELLINGS
from bioqa.indexer.search.questions.pieces import Abbreviated
from bioqa.indexer.search.questions.reading import (
    MOST_CORRECTIONS,
    SYNONYM_WEIGHT,
    CorrectedWord,
    Expansion,
    Reading,
    read,
)
from bioqa.indexer.search.wording import Best, Every, Wording, Words, texts
from tests.indexer.search.evidence import TextEvidence

LUNG = "non-small cell lung cancer (NSCLC) and its treatment"
SCLEROSIS = "relapses of multiple sclerosis (MS) under ocrelizumab"
SPECTRA = "spectra of peptides by mass spectrometry (MS)"


def also(reading: Reading) -> dict[str, tuple[str, ...]]:
    return {each.words: each.also for each in reading.expansions}


def sought(question: str, evidence: Evidence) -> set[str]:
    """The texts that are searched for, in lower case."""
    return {text.lower() for text in texts(read(question, evidence).wording)}


# Words


def test_a_question_of_known_words_is_taken_as_it_is() -> None:
    reading = read("Does aspirin help?", TextEvidence("Aspirin does help"))
    assert reading.text == "Does aspirin help?"
    assert reading.wording == Every((Words("aspirin"), Words("help")))
    assert not reading


def test_a_question_in_another_language_is_neither_corrected_nor_searched_for_by_its_grammar() -> None:
    resume = "Quelle est la place de la chirurgie dans le traitement de la lithiase ?"
    evidence = TextEvidence(resume, "Metformin in children", "Kinder")
    german = read("Welche Nebenwirkungen hat Metformin bei Kindern?", evidence)
    assert (german.corrections, german.text) == ((), "Welche Nebenwirkungen hat Metformin bei Kindern?")
    assert texts(german.wording) == ["Metformin"]
    assert sought("Quel est le rôle de la metformin dans le diabète ?", evidence) == {"metformin"}
    assert "la" in sought("What is la lithiase?", evidence)


@pytest.mark.parametrize(
    ("asked", "other"),
    [
        ("tumour", "tumor"),
        ("anaemia", "anemia"),
        ("IL6", "IL-6"),
        ("COVID-19", "COVID19"),
        ("TNF-α", "TNF-alpha"),
        ("TNFα", "TNF-alpha"),
        ("α-synuclein", "alpha-synuclein"),
        ("Sjo\u0308gren", "Sjögren"),
        ("ada\u200blimumab", "adalimumab"),
        ("Parkinson's", "Parkinson"),
        ("Parkinson’s", "Parkinson"),
    ],
)
def test_ways_to_write_a_word_are_searched_for_alike(asked: str, other: str) -> None:
    known = TextEvidence(
        "tumour tumor anaemia anemia IL6 IL-6 COVID19 COVID-19 TNFα TNF-alpha TNF-α TNFalpha Sjögren",
        "α-synuclein alpha-synuclein adalimumab Parkinson",
    )
    assert sought(f"role of {asked}", known) == sought(f"role of {other}", known)


def test_a_way_that_the_index_has_not_is_not_searched_for() -> None:
    assert sought("chemotherapy of tumours", TextEvidence("chemotherapy of tumours")) == {
        "chemotherapy",
        "tumours",
    }


def test_the_best_way_counts_and_a_rare_one_no_more_than_the_usual_one() -> None:
    evidence = TextEvidence("tumor", "tumour", "knee", times={"tumor": 50, "knee": 100})
    (wording,) = read("tumour", evidence).wording.parts
    assert isinstance(wording, Best)
    weights = {way.text: way.weight for way in wording.ways if isinstance(way, Words)}
    assert weights["tumor"] == 1.0
    assert 0 < weights["tumour"] < 0.5


def test_what_was_added_is_told() -> None:
    reading = read("tumour", TextEvidence("tumor and tumour"))
    assert reading.expansions == (Expansion("tumour", ("tumor",), "spelling"),)


def test_stop_words_are_not_searched_for() -> None:
    assert sought("What is the role of aspirin?", TextEvidence("the role of aspirin")) == {"role", "aspirin"}


# Abbreviations


def test_an_abbreviation_brings_its_long_form_and_the_reverse() -> None:
    evidence = TextEvidence(LUNG, "knee", times={LUNG: 5, "knee": 20})
    assert also(read("Treatment of NSCLC", evidence)) == {"NSCLC": ("non-small cell lung cancer",)}
    assert also(read("Treatment of non small cell lung cancer", evidence)) == {
        "non small cell lung cancer": ("NSCLC",)
    }


def test_one_of_both_counts() -> None:
    wording = read("NSCLC", TextEvidence(LUNG, times={LUNG: 5})).wording
    assert isinstance(wording.parts[0], Best)
    assert len(wording.parts) == 1


def test_a_question_that_has_both_says_one_thing() -> None:
    evidence = TextEvidence(LUNG, times={LUNG: 5})
    reading = read("non-small cell lung cancer (NSCLC)", evidence)
    assert len(reading.wording.parts) == 1
    assert reading.text == "non-small cell lung cancer (NSCLC)"


def test_what_the_question_itself_defines_means_nothing_else() -> None:
    sickle = "sickle cell anemia (SCA) in children"
    evidence = TextEvidence(sickle, "single-cell analysis", times={sickle: 9})
    assert also(read("SCA in children", evidence)) == {"SCA": ("sickle cell anemia",)}
    assert also(read("Is single-cell analysis (SCA) possible?", evidence)) == {}


def test_the_words_of_a_long_form_do_not_outweigh_the_abbreviation_that_was_asked() -> None:
    evidence = TextEvidence(LUNG, "knee", times={LUNG: 5, "knee": 200})
    (asked_short,) = read("NSCLC", evidence).wording.parts
    (asked_long,) = read("non-small cell lung cancer", evidence).wording.parts
    assert isinstance(asked_short, Best)
    assert isinstance(asked_long, Best)
    of_short, of_long = asked_short.ways[0], asked_long.ways[0]
    # Five words, all as rare as the abbreviation.
    assert of_short.weight == pytest.approx(1 / 5)
    assert of_long.weight == 1.0


def test_the_context_decides_between_meanings() -> None:
    evidence = TextEvidence(SCLEROSIS, SPECTRA, times={SCLEROSIS: 9, SPECTRA: 4})
    assert also(read("Does ocrelizumab prevent relapses of MS?", evidence)) == {"MS": ("multiple sclerosis",)}
    assert also(read("Spectra of peptides by MS", evidence)) == {"MS": ("mass spectrometry",)}


def test_without_a_context_an_ambiguous_abbreviation_is_left_alone() -> None:
    evidence = TextEvidence(SCLEROSIS, SPECTRA, times={SCLEROSIS: 9, SPECTRA: 9})
    assert also(read("MS?", evidence)) == {}


def test_a_meaning_that_does_not_fit_is_not_taken() -> None:
    evidence = TextEvidence(
        "mismatch repair (MMR) of genes",
        "MMR vaccine against viruses",
        times={"mismatch repair (MMR) of genes": 9},
    )
    assert also(read("The MMR vaccine against viruses", evidence)) == {}


def test_what_is_another_things_abbreviation_as_a_rule_is_left_alone() -> None:
    cancer, gene = "breast cancer (BC) of men", "breast cancer (BRCA) and a gene"
    evidence = TextEvidence(cancer, gene, times={cancer: 9, gene: 3})
    assert also(read("a test for BC", evidence)) == {"BC": ("breast cancer",)}
    assert also(read("a test for BRCA", evidence)) == {}


LEUKAEMIA = "relapse of acute lymphoblastic leukaemia (ALL) and (OR) of all other kinds"


@pytest.mark.parametrize("question", ["relapse of ALL", "Which drugs prevent relapse of ALL?"])
def test_a_stop_word_in_capitals_may_be_an_abbreviation(question: str) -> None:
    evidence = TextEvidence(LEUKAEMIA, times={LEUKAEMIA: 5})
    assert also(read(question, evidence)) == {"ALL": ("acute lymphoblastic leukaemia",)}


@pytest.mark.parametrize("question", ["RELAPSE OF ALL", "ALL relapses", "relapse of All", "relapse of all"])
def test_a_stop_word_is_none_at_the_beginning_or_where_all_is_in_capitals(question: str) -> None:
    assert also(read(question, TextEvidence(LEUKAEMIA, times={LEUKAEMIA: 5}))) == {}


def test_operators_are_no_abbreviations() -> None:
    ratio = "an odds ratio (OR) of relapses"
    assert also(read("relapses OR deaths", TextEvidence(ratio, times={ratio: 5}))) == {}


def test_a_rare_definition_is_no_usage() -> None:
    assert also(read("Treatment of NSCLC", TextEvidence(LUNG, times={LUNG: 2}))) == {}


@pytest.mark.parametrize("word", ["aids", "Aids", "was"])
def test_words_are_not_taken_for_abbreviations(word: str) -> None:
    defined = "acquired immune deficiency syndrome (AIDS) and Wiskott-Aldrich syndrome (WAS), hearing aids"
    assert also(read(f"hearing {word}", TextEvidence(defined, times={defined: 9}))) == {}


def read_by_rankers(question: str, evidence: Evidence) -> bool:
    (piece,) = (each for each in read(question, evidence).pieces if isinstance(each, Abbreviated))
    return piece.read_long


def test_a_ranker_reads_a_long_form_that_is_written_as_often() -> None:
    evidence = TextEvidence(SCLEROSIS, "multiple sclerosis", times={SCLEROSIS: 9})
    assert read_by_rankers("ocrelizumab for relapses of MS", evidence)


def test_a_ranker_reads_an_abbreviation_that_is_written_more_often() -> None:
    evidence = TextEvidence(SCLEROSIS, "MS", times={SCLEROSIS: 9, "MS": 25})
    assert not read_by_rankers("ocrelizumab for relapses of MS", evidence)
    assert read_by_rankers("ocrelizumab for relapses of multiple sclerosis", evidence)
    evidence = TextEvidence(SCLEROSIS, "MS", times={SCLEROSIS: 9, "MS": 45})
    assert not read_by_rankers("ocrelizumab for relapses of multiple sclerosis", evidence)


@pytest.mark.parametrize(
    ("short", "long"), [("FGFR3", "fibroblast growth factor receptor 3"), ("circRNA", "circular RNA")]
)
def test_a_ranker_reads_a_name_as_most_documents_write_it(short: str, long: str) -> None:
    defined = f"{long} ({short})"
    for times in (3, 1):
        evidence = TextEvidence(defined, short, times={defined: 4, short: times})
        assert not read_by_rankers(f"role of {short}", evidence)
        assert read_by_rankers(f"role of the {long}", evidence) == (times == 1)


@pytest.mark.parametrize(
    ("question", "long"),
    [
        ("role of CREB in memory", True),
        ("Is CREB a memory protein?", False),
        ("CREB Gene and memory", False),
        ("CREB of generals", True),
    ],
)
def test_a_symbol_of_a_gene_or_a_protein_is_its_name(question: str, long: bool) -> None:
    defined = "cAMP response element binding protein (CREB) in memory of generals"
    assert read_by_rankers(question, TextEvidence(defined, times={defined: 9})) == long


def test_a_ranker_reads_dna_where_its_long_form_was_asked_for() -> None:
    defined = "deoxyribonucleic acid (DNA)"
    evidence = TextEvidence(defined, "DNA", times={defined: 3, "DNA": 90})
    assert not read_by_rankers("replication of deoxyribonucleic acid", evidence)


# What an encoder reads


@pytest.mark.parametrize(
    ("question", "explained"),
    [
        ("Is NSCLC treated?", "Is NSCLC (non-small cell lung cancer) treated?"),
        ("non small cell lung cancer", "non small cell lung cancer (NSCLC)"),
        ("non-small cell lung cancer (NSCLC)", "non-small cell lung cancer (NSCLC)"),
        ("Does seroquel hurt the knee?", "Does quetiapine (seroquel) hurt the knee?"),
        ("Is seroquel quetiapine?", "Is seroquel quetiapine?"),
        ("Does the kneee hurt?", "Does the knee hurt?"),
    ],
)
def test_an_encoder_reads_names_and_long_forms_beside_those_that_were_asked(
    question: str, explained: str
) -> None:
    evidence = TextEvidence(LUNG, "knee quetiapine", times={LUNG: 5, "knee quetiapine": 20})
    assert read(question, evidence).explained == explained


# Misspelt words


def test_a_word_that_no_document_has_is_corrected() -> None:
    reading = read("Does asprin help?", TextEvidence("aspirin may help"))
    assert reading.corrections == (CorrectedWord("asprin", "aspirin"),)
    assert reading.text == "Does aspirin help?"
    assert "asprin" not in {*texts(reading.wording)}
    assert reading


def test_a_rare_word_is_left_alone() -> None:
    evidence = TextEvidence("asprin", "aspirin", times={"aspirin": 1000})
    assert read("asprin", evidence).corrections == ()


def test_a_word_like_no_other_is_left_alone_and_finds_nothing() -> None:
    reading = read("xyzzyqux", TextEvidence("aspirin"))
    assert reading.text == "xyzzyqux"
    assert texts(reading.wording) == []


@pytest.mark.parametrize("word", ["ANGPLT3", "BRCA9", "12345", "abcd"])
def test_names_and_short_words_are_not_corrected(word: str) -> None:
    assert read(word, TextEvidence("ANGPTL3 BRCA1 12346 abcde")).corrections == ()


def test_a_spelling_that_the_index_lacks_is_no_mistake() -> None:
    reading = read("haemorrhage", TextEvidence("hemorrhage"))
    assert reading.corrections == ()
    assert texts(reading.wording) == ["hemorrhage"]


# Any input


@pytest.mark.parametrize("question", ["", " ", "\u200b\u00ad", "?!", "-", "the", "\u0308", "((((", "\ud800"])
def test_a_question_without_words_looks_for_nothing(question: str) -> None:
    assert texts(read(question, TextEvidence("aspirin")).wording) == []


def test_a_long_question_is_taken_as_it_is() -> None:
    evidence = TextEvidence("aspirin")
    question = "asprin " * 2000
    reading = read(question, evidence)
    assert texts(reading.wording) == [question.strip()]
    assert evidence.asked == []


def test_a_question_as_long_as_can_be_is_read_in_bounded_work() -> None:
    evidence = TextEvidence("aspirin")
    read("a-b-c-d-e-1-2-3 IL6-α-β-γ-δ "[:LONG_CHARACTERS] * 35, evidence)
    read(("x-α-1-β-2 " * 200)[:LONG_CHARACTERS], evidence)
    assert len(evidence.asked) < 2000


def test_weights_of_synonyms_are_below_those_of_words() -> None:
    assert 0 < SYNONYM_WEIGHT < 1


def _is_tree(wording: Wording) -> bool:
    return isinstance(wording, Words | Every | Best)


def test_the_wording_can_be_a_key() -> None:
    wording = read("tumour", TextEvidence("tumor and tumour")).wording
    assert _is_tree(wording)
    assert {wording: 1}[wording] == 1


# Bounds


class Counting(TextEvidence):
    """Counts what is searched for."""

    def __init__(self, *texts: str) -> None:
        super().__init__(*texts)
        self.near_words: list[str] = []
        self.fitted = 0

    def near(self, word: str, context: str, size: int) -> list[Document]:
        self.near_words.append(word)
        return super().near(word, context, size)

    def fit(self, texts: Sequence[str], context: str) -> list[float]:
        self.fitted += len(texts)
        return super().fit(texts, context)


def test_of_many_misspelt_words_some_are_looked_up() -> None:
    evidence = Counting("aspirin")
    read(" ".join(f"asprin{chr(97 + number)}" for number in range(26)), evidence)
    assert len(evidence.near_words) == MOST_CORRECTIONS


@pytest.mark.parametrize("letters", ["acgt" * 249, "x" * 999, "x" * 31])
def test_a_sequence_is_no_misspelt_word(letters: str) -> None:
    evidence = Counting("aspirin")
    assert not read(letters, evidence)
    assert evidence.near_words == []


def test_of_many_abbreviations_some_are_looked_up() -> None:
    shorts = [f"{chr(65 + number)}Q" for number in range(26)]
    texts = [f"{short[0].lower()}eta quad ({short})" for short in shorts for _ in range(3)]
    evidence = Counting(*texts)
    reading = read(" ".join(shorts), evidence)
    assert len(reading.expansions) == MOST_ABBREVIATIONS
    assert evidence.fitted <= MOST_ABBREVIATIONS * (1 + MOST_MEANINGS * MOST_SPELLINGS)


def test_an_abbreviation_of_many_meanings_costs_a_bounded_number_of_searches() -> None:
    # As an index gives them: no more than that, however many there are.
    texts = [f"m{'abcdefghij'[n % 10] * 5}{n} s{'klmnopqrst'[n // 10] * 5}{n} (MS)" for n in range(100)]
    evidence = Counting(*texts, *texts)
    read("relapses of MS", evidence)
    assert 0 < evidence.fitted <= 1 + MOST_MEANINGS * MOST_SPELLINGS


def test_more_words_than_a_question_has_are_taken_literally() -> None:
    evidence = TextEvidence("tumor tumour")
    words = " ".join(["tumour"] * (LONG_TERMS + 1))
    assert read(words, evidence).wording == Every((Words(words),))
    assert evidence.asked == []


def test_the_spellings_of_many_parts_are_bounded() -> None:
    # Each part has several spellings; joined in all ways they would be thousands.
    evidence = TextEvidence("tumor")
    read("-".join(["haemoglobinaemia"] * MAX_PARTS), evidence)
    assert len(evidence.asked) < 2**MAX_PARTS * MAX_PARTS * 8
