"""British and American spellings."""

import pytest

from bioqa.indexer.search.spelling import MAX_RULES, american, spelt_otherwise

PAIRS = """
anemia/anaemia leukemia/leukaemia hemoglobin/haemoglobin hematology/haematology estrogen/oestrogen
esophageal/oesophageal edema/oedema pediatric/paediatric gynecology/gynaecology orthopedic/orthopaedic
fetal/foetal diarrhea/diarrhoea celiac/coeliac cesarean/caesarean ischemic/ischaemic
hypoglycemia/hypoglycaemia uremic/uraemic etiology/aetiology fiber/fibre color/colour
behavioral/behavioural center/centre sulfate/sulphate anesthetic/anaesthetic
feces/faeces dyspnea/dyspnoea localization/localisation hospitalized/hospitalised
catalyze/catalyse paralyzed/paralysed homeostasis/homoeostasis labeled/labelled
signaling/signalling modeling/modelling tumors/tumours liters/litres programs/programmes aluminum/aluminium
""".split()  # noqa: SIM905


@pytest.mark.parametrize("pair", PAIRS)
def test_each_of_a_pair_proposes_the_other(pair: str) -> None:
    first, second = pair.split("/")
    assert second in spelt_otherwise(first)
    assert first in spelt_otherwise(second)
    assert american(second) == american(first) == first


def test_several_rules_make_all_combinations() -> None:
    made = {"anaesthetised", *spelt_otherwise("anaesthetised")}
    assert made == {"anaesthetised", "anaesthetized", "anesthetised", "anesthetized"}


@pytest.mark.parametrize("word", ["", "a", "kras", "insulin", "protein", "α", "müller"])
def test_other_words_have_one_spelling(word: str) -> None:
    assert spelt_otherwise(word) == ()
    assert american(word) == word


def test_a_long_word_has_a_limited_number_of_spellings() -> None:
    assert len(spelt_otherwise("haemoesophagooedematumouranaemia" * 50)) < 2**MAX_RULES
