import json
import pickle
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from bench.bundling import share_vocabulary
from bioqa.models import checkpoint
from bioqa.models.checkpoint import FILES, OWN_FILES, Checkpoint, CheckpointError
from bioqa.models.features.extractor import DOCUMENT_FEATURES, SENTENCE_FEATURES, Scaling
from bioqa.models.rankers.registry import ARCHITECTURES, build, settings_of
from bioqa.models.reranker import Reranker
from bioqa.models.text.pieces import FILES as PIECES_FILES
from bioqa.models.text.vocabulary import Vocabulary
from tests.models.toys import DOCUMENTS, GOLDEN, ToyIndex, pieces_of, toy_settings, vocabulary_of

LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 23172\n"

Damage = Callable[[str, bytes], Path]


def _change(folder: Path, **changes: Any) -> Path:
    """With other entries in config.json; None takes the entry away."""
    path = folder / "config.json"
    config = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({key: value for key, value in config.items() if value is not None}))
    return folder


def _refused(folder: Path, message: str) -> None:
    with pytest.raises(CheckpointError, match=message) as caught:
        checkpoint.load(folder)
    assert str(folder) in str(caught.value)


def test_a_loaded_checkpoint_is_the_saved_one(trained: Checkpoint, folder: Path, index: ToyIndex) -> None:
    loaded = checkpoint.load(folder)
    assert loaded.settings == trained.settings
    assert loaded.calibration == trained.calibration
    assert loaded.training == trained.training
    assert loaded.scores == trained.scores
    assert loaded.config == trained.config
    assert not loaded.model.training
    body = GOLDEN[0].question.body
    before, after = (Reranker(made, name="toy").rank(body, index.search(body)) for made in (trained, loaded))
    assert after == before


def test_saving_again_writes_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    loaded = checkpoint.load(folder)
    checkpoint.save(loaded, tmp_path / "again")
    for name in FILES:
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes(), name
    assert checkpoint.fingerprint(tmp_path / "again") == checkpoint.fingerprint(folder)


@pytest.mark.parametrize("ranker", [name for name, kind in ARCHITECTURES.items() if kind.encoding is None])
def test_every_ranker_can_be_kept(ranker: str, trained: Checkpoint, index: ToyIndex, tmp_path: Path) -> None:
    settings = toy_settings(ranker, features="extended")
    model = build(settings, torch.from_numpy(trained.vocabulary.vectors)).eval()
    made = replace(trained, settings=settings, model=model)
    checkpoint.save(made, tmp_path / ranker)
    loaded = checkpoint.load(tmp_path / ranker)
    assert loaded.settings == settings
    body = GOLDEN[0].question.body
    before, after = (Reranker(each, name="toy").rank(body, index.search(body)) for each in (made, loaded))
    assert after == before
    assert len({document.score for document in before.documents}) > 1
    weights = loaded.model.state_dict()
    assert list(weights) == list(model.state_dict())
    assert all(torch.equal(weights[name], value) for name, value in model.state_dict().items())


def test_the_fingerprint_changes_with_any_file(folder: Path) -> None:
    seen = {checkpoint.fingerprint(folder)}
    for name in FILES:
        with (folder / name).open("ab") as file:
            file.write(b" ")
        seen.add(checkpoint.fingerprint(folder))
    assert len(seen) == len(FILES) + 1


def test_no_such_folder(tmp_path: Path) -> None:
    _refused(tmp_path / "nowhere", "there is no such folder")


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file(folder: Path, name: str) -> None:
    (folder / name).unlink()
    _refused(folder, f"not a checkpoint, it lacks {name}")


@pytest.mark.parametrize("name", ["model.safetensors", "vocabulary.safetensors"])
def test_truncated_numbers(folder: Path, damage: Damage, name: str) -> None:
    content = (folder / name).read_bytes()
    for size in (0, 7, len(content) // 2, len(content) - 1):
        _refused(damage(name, content[:size]), ".")


def test_a_git_lfs_pointer_is_recognised(damage: Damage) -> None:
    _refused(damage("model.safetensors", LFS_POINTER), "Git LFS pointer.*git lfs pull")


@pytest.mark.parametrize("name", ["config.json", "vocabulary.txt", "terms.txt", "vocabulary.safetensors"])
def test_a_git_lfs_pointer_in_another_files_place_is_refused(damage: Damage, name: str) -> None:
    _refused(damage(name, LFS_POINTER), ".")


def test_a_pickle_is_refused_unread(folder: Path, damage: Damage, tmp_path: Path) -> None:
    victim = tmp_path / "opened"

    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (victim,)

    for name in FILES:
        kept = (folder / name).read_bytes()
        _refused(damage(name, pickle.dumps(Trap())), ".")
        damage(name, kept)
    assert not victim.exists()
    checkpoint.load(folder)


def _with_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> Path:
    path = folder / "model.safetensors"
    weights = load_file(path)
    change(weights)
    save_file(weights, path)
    return folder


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda weights: weights.update(surplus=torch.zeros(2)), "surplus"),
        (lambda weights: weights.pop("last_layer.bias"), r"last_layer\.bias"),
        (lambda weights: weights.update({"last_layer.weight": torch.zeros(1, 3)}), r"last_layer\.weight"),
    ],
    ids=["extra", "missing", "mis-shaped"],
)
def test_weights_that_do_not_fit_are_named(
    folder: Path, change: Callable[[dict[str, torch.Tensor]], object], message: str
) -> None:
    _refused(_with_weights(folder, change), message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 3}, "format 3, this version reads 1 and 2"),
        ({"format": None}, "config.json: not the config of a ranker"),
        ({"settings": {"ranker": "jpdrmm", "colour": 3}}, "unknown settings: colour"),
        ({"settings": {"ranker": "nosuch"}}, "architecture 'nosuch' is not one of"),
        ({"settings": {"ranker": "jpdrmm", "dimensions": "six"}}, "dimensions 'six' is not a whole number"),
        ({"settings": None}, "settings"),
        ({"calibration": {"sentence_scale": 1.0, "slope": 2}}, "slope"),
        ({"scaling": {"document_mean": [0.0]}}, "document_deviation"),
        ({"document_features": list(DOCUMENT_FEATURES[1:])}, "other document features"),
        ({"sentence_features": None}, "other sentence features"),
        ({"training": None}, "training"),
    ],
)
def test_a_config_that_does_not_fit(folder: Path, changes: dict[str, Any], message: str) -> None:
    _refused(_change(folder, **changes), message)


@pytest.mark.parametrize(
    "name", ["document_mean", "document_deviation", "sentence_mean", "sentence_deviation"]
)
def test_scaling_of_another_number_of_features(folder: Path, trained: Checkpoint, name: str) -> None:
    scaling = {**trained.config["scaling"]}
    scaling[name] = scaling[name][:-1]
    _refused(_change(folder, scaling=scaling), f"scaling.*{name}")


def _soft(trained: Checkpoint) -> Checkpoint:
    """An untrained ranker of soft features, whose vocabulary has word pieces."""
    pieces = pieces_of(("zel", "##osis", "drug"))
    settings = settings_of("features", dimensions=6, features="soft")
    width = {"document": len(DOCUMENT_FEATURES), "sentence": len(SENTENCE_FEATURES)}
    scaling = Scaling(
        np.zeros(width["document"], dtype=np.float32),
        np.ones(width["document"], dtype=np.float32),
        np.zeros(width["sentence"], dtype=np.float32),
        np.ones(width["sentence"], dtype=np.float32),
    )
    model = build(settings, torch.from_numpy(trained.vocabulary.vectors)).eval()
    vocabulary = replace(trained.vocabulary, pieces=pieces)
    return replace(trained, settings=settings, model=model, vocabulary=vocabulary, scaling=scaling)


def test_word_pieces_are_kept_and_part_of_the_fingerprint(
    trained: Checkpoint, index: ToyIndex, tmp_path: Path
) -> None:
    made = _soft(trained)
    checkpoint.save(made, tmp_path / "soft")
    body = GOLDEN[0].question.body
    before, after = (
        Reranker(each, name="soft").rank(body, index.search(body))
        for each in (made, checkpoint.load(tmp_path / "soft"))
    )
    assert after == before
    kept = checkpoint.fingerprint(tmp_path / "soft")
    for name in PIECES_FILES:
        with (tmp_path / "soft" / name).open("ab") as file:
            file.write(b" ")
        assert checkpoint.fingerprint(tmp_path / "soft") != kept
        kept = checkpoint.fingerprint(tmp_path / "soft")


def test_soft_features_without_word_pieces(trained: Checkpoint, tmp_path: Path) -> None:
    checkpoint.save(_soft(trained), tmp_path / "soft")
    (tmp_path / "soft" / "pieces.txt").unlink()
    _refused(tmp_path / "soft", "word pieces cannot be read")
    (tmp_path / "soft" / "pieces.safetensors").unlink()
    _refused(tmp_path / "soft", "no word pieces")


def test_a_checkpoint_from_before_features_were_added_still_loads(trained: Checkpoint, folder: Path) -> None:
    config = trained.config
    assert len(config["sentence_features"]) < len(SENTENCE_FEATURES)
    assert config["sentence_features"] == list(SENTENCE_FEATURES[: len(config["sentence_features"])])
    checkpoint.load(folder)
    fewer = {**config["scaling"]}
    for name in ("sentence_mean", "sentence_deviation"):
        fewer[name] = fewer[name][:5]
    cut = _change(folder, sentence_features=list(SENTENCE_FEATURES[:5]), scaling=fewer)
    _refused(cut, "other sentence features")


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"null", b"\xff"])
def test_a_config_that_is_no_json_object(damage: Damage, content: bytes) -> None:
    _refused(damage("config.json", content), r"config\.json")


def test_a_vocabulary_of_other_words(folder: Path, vocabulary: Vocabulary) -> None:
    with (folder / "vocabulary.txt").open("a") as file:
        file.write("\nonemore")
    _refused(folder, "vocabulary.*do not fit")


def test_a_vocabulary_with_vectors_of_other_dimensions(folder: Path, vocabulary: Vocabulary) -> None:
    vocabulary_of(vocabulary.words, dimensions=5).save(folder)
    _refused(folder, "vectors of 5 dimensions, not 6")


def test_the_folder_holds_these_files_alone_readable_by_others(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    assert folder.stat().st_mode & 0o777 == 0o755


def test_a_new_checkpoint_replaces_an_old_one_as_a_whole(trained: Checkpoint, folder: Path) -> None:
    (folder / "notes.txt").write_text("old")
    checkpoint.save(replace(trained, scores={"document_map": 0.25}), folder)
    assert checkpoint.load(folder).scores == {"document_map": 0.25}
    assert not (folder / "notes.txt").exists()
    assert [path.name for path in folder.parent.iterdir()] == ["toy"]


def test_missing_parents_are_made(trained: Checkpoint, tmp_path: Path) -> None:
    checkpoint.save(trained, tmp_path / "a" / "b")
    checkpoint.load(tmp_path / "a" / "b")


def test_a_failure_in_the_middle_keeps_the_old_one(
    trained: Checkpoint, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = checkpoint.fingerprint(folder)

    def fail(*_: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(Vocabulary, "save", fail)
        with pytest.raises(OSError, match="no space left"):
            checkpoint.save(trained, folder)
    with pytest.raises(ValueError, match="nan"):
        checkpoint.save(replace(trained, scores={"document_map": float("nan")}), folder)
    assert checkpoint.fingerprint(folder) == before
    assert [path.name for path in folder.parent.iterdir()] == ["toy"]


@pytest.fixture
def sharing(folder: Path) -> Path:
    """The trained checkpoint with its vocabulary beside it."""
    share_vocabulary(folder)
    return folder


def test_a_vocabulary_beside_the_checkpoint(
    trained: Checkpoint, folder: Path, tmp_path: Path, index: ToyIndex
) -> None:
    checkpoint.save(_soft(trained), tmp_path / "soft")
    body = GOLDEN[0].question.body
    for kept, files in ((folder, {*OWN_FILES}), (tmp_path / "soft", {*OWN_FILES, *PIECES_FILES})):
        before = Reranker.load(kept).rank(body, index.search(body))
        beside = share_vocabulary(kept)
        assert beside.parent == tmp_path
        assert {path.name for path in kept.iterdir()} == files
        assert Reranker.load(kept).rank(body, index.search(body)) == before
    assert len([*tmp_path.glob("vocabulary-*")]) == 1
    # Saved anew it holds everything again.
    checkpoint.save(checkpoint.load(folder), tmp_path / "again")
    assert {path.name for path in (tmp_path / "again").iterdir()} == {*FILES}


def test_a_vocabulary_of_the_package_is_named_and_not_copied(
    trained: Checkpoint, folder: Path, tmp_path: Path, index: ToyIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = GOLDEN[0].question.body
    before = Reranker.load(folder).rank(body, index.search(body))
    package = tmp_path / "package"
    shutil.copytree(folder, package / "first")
    place = share_vocabulary(package / "first")
    monkeypatch.setattr("bioqa.models.bundled.WEIGHTS", package)
    checkpoint.save(trained, tmp_path / "slim")
    assert {path.name for path in (tmp_path / "slim").iterdir()} == {*OWN_FILES}
    assert Reranker.load(tmp_path / "slim").rank(body, index.search(body)) == before
    assert share_vocabulary(tmp_path / "slim") == place
    other = replace(trained.vocabulary, idf=trained.vocabulary.idf + 1)
    checkpoint.save(replace(trained, vocabulary=other), tmp_path / "other")
    assert {path.name for path in (tmp_path / "other").iterdir()} == {*FILES}
    shutil.rmtree(place)
    _refused(
        tmp_path / "slim",
        rf"slim: its vocabulary {place.name} is not beside it, .*: copy the folder {place.name} from where",
    )
    share_vocabulary(folder)  # beside all of them
    assert Reranker.load(tmp_path / "slim").rank(body, index.search(body)) == before


def test_another_vocabulary_in_its_place_is_refused(sharing: Path) -> None:
    (beside,) = sharing.parent.glob("vocabulary-*")
    before = checkpoint.fingerprint(sharing)
    with (beside / "terms.txt").open("a") as file:
        file.write(" ")
    for read in (checkpoint.load, checkpoint.load_vocabulary, checkpoint.fingerprint):
        with pytest.raises(CheckpointError, match=r"toy: trained with a vocabulary of SHA-256 .* has"):
            read(sharing)
    (beside / "terms.txt").unlink()
    _refused(sharing, r"toy: not a checkpoint, it lacks terms\.txt in .*vocabulary-")
    assert len(before) == 64


@pytest.mark.parametrize(
    "named",
    [
        "vocabulary",
        {"folder": "vocabulary"},
        {"folder": "../toy", "sha256": "00"},
        {"folder": "/etc", "sha256": "00"},
        {"folder": "", "sha256": "00"},
        {"folder": 3, "sha256": "00"},
    ],
)
def test_a_vocabulary_is_named_by_a_name_beside_it(folder: Path, named: object) -> None:
    _refused(_change(folder, vocabulary=named), "names no folder beside it")


def test_one_left_aside_by_an_interrupted_write_is_found(folder: Path) -> None:
    before = checkpoint.fingerprint(folder)
    for load in (checkpoint.load, Reranker.load):
        folder.rename(folder.with_name(".toy.old"))
        load(folder)
    assert checkpoint.fingerprint(folder) == before


def test_the_config_tells_what_it_was_trained_on(trained: Checkpoint) -> None:
    config = trained.config
    assert config["training"]["train"] == "toys"
    assert config["training"]["seed"] == 1
    assert config["training"]["torch"] == torch.__version__
    assert config["settings"]["ranker"] == "jpdrmm"
    assert len(DOCUMENTS) == 25
