"""What a question asks for: a treatment, a harm, a number, and so on, by its words.

A question can ask for several things ("how often does X cause Y" for a number and a harm), so each is a flag
of its own. Rules rather than a model: each says in a line which words it goes by.
"""

import re
from typing import Literal

Kind = Literal["treatment", "harm", "cause", "diagnosis", "number", "mechanism", "yesno", "which"]
"""What the answer to a question is; the kinds by which results are reported."""

_RULES: dict[str, str] = {
    "number": (
        r"how (?:many|much|often|common|long|quickly|fast|soon|old|big|large|frequent|likely|rare|high|far)\b"
        r"|(?:what|which) (?:share|part|percentage|proportion|fraction|percent)\b|\brates?\b|survival"
        r"|survive|prevalence|incidence|half-?li(?:fe|ves)|sensitivity|specificity|accuracy|mortality|chances?\b"
        r"|\bodds\b|percent|\bmax(?:imum)?\b|minimum|\bdos(?:e|es|age)\b|median|average|frequency|expectancy"
        r"|\bnumber of|\bthreshold|\bcut-?off|concentration"
    ),
    "harm": (
        r"side.?effect|adverse|\bsafe\b|safety|danger|harm|toxic|poison"
        r"|give (?:you|me|him|her|people|someone)\b"
        r"|make (?:you|me|him|her|people|someone)\b|(?:go|goes|went) wrong|\bhurts?\b|bad for|problems?\b"
        r"|complication|pregnan|overdose|interact|damage|\brisks?\b|\binduced\b|withdraw|dependen|addict"
    ),
    "cause": (
        r"\bcaus(?:e|es|ed|ing)\b|\bwhy\b|trigger|risk factors?|\brisks?\b|predict|\bleads? to|\bdue to"
        r"|associat|\blink(?:s|ed)?\b|a?etiolog|\bcatch\b|\bget\b.*\bfrom\b|reasons?\b|responsible|contribut"
        r"|\bsource|transmi|spread|infect|behind"
    ),
    "mechanism": (
        r"\bhow (?:do|does|did|come|can|could|is|are)\b|mechanism|\bwhy\b|\brole\b|function|\bworks?\b"
        r"|pathway|molecular|regulat|signal|inhibit|bind|interaction|mediat|activat|what goes wrong"
    ),
    "treatment": (
        r"treat|therap|\bdrugs?\b|medic|\bhelps?\b|\bcur(?:e|es|ed)\b|manag|tablets?\b|pills?\b|\bbest\b"
        r"|reliev|\bget (?:off|rid)|\badd\b|revers|antidote|prevent|what else|options?\b|\bworks?\b|effective"
        r"|efficacy|\bstop\b|better|surgery|vaccin|inhibitors?\b|worth|benefit|improve|\bversus\b|\bvs\b|\bgive\b"
        r"|\busing\b|\bused\b|\bindicat"
    ),
    "diagnosis": (
        r"diagnos|\btests?\b|\btesting\b|\bscans?\b|\btell\b|looks? like|\bsigns?\b|symptom|marker|\bstain"
        r"|antibod|detect|measur|imaging|accuracy|criteri|\bshows?\b|\bpick|screen|\bMRI\b|\bCT\b|\bEEG\b"
        r"|features?\b|identif|characteri|present|confirm|distinguish|\bknow if"
    ),
    "which": (
        r"\bwhich\b|\bwhat (?!is\b|are\b|was\b|were\b|does\b|do\b|did\b|can\b|could\b|if\b)\w+|\bwho\b"
        r"|\bname\b|\blist\b|\bgenes?\b|protein|enzyme|marker|\btypes?\b"
    ),
    "yesno": (
        r"^(?:\W*(?:so|and|but|please|hi|hello)\W+)?(?:is|are|am|do|does|did|can|could|will|would|should|has|have"
        r"|had|was|were|may|might|must)\b|[,;.] (?:is|are|do|does|did|can|could|will|would|should|has|have)\b"
        r"|\b(?:true|possible) that|\bif\b.*\?|\bwhether\b"
    ),
    "comparison": r"\bvs\b|versus|\bor\b|better|compar|\bthan\b|differen|\bbetween\b|superior|\bbest\b",
    "definition": r"^what(?:'s| is| are)\b|\bdefin|\bdescribe|\bmeaning\b|\bstand for|\bexplain",
    "duration": r"how (?:long|soon|quickly|fast)|when\b|\blast\b|half-?li|surviv|\byears?\b|expectancy",
    "frequency": (
        r"how (?:often|common|likely|frequent|rare|many)|\brates?\b|prevalence|incidence|chance|share"
        r"|proportion|percent|mortality|sensitivity|specificity|accuracy|\bodds\b"
    ),
    "negated": r"\bwithout\b|\bno\b|\bnot\b|n't\b|\bnegative\b|besides|other than|except|\bfail|\bnever\b",
}

FLAGS = tuple(_RULES)
_PATTERNS = [(name, re.compile(rule, re.IGNORECASE)) for name, rule in _RULES.items()]


def asked_for(question: str) -> frozenset[str]:
    """Those of ``FLAGS`` that the question raises."""
    return frozenset(name for name, pattern in _PATTERNS if pattern.search(question))


def kind_of(question: str) -> Kind:
    """The one kind that fits best."""
    flags = asked_for(question)
    if "number" in flags and re.search(_RULES["number"].split("|\\brates?")[0], question, re.IGNORECASE):
        return "number"
    for kind in ("harm", "yesno", "number", "diagnosis", "treatment", "mechanism", "cause", "which"):
        if kind in flags:
            return kind
    return "which"
