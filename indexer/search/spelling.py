"""British and American spellings of a word, by rules over its parts and a list of words.

Rules are broader than the language: one makes "chaemo" of "chemo". So what they make is a proposal: whoever
uses it looks whether such a word occurs. Words are lower-case.
"""

import re
from functools import lru_cache
from itertools import product

MAX_RULES = 3
"""Rules applied to one word; all of their combinations are proposed."""

_PARTS = """
hem=haem em~i[acs]=aem esthe=aesthe pedi~a|c=paedi pedo=paedo gynec=gynaec cec~um|a|o=caec
feces=faeces defec=defaec nev~us|i|o=naev paleo=palaeo archeo=archaeo cesar=caesar cesi~um=caesi
etiol=aetiol leuko=leuco edema=oedema esoph=oesoph estr=oestr fet~a|us|o=foet rrhe~a|i=rrhoe
pne~a|i=pnoe celi~a|o=coeli homeo=homoeo ameb=amoeb maneuver=manoeuvr sulf=sulph dieres=diaeres
color=colour tumor=tumour behavior=behaviour favor=favour labor~$|s|i|e|ed=labour vapor=vapour humor=humour
odor=odour vigor=vigour rigor~$|s=rigour neighbor=neighbour harbor=harbour flavor=flavour honor=honour
savor=savour endeavor=endeavour armor=armour parlor=parlour candor=candour
center=centre fiber=fibre liter~$|s=litre meter~$|s=metre caliber=calibre titer=titre goiter=goitre
specter=spectre luster=lustre theater=theatre meager=meagre ocher=ochre saber=sabre
yz~e|i|a=ys iz~e|i|a=is log~$|s=logue l~ed|ing|er|ers|ings=ll ense~$|s|less=ence
program~$|s=programme gray=grey aluminum=aluminium disk~$|s=disc mold=mould artifact=artefact
skeptic=sceptic aging=ageing enrollment=enrolment fulfill=fulfil judgment=judgement draft=draught plow=plough
furosemide=frusemide smolder=smoulder molt=moult acknowledgment=acknowledgement practic~e=practis
""".split()  # noqa: SIM905
"""American part, what must follow it (any, or one of several, $ being the end), and British part."""


class _Rule:
    __slots__ = ("american", "british", "find")

    def __init__(self, written: str) -> None:
        american, self.british = written.split("=")
        self.american, _, following = american.partition("~")
        ends = "" if not following else f"(?={following})"
        # "ll" begins with "l", and "haem" does not contain "hem": the longer one first, so neither is taken
        # for the other.
        self.find = re.compile(f"(?:{self.british}|{self.american}){ends}")


_RULES = tuple(map(_Rule, _PARTS))
_ANY = re.compile("|".join(f"{rule.american}|{rule.british}" for rule in _RULES))


@lru_cache(maxsize=1 << 14)
def spelt_otherwise(word: str) -> tuple[str, ...]:
    """The other spellings that the rules propose, in no order of merit; without the word itself."""
    if len(word) < 4 or not word.isascii() or not _ANY.search(word):
        return ()
    ruled = [rule for rule in _RULES if rule.find.search(word)][:MAX_RULES]
    spellings = (_respelt(word, ruled, british) for british in product((False, True), repeat=len(ruled)))
    return tuple(dict.fromkeys(other for other in spellings if other != word))


def _respelt(word: str, rules: list[_Rule], british: tuple[bool, ...]) -> str:
    for rule, chosen in zip(rules, british, strict=True):
        word = rule.find.sub(rule.british if chosen else rule.american, word)
    return word


@lru_cache(maxsize=1 << 15)
def american(word: str) -> str:
    """The same for both spellings of a word: what the rules make of it, which may be no word."""
    if len(word) < 4 or not word.isascii() or not _ANY.search(word):
        return word
    for rule in _RULES:
        word = rule.find.sub(rule.american, word)
    return word
