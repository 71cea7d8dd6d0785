import math
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from bioqa.models.encoders.loading import EncoderError
from bioqa.models.text.pieces import WordPieces, as_stored
from bioqa.models.text.words import terms
from bioqa.models.training.pieces import distil, principal_components
from tests.models.encoders.tiny import write_tiny
from tests.models.toys import DOCUMENTS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny(tmp_path_factory.mktemp("tiny"), ("zelosis", "drug", "##drug", "nowhere"))


@pytest.fixture(scope="module")
def made(folder: Path) -> WordPieces:
    return distil(str(folder), DOCUMENTS, dimensions=16, device="cpu")


def test_pieces_are_those_that_occur_and_single_characters(made: WordPieces) -> None:
    assert {"zelosis", "drug", "z", "##z"} <= set(made.names)
    assert not {"nowhere", "##drug", "[CLS]"} & set(made.names)
    assert [made.names[n] for n in made.splits["zelosis"]] == ["zelosis"]


def test_idf_counts_documents(made: WordPieces) -> None:
    n = len(DOCUMENTS)
    of_documents = [
        {p for s in d.sentences for term in terms(d.sentence_text(s)) for p in made.splits[term]}
        for d in DOCUMENTS
    ]
    for number, idf in enumerate(made.idf):
        df = sum(number in pieces for pieces in of_documents)
        assert idf == pytest.approx(math.log(1 + (n - df + 0.5) / (df + 0.5)), rel=1e-3)


def test_vectors_are_principal_components_of_the_pieces_states_alone(folder: Path, made: WordPieces) -> None:
    tokeniser, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    numbers = tokeniser.get_vocab()
    with torch.inference_mode():
        states = [
            model(torch.tensor([[tokeniser.cls_token_id, numbers[name], tokeniser.sep_token_id]]))
            .last_hidden_state[0]
            .mean(0)
            .numpy()
            for name in made.names
        ]
    centred = np.stack(states) - np.mean(states, axis=0)
    # In as many dimensions as the encoder has, components keep all cosines.
    lengths = np.linalg.norm(centred, axis=1)
    expected = centred @ centred.T / np.outer(lengths, lengths)
    np.testing.assert_allclose(made.vectors @ made.vectors.T, expected, atol=0.02)
    np.testing.assert_array_equal(as_stored(made.vectors), made.vectors)


def test_principal_components_are_those_of_the_svd() -> None:
    values = np.random.default_rng(2).normal(size=(40, 6)) * [9, 5, 3, 1, 0.5, 0.1]
    centred = values - values.mean(axis=0)
    _, _, directions = np.linalg.svd(centred)
    found = principal_components(values, 3)
    np.testing.assert_allclose(np.abs(found), np.abs(centred @ directions[:3].T), atol=1e-8)


def test_the_same_again(folder: Path, made: WordPieces) -> None:
    again = distil(str(folder), DOCUMENTS, dimensions=16, device="cpu")
    assert again.names == made.names
    np.testing.assert_array_equal(again.vectors, made.vectors)


def test_no_such_encoder() -> None:
    with pytest.raises(EncoderError, match="nosuch"):
        distil("nosuch", DOCUMENTS)
