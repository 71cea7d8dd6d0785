"""Pappas and Androutsopoulos 2021, Tables 1 and 4 (ablations), and systems of ours beside them."""

from typing import Any

from bioqa.models.experiments.components import FeatureGroup, TrainedComponent, Untrained
from bioqa.models.experiments.experiment import Experiment
from bioqa.models.experiments.results import MEASURES
from bioqa.models.experiments.shares import Share
from bioqa.models.experiments.systems import System, train_component
from bioqa.models.rankers.registry import ARCHITECTURES, settings_of
from bioqa.models.training.recipes import SOFT

WHOLE = Share(watched=120)
"""For rankers without encoder: all data, but a sample of dev after every epoch."""
SOME = Share(train_questions=300, watched=60, dev_questions=120, candidates=30)
"""For BCNN, which takes several times as long as PDRMM."""
FEW = Share(train_questions=50, irrelevant=1, watched=10, dev_questions=30, test_questions=40, candidates=10)
"""For most rankers over an encoder, so that they train on two cores."""
READY = Share(dev_questions=100)
"""For a ranker that is already trained."""
ZERO_SHOT = Share(dev_questions=100, candidates=10)
"""For an encoder without training, which reads every sentence of the candidates."""
MORE = Share(irrelevant=1, watched=40, dev_questions=100, test_questions=150, candidates=20)
"""For ``LEARNED_FROM_ALL``: an epoch of fine-tuning takes some 20 minutes on two cores."""
LEARNED_FROM_ALL: dict[str, dict[str, Any]] = {
    "jbert-adapt-nf": {},
    "jbert-nf": {},
    "jbert": {"epochs": 6, "pairs_at_once": 8},
    "bjpdrmm-adapt-nf": {},
    "bjpdrmm-nf": {},
    "bjpdrmm": {"pairs_at_once": 8},
}
"""Architectures over an encoder that are trained on all questions, with changes of their settings: those with
a frozen encoder, and one of each kind that is fine-tuned, to measure what fine-tuning gains."""

EXTENDED: dict[str, Any] = {"features": "extended", "last_layer": False}
LISTWISE: dict[str, Any] = {**EXTENDED, "listwise_weight": 0.3}
_VECTORS = {"epochs": 6, "patience": 3}
"""The paper trains up to 30 epochs with a patience of 4; here dev scores stop rising after about six."""
_FROZEN = {"pairs_per_step": 8, "epochs": 8}
"""Small steps, so that there are enough of them with few questions."""
_TUNED: dict[str, Any] = {
    "pairs_per_step": 8,
    "frozen_layers": 3,
    "frozen_epochs": 4,
    "epochs": 5,
    "encoder_learning_rate": 2e-4,
    "falling_rate": True,
}
"""Rates fall over all epochs: when the encoder starts to be trained, after 4 of 5 or 6, its rate is at 4e-5
or 7e-5."""
_THREE_SEEDS = ("jbert-adapt-nf", "jbert-nf")
"""Architectures over an encoder that train within minutes, so that three seeds are affordable."""
_OF_THE_PAPER = ("PDRMM+BCNN", "PDRMM+PDRMM", "Sentence PDRMM", "JPDRMM")


def without_encoder() -> list[System]:
    """Rows that need word vectors and features only."""
    pdrmm, sentences = _train("pdrmm"), _train("sentence-pdrmm")
    return [
        System("Features only (papers')", "baseline", _train("features")),
        System("Features only (extended)", "baseline", _train("features", **LISTWISE)),
        System("PDRMM+BCNN", "pipeline", _train("bcnn", SOME), _train("pdrmm", SOME), seeds=1),
        System("PDRMM+PDRMM", "pipeline", sentences, pdrmm),
        System("Sentence PDRMM", "joint", sentences),
        System("JPDRMM", "joint", _train("jpdrmm")),
        System("jpdrmm (JPDRMM, extended, listwise)", "ours", _train("jpdrmm", **LISTWISE)),
        System("soft (the default)", "ours", _train("features", **SOFT)),
    ]


def ablations() -> list[System]:
    """JPDRMM's λ and features (Table 4), and our steps from it to ``jpdrmm``, trained on all of the data.

    A share would not do: without sentence features and from 300 questions, PDRMM's AUC stays at chance.
    """
    groups: tuple[FeatureGroup | None, ...] = (None, "document features", "sentence features")
    parts = {
        f"JPDRMM λ {words}" + (f", no {without}" if without else ""): _train(
            "jpdrmm", WHOLE, without, sentence_weight=weight
        )
        for weight, words in ((10.0, "10"), (1.0, "1"), (0.1, ".1"), (0.01, ".01"))
        for without in groups
    }
    parts |= {
        "JPDRMM λ .1, no last layer": _train("jpdrmm", last_layer=False),
        "JPDRMM λ .1, no last layer, extended": _train("jpdrmm", **EXTENDED),
        "JPDRMM λ .1, no last layer, extended, listwise": _train("jpdrmm", **LISTWISE),
    }
    return [System(name, "ablation", component) for name, component in parts.items()]


def with_encoder(encoder: str, share: Share = FEW, more: Share = MORE) -> list[System]:
    """Rows over an encoder; of each kind, those with a frozen one first.

    Of fine-tuned encoders half of the layers are trained, after 4 epochs over the frozen encoder. ``more``:
    the share of ``LEARNED_FROM_ALL``.
    """

    def over(ranker: str) -> TrainedComponent:
        tuned = _TUNED if settings_of(ranker).fine_tune else _FROZEN
        settings = settings_of(ranker, encoder=encoder, **{**tuned, **LEARNED_FROM_ALL.get(ranker, {})})
        return TrainedComponent(settings, more if ranker in LEARNED_FROM_ALL else share)

    rows = []
    for head in ("jbert", "bjpdrmm"):
        for name in (head + suffix for suffix in ("-adapt-nf", "-nf", "", "-adapt")):
            seeds = 3 if name in _THREE_SEEDS else 1
            rows.append(System(ARCHITECTURES[name].title, "joint", over(name), seeds=seeds))
    bert = over("bert")
    rows += [
        System("BERT+BCNN", "pipeline", _train("bcnn", SOME), bert, seeds=1),
        System("BERT+PDRMM", "pipeline", _train("sentence-pdrmm"), bert, seeds=1),
    ]
    return rows


def _train(
    ranker: str, share: Share = WHOLE, without: FeatureGroup | None = None, **changes: Any
) -> TrainedComponent:
    return train_component(ranker, share, without, **{**_VECTORS, **changes})


EXPERIMENT = Experiment(
    name="pappas-2021",
    title="Pappas and Androutsopoulos 2021",
    systems=(
        System("BM25+BM25 (papers')", "baseline", Untrained("first stage"), seeds=1),
        *(system for system in without_encoder() if system.name in _OF_THE_PAPER),
        *with_encoder(""),
        System("Oracle", "bound", Untrained("oracle"), seeds=1),
    ),
    measures=MEASURES,
    references=(),
    tails=1,
    beside=(*(system for system in without_encoder() if system.name not in _OF_THE_PAPER), *ablations()),
)
"""Systems over an encoder name none: ``with_encoder`` has them over one."""
