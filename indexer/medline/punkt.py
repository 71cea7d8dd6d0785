"""NLTK's Punkt with parameters for biomedical English.

Two word lists replace a trained model: NLTK's own was trained on newspapers and is not part of the package,
and Punkt trained on 44,448 citations takes hundreds of ordinary words for abbreviations.
"""

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from bioqa.system.home import pretended_home

if TYPE_CHECKING:
    from nltk.tokenize.punkt import PunktSentenceTokenizer

_ABBREVIATIONS = """
    a.d a.m a.u al appl approx assoc b.c b.d b.g b.i.d b.p.m b.w biochem biol bull c.f c.i c.s ca cf ch
    chem clin co comp corp cv dept diam dis dr e.g ed eds endocrinol eq eqs et etc expt f.sp fig figs gen
    genet h.s i.a i.c i.c.v i.d i.e i.m i.n i.o.p i.p i.t i.u i.v ibid immunol inc incl int intl invest jr
    lett ltd m.o max med mg./kg microbiol min mol mr mrs ms n.b n.s neurol neurosci ng./ml no nos nov o.d
    o.m obs p.a p.c p.i p.m p.o p.p.m p.r.n pathol ph.d pharmacol phys physiol pp prof psychiatr q.a.m q.d
    q.d.s q.i.d q.o.d ref refs resp rev s.c s.d s.e s.e.m s.l s.q sci sect sp spec spp sr ssp st subsp
    suppl surg syn t.d.s t.i.d u.k u.s u.s.a univ v.s var vers viz vol vols vs w.h.o
"""

_STARTERS = """
    a about according accordingly additional additionally administration adverse after all also although
    altogether among an analyses analysis another approximately as assessment at background based baseline
    because before besides between blood both but by case cells changes children clinical clinically
    collectively combination combined compared comparison conclusion conclusions consequently considering
    consistent context control conversely current currently data depletion despite diagnosis differences
    different due during each early efficacy eight eighteen eleven eligible even evidence experimental
    expression few fifteen fifty finally findings first five following for forty four fourteen from
    further furthermore future genetic given group he hence her here herein high higher his how however if
    importantly in inclusion increased increasing indeed information inhibition initial initially instead
    interestingly interpretation introduction it its lastly later levels like likewise little main many
    mean meanwhile measurements median method methods mice moreover most mutations neither nevertheless
    new nine no none nonetheless notably novel numerous objective objectives of on once one only other our
    outcome outcomes over overall overexpression participants patient patients plasma possible potential
    preliminary previous previously primary prior prospective purpose recent recently remarkably research
    response result results safety samples secondary serum seven several she significant significantly
    similar similarly since single six sixteen sixty so some specific specifically statistical strikingly
    studies study subjects subsequent subsequently such surgical surprisingly symptoms taken ten that the
    their then there thereafter therefore these they third thirteen thirty this those though three through
    thus to together total treatment trial twelve twenty two under unfortunately unlike until upon use
    using various we what when whereas whether which while with within women yet
"""

ABBREVIATIONS = frozenset(_ABBREVIATIONS.split())
"""In lower case, without the final full stop. Before a sentence starter, even these end a sentence."""

STARTERS = frozenset(_STARTERS.split())
"""Words that are capitalised only at the beginning of a sentence."""

# Punkt's flag for a word that occurs in lower case inside sentences.
_LOWER_INSIDE = 1 << 5


@lru_cache(maxsize=1 << 14)
def breaks(context: str) -> bool:
    """Whether a sentence ends between the two tokens of ``context``, as in "i.v. In"."""
    return bool(tokenizer().text_contains_sentbreak(context))


@cache
def tokenizer() -> "PunktSentenceTokenizer":
    # Imported here because NLTK takes more than a second to import, and most commands split no sentences.
    with pretended_home():
        from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    parameters = PunktParameters()
    parameters.abbrev_types = set(ABBREVIATIONS)
    parameters.sent_starters = set(STARTERS)
    for word in STARTERS:
        parameters.add_ortho_context(word, _LOWER_INSIDE)
    return PunktSentenceTokenizer(parameters)
