"""Signs in a sentence that it states an answer: numbers, verbs of effect, causes, harms, advice, negations.

Read word by word with a dictionary that fills itself: matching each rule against each sentence would take
twenty times as long.
"""

import re

import numpy as np

from bioqa.models.answers.sentence_words import SentenceWords
from bioqa.models.arrays import Floats

_WORDS: dict[str, str] = {
    # Verbs and adjectives of an effect that was found.
    "effect": (
        r"(?:re|in|de)duc(?:e|es|ed|ing|tion|tions)|increas(?:e|es|ed|ing)|decreas(?:e|es|ed|ing)|improv\w+"
        r"|prevent(?:s|ed|ing)?|protect\w*|lower(?:s|ed|ing)?"
        r"|rais(?:e|es|ed|ing)|enhanc\w+|reliev\w+|allevia\w+"
        r"|attenuat\w+|suppress\w*|abolish\w*|revers(?:e|es|ed|al)"
        r"|delay(?:s|ed)?|prolong\w*|shorten\w*|worsen\w*"
        r"|resolv\w+|recover\w*|respon(?:d|ded|ds|se|ses)|benefi\w+"
        r"|effective\w*|efficac\w+|ineffective|beneficial"
        r"|promot\w+|impair\w*|diminish\w*|elevat\w+|declin\w+|ameliorat\w+|restor\w+"
        r"|succe\w+|fail(?:s|ed|ure)?"
    ),
    "comparison": (
        r"than|compared|versus|vs|superior\w*|inferior\w*|better|worse|higher|lower"
        r"|greater|less|more|fewer|larger"
        r"|smaller|similar\w*|comparable|equal\w*|equivalent|difference"
        r"|differences|differ|differed|significant\w*"
        r"|most|best|least|highest|lowest|longer|shorter|faster|slower|fold"
    ),
    "cause": (
        r"caus(?:e|es|ed|ing|al|ative)|lead(?:s|ing)?|led"
        r"|result(?:s|ed|ing)?|due|because|associat\w+|risk|risks"
        r"|factor|factors|induc\w+|trigger\w*|provok\w+|attribut\w+|contribut\w+"
        r"|underl(?:ie|ies|ying)|responsible"
        r"|predict\w*|correlat\w+|related|linked|mutation|mutations|mutated"
        r"|variant|variants|origin\w*|secondary"
        r"|predispos\w+|susceptib\w+|transmi\w+|infect\w*|source|sources|depend\w*|precipitat\w+"
    ),
    "harm": (
        r"adverse|side|toxic\w*|harm\w*|safe|safety|danger\w*|complication"
        r"|complications|death|deaths|fatal|died"
        r"|bleeding|haemorrhag\w+|hemorrhag\w+|nausea|vomit\w*|rash|headaches?"
        r"|dizz\w+|sedat\w+|hypotension|seizures?"
        r"|syndrome|malformation\w*|teratogen\w*|overdose\w*|discontinu\w+|tolera\w+"
        r"|reaction|reactions|injur\w+"
        r"|fail(?:ure)?|withdraw\w*|symptom|symptoms|hyper\w+|hypo\w+|\w+penia"
        r"|\w+aemia|\w+emia|arrhythm\w+|torsade\w*"
        r"|suicid\w+|events?|warning\w*|contraindicat\w+|weight|gain|defects?|damage\w*"
    ),
    "advice": (
        r"should|recommend\w*|recommendation\w*|preferred|choice|first|line"
        r"|standard|treatment|treatments|treated"
        r"|therap\w+|useful|indicated|option|options|consider\w*"
        r"|administ\w+|prescri\w+|alternative\w*|manag\w+"
        r"|intervention\w*|drug|drugs|agent|agents|surgery|surgical\w*|dose|doses|mg|regimen\w*|combination"
    ),
    "diagnosis": (
        r"diagnos\w+|sensitiv\w+|specific\w+|accuracy|detect\w*|test|tests|testing"
        r"|imaging|mri|ct|tomograph\w+"
        r"|radiograph\w+|ultraso\w+|echocardiogra\w+|biopsy|marker|markers"
        r"|biomarker\w*|antibod\w+|positive|negative"
        r"|characteri\w+|feature|features|finding|findings|sign|signs|show"
        r"|shows|showed|shown|reveal\w*|criteria"
        r"|differenti\w+|distinguish\w*|identif\w+|eeg|ecg|pcr|stain\w*|assay\w*"
        r"|predictive|auc|screen\w*|confirm\w*"
    ),
    "mechanism": (
        r"bind\w*|bound|inhibit\w*|activat\w+|phosphorylat\w+|express\w*"
        r"|regulat\w+|mediat\w+|pathway\w*|signal\w*"
        r"|receptor\w*|block\w*|stimulat\w+|interact\w*|encod\w+|kinase\w*|mechanism\w*"
        r"|via|through|thereby|thus"
        r"|recruit\w*|target\w*|accumulat\w+|disrupt\w*|degrad\w+|release\w*"
        r"|transcript\w+|upregulat\w+|role|function"
        r"|downregulat\w+|modulat\w+|catalyz\w+|catalys\w+|by|cleav\w+"
        r"|methylat\w+|secret\w+|antagonis\w*|agonis\w*"
    ),
    "negation": (
        r"no|not|neither|nor|without|lack|lacks"
        r"|lacking|absence|absent|failed|none|never|unlikely|cannot"
    ),
    "hedge": (
        r"may|might|could|possib\w+|perhaps|suggest\w*|appear\w*|seem\w*"
        r"|potential\w*|likely|unclear|unknown"
        r"|controvers\w+|remain\w*|limited|further|probabl\w+"
    ),
    "study": (
        r"study|studies|trial|trials|aim\w*|objective\w*|purpose|investigat\w+"
        r"|evaluat\w+|assess\w*|examin\w+|determin\w+"
        r"|whether|hypothes\w+|randomi\w+|enrolled|included|inclusion|measured"
        r"|performed|analy[sz]\w+|review\w*|explor\w+"
        r"|searched|recruited|conducted|undertaken|designed|received"
        r"|assigned|underwent|questionnaire\w*|discuss\w*"
        r"|describ\w+|report\w*|we|our|collected|compare|protocol"
    ),
    "finding": (
        r"found|showed|shown|demonstrat\w+|indicat\w+|reveal\w*|observed"
        r"|concluded|conclude|conclusion\w*|confirm\w*"
        r"|identified|result|results|data|evidence|support|supports|findings|occurred|occurs"
        r"|were|was|had|is|are"
    ),
    "pointing": r"this|these|it|they|its|their|such|both|here|latter",
    "frequency": (
        r"incidence|prevalence|rate|rates|percent|percentage|proportion|median"
        r"|mean|survival|mortality|frequen\w+|common"
        r"|commonly|rare|rarely|often|ratio|odds|hazard|range|total|half"
        r"|third|majority|cases|per|occur\w*|approximately"
        r"|average|about|estimated|probability|overall"
    ),
    "duration": (
        r"years?|months?|weeks?|days?|hours?|h|min"
        r"|minutes?|after|within|until|duration|follow|during"
    ),
    "drug": (
        r"\w{3,}(?:mab|nib|pril|statin|olol|sartan|azole|cillin|mycin|cycline|floxacin|vir|parin|gliptin|glutide|gliflozin"
        r"|prazole|tidine|triptan|setron|dipine|zepam|zolam|azine|idone|apine"
        r"|oxetine|pramine|triptyline|caine|fentanil"
        r"|tinib|ciclib|parib|lukast|terol|sone|solone|onide|dronate|platin|rubicin"
        r"|taxel|bine|trexate|mide|zide|formin"
        r"|glitazone|tadine|amine|barbital|pentin|afil|osin|curium|xaban|gatran|lovir"
        r"|avir|umab|ximab|zumab|cept|kinra)"
        r"|placebo|lithium|valproate|divalproex|insulin|aspirin|heparin|warfarin"
        r"|morphine|interferon|botulinum|vitamin"
    ),
}
SIGNS = tuple(_WORDS)
_PATTERNS = [(name, re.compile(rule)) for name, rule in _WORDS.items()]
_NAME = re.compile(r"[A-Z]{2,}|[a-z]+[A-Z]")
_OTHERS = {"%": "percent", "=": "statistic", "<": "statistic", "±": "statistic"}
_BITS = (*SIGNS, "percent", "statistic", "number", "name")
_BIT = {name: 1 << position for position, name in enumerate(_BITS)}
NUMBERS = ("number", "numbers", "percent", "statistic", "names", "long", "short")
NEWS = ("new_drug", "new_name", "new_number")
COLUMNS = (*SIGNS, *NUMBERS, *NEWS)

MOST_KNOWN = 200_000
"""Words that are kept with their signs; texts can have any number of different ones."""


class _Known(dict[str, int]):
    """The signs of a word, as bits."""

    def __missing__(self, word: str) -> int:
        if word[0].isdigit():
            return _BIT["number"]
        lower = word.lower()
        bits = sum(_BIT[name] for name, pattern in _PATTERNS if pattern.fullmatch(lower))
        bits |= _BIT[_OTHERS[word]] if word in _OTHERS else 0
        bits |= _BIT["name"] if _NAME.match(word) else 0
        if len(self) >= MOST_KNOWN:
            self.clear()
        self[word] = bits
        return bits


_KNOWN = _Known()


def signs(words: SentenceWords, question: str) -> Floats:
    """[sentences, COLUMNS], each in [0, 1]. A drug, name or number is new that the question does not have."""
    bits = np.fromiter(map(_KNOWN.__getitem__, words.words), dtype=np.int64, count=len(words.words))
    question_words = frozenset(SentenceWords.of([question]).lower)
    new = np.fromiter((word not in question_words for word in words.lower), dtype=np.bool_, count=len(bits))
    any_bits = np.zeros(words.size, dtype=np.int64)
    np.bitwise_or.at(any_bits, words.sentence, bits)
    flags = (any_bits[:, None] >> np.arange(len(SIGNS))) & 1

    def count(name: str, *, only_new: bool = False) -> Floats:
        kept = (bits & _BIT[name]) > 0
        return np.bincount(words.sentence, kept & new if only_new else kept, words.size).astype(np.float64)

    numbers, names, length = count("number"), count("name"), words.lengths
    others = [
        *(numbers > 0, np.minimum(numbers, 8) / 8, count("percent") > 0, count("statistic") > 0),
        *(np.minimum(names, 4) / 4, np.minimum(length, 60) / 60, length < 8),
        count("drug", only_new=True) > 0,
        np.minimum(count("name", only_new=True), 3) / 3,
        count("number", only_new=True) > 0,
    ]
    return np.hstack([flags.astype(np.float64), np.stack(others, axis=1)])
