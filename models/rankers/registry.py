"""The architectures by name: the union of what each module of this package declares as ``KINDS``."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from bioqa.models.encoders.encoder import Encoder
from bioqa.models.encoders.loading import device_of
from bioqa.models.encoders.reading import Reader
from bioqa.models.rankers import (
    abel,
    bcnn,
    bert,
    delta,
    drmm,
    duet,
    joint,
    knrm,
    likelihood,
    linear,
    matchpyramid,
    okapi,
    pacrr,
    pdrmm,
    posit,
    sevmos,
    wmd,
)
from bioqa.models.rankers.settings import Kind, RankerSettings, RankerSettingsError, WordReading
from bioqa.models.rankers.vectors import StaticVectors

ARCHITECTURES: dict[str, Kind] = {
    **pdrmm.KINDS,
    **bcnn.KINDS,
    **joint.KINDS,
    **bert.KINDS,
    **linear.KINDS,
    **drmm.KINDS,
    **pacrr.KINDS,
    **posit.KINDS,
    **abel.KINDS,
    **knrm.KINDS,
    **matchpyramid.KINDS,
    **duet.KINDS,
    **likelihood.KINDS,
    **okapi.KINDS,
    **delta.KINDS,
    **sevmos.KINDS,
    **wmd.KINDS,
}

_FORMAT_1 = frozenset(
    (
        "features",
        "last_layer",
        "dimensions",
        "sentence_hidden",
        "sentence_bias",
        "irrelevant_documents",
        "document_loss",
        "document_weight",
        "sentence_weight",
        "listwise_weight",
        "learning_rate",
        "falling_rate",
        "pairs_per_step",
        "epochs",
        "patience",
        "pairs_at_once",
        "encoder",
        "fine_tune",
        "mix_layers",
        "frozen_layers",
        "frozen_epochs",
        "encoder_learning_rate",
    )
)
"""What every checkpoint of format 1 stores, whether its architecture has the setting or not."""


def kind_of(ranker: str) -> Kind:
    """Raises RankerSettingsError for a name that the registry lacks."""
    if ranker not in ARCHITECTURES:
        raise RankerSettingsError(f"architecture {ranker!r} is not one of {', '.join(ARCHITECTURES)}")
    return ARCHITECTURES[ranker]


def settings_of(ranker: str, **changes: Any) -> RankerSettings:
    """The published settings of an architecture, with changes. Raises RankerSettingsError."""
    return kind_of(ranker).settings(ranker).with_changes(**changes)


def settings_from(values: Mapping[str, Any], format_of_file: int) -> RankerSettings:
    """Settings as a checkpoint of this format stores them. Raises RankerSettingsError.

    Of format 1, settings that the architecture does not have are dropped.
    """
    stored = dict(values)
    if "ranker" not in stored:
        raise RankerSettingsError("no ranker is named")
    ranker = stored.pop("ranker")
    settings = kind_of(ranker).settings(ranker)
    if format_of_file == 1:
        had = settings.as_dict()
        stored = {name: value for name, value in stored.items() if name in had or name not in _FORMAT_1}
    return settings.restore(stored)


def build(
    settings: RankerSettings, vectors: Tensor, encoder: Encoder | None = None, *, device: str = "auto"
) -> nn.Module:
    """Build an untrained ranker over frozen word vectors [V, dimensions], or over an encoder.

    What the settings say is frozen of the encoder is frozen. Unless an encoder is given, that of the settings
    is loaded to ``device``, and the ranker is where its encoder is. With ``auto``, a ranker without one is on
    the CPU, with the same scores on every machine. Raises RankerSettingsError if no encoder is named, and
    EncoderError.
    """
    kind, encoding = kind_of(settings.ranker), settings.encoding
    if encoding is None:
        reading = settings.reading
        unknown = reading.unknown_words if isinstance(reading, WordReading) else "drop"
        target = device_of("cpu" if device == "auto" else device)
        return kind.build(settings, StaticVectors(vectors, unknown)).to(target)
    if encoder is None:
        encoder = load_encoder(settings, device)
        assert encoder is not None
    encoder.freeze(encoding.frozen_layers if encoding.fine_tune else None)
    return kind.build(settings, encoder).to(encoder.device)


def place_of(model: nn.Module) -> torch.device:
    """The device that a ranker's input belongs on: that of its weights, or the CPU if it has none."""
    held = next(chain(model.parameters(), model.buffers()), None)
    return torch.device("cpu") if held is None else held.device


def encoder_of(model: nn.Module) -> Encoder | None:
    """The encoder that a ranker is built over, if any."""
    return next((module for module in model.modules() if isinstance(module, Encoder)), None)


def reader_for(
    settings: RankerSettings, encoder: Encoder | None, cached_documents: int = 20_000
) -> Reader | None:
    """The reader of word pieces for a ranker over this encoder; None without one."""
    if encoder is None:
        return None
    kind = kind_of(settings.ranker)
    by_document = kind.units != "sentences"
    return Reader(encoder, kind.reads, by_document=by_document, cached_documents=cached_documents)


def load_encoder(settings: RankerSettings, device: str = "auto") -> Encoder | None:
    """The encoder of these settings, if there is one. Raises RankerSettingsError if one lacks its name."""
    if settings.encoding is None:
        return None
    if not settings.encoding.encoder:
        raise RankerSettingsError(f"{settings.ranker} reads through an encoder: name one (setting encoder)")
    return Encoder.load(settings.encoding.encoder, device=device)


def learned_state(model: nn.Module) -> dict[str, Tensor]:
    """The part of a model's state that training changes: everything except a frozen encoder's weights."""
    frozen = {name for name, parameter in model.named_parameters() if not parameter.requires_grad}
    encoder = encoder_of(model)
    if encoder is not None:
        # An encoder's buffers are constants, such as position ids.
        buffers = {id(buffer) for buffer in encoder.buffers()}
        frozen |= {name for name, buffer in model.named_buffers() if id(buffer) in buffers}
    return {name: value for name, value in model.state_dict().items() if name not in frozen}
