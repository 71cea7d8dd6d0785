import numpy as np
import pytest
import torch
from torch import nn

from bioqa.models.rankers.batch import Example, collate
from bioqa.models.rankers.pdrmm import Pdrmm, TermContext
from bioqa.models.rankers.registry import settings_of
from bioqa.models.rankers.vectors import StaticVectors
from bioqa.models.text.vocabulary import Vocabulary
from tests.models import reference
from tests.models.toys import random_example

SETTINGS = settings_of("sentence-pdrmm")


def _seeded(make: type[nn.Module], *arguments: object) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        return make(*arguments)


def weights_of(model: nn.Module) -> dict[str, np.ndarray]:
    return {name: value.numpy() for name, value in model.state_dict().items()}


def _pdrmm(vocabulary: Vocabulary) -> Pdrmm:
    made = _seeded(Pdrmm, StaticVectors(torch.from_numpy(vocabulary.vectors)), 6)
    assert isinstance(made, Pdrmm)
    return made


@pytest.mark.parametrize("lengths", [[1], [2], [3, 1, 4], [0, 2, 0, 0, 5, 0]])
def test_contexts_see_zeros_beyond_the_ends_of_their_unit(lengths: list[int]) -> None:
    model = _seeded(TermContext, 4)
    vectors = torch.randn(sum(lengths), 4, generator=torch.Generator().manual_seed(0))
    found = model(vectors, torch.tensor(lengths))
    expected = [
        vector
        for part in torch.split(vectors, lengths)
        for vector in reference.contexts(weights_of(model), part.tolist())
    ]
    torch.testing.assert_close(found, torch.tensor(expected), atol=1e-5, rtol=1e-5)


def test_contexts_are_those_of_torch_convolutions() -> None:
    model = _seeded(TermContext, 4)
    assert isinstance(model, TermContext)
    vectors = torch.randn(6, 4, generator=torch.Generator().manual_seed(0))
    x = vectors.T
    for convolution in model.convolutions:
        x = x + torch.sigmoid(convolution(x))
    torch.testing.assert_close(model(vectors, torch.tensor([6])), x.T)


def test_no_units_have_no_contexts() -> None:
    assert _seeded(TermContext, 4)(torch.zeros(0, 4), torch.zeros(0, dtype=torch.long)).shape == (0, 4)


@pytest.mark.parametrize("terms", [1, 2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_the_paper(vocabulary: Vocabulary, terms: int, seed: int) -> None:
    model = _pdrmm(vocabulary)
    generator = np.random.default_rng(seed)
    example = random_example(
        generator, SETTINGS, len(vocabulary.words), terms=terms, sentence_counts=[3, 0, 4]
    )
    # Words of the question must occur, or exact matches would not be seen.
    example.words[::2] = generator.choice(example.question, len(example.words[::2]))
    scores = model(collate([example], vocabulary))
    torch.testing.assert_close(
        scores, torch.tensor(_expected(model, example, vocabulary)), atol=1e-5, rtol=1e-5
    )


def _expected(model: Pdrmm, example: Example, vocabulary: Vocabulary) -> list[float]:
    units = np.split(example.words, np.cumsum(example.word_counts)[:-1])
    idf = vocabulary.idf[example.question].tolist()
    return [
        reference.pdrmm(weights_of(model), vocabulary.vectors, idf, example.question.tolist(), unit.tolist())
        for unit in units
    ]


def test_a_question_without_known_words_scores_nought(vocabulary: Vocabulary) -> None:
    model = _pdrmm(vocabulary)
    generator = np.random.default_rng(0)
    unasked, asked = (
        random_example(generator, SETTINGS, len(vocabulary.words), terms=n, sentence_counts=[2])
        for n in (0, 3)
    )
    assert model(collate([unasked], vocabulary)).tolist() == [0.0, 0.0]
    assert model(collate([unasked, asked], vocabulary))[:2].tolist() == [0.0, 0.0]


def test_word_zero_is_a_word_like_any_other(vocabulary: Vocabulary) -> None:
    """Masked places hold id 0: they must not match it."""
    model = _pdrmm(vocabulary)
    generator = np.random.default_rng(0)
    size = len(vocabulary.words)
    short = random_example(generator, SETTINGS, size, terms=1, sentence_counts=[2])
    long = random_example(generator, SETTINGS, size, terms=5, sentence_counts=[1])
    short.words[:] = 0
    alone = model(collate([short], vocabulary))
    torch.testing.assert_close(model(collate([short, long], vocabulary))[:2], alone)
    short.question[:] = 0
    assert not torch.allclose(model(collate([short], vocabulary)), alone)


def test_vectors_are_frozen(vocabulary: Vocabulary) -> None:
    model = _pdrmm(vocabulary)
    assert "vectors.table" not in dict(model.named_parameters())
    assert "vectors.table" not in model.state_dict()
    assert not model.vectors.table.requires_grad
    assert sum(p.numel() for p in model.parameters()) == 2 * (6 * 6 * 3 + 6) + 8 + 89
