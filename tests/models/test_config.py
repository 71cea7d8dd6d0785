"""One reader of config.json for all kinds of rankers: what it says of a file that it cannot use."""

from pathlib import Path

import pytest

from bioqa.models.bundled import WEIGHTS, available
from bioqa.models.config import NAME, check_kind, faults_as, is_of_kind, read_config, write_config
from bioqa.system.errors import BioqaError


class OfTest(BioqaError):
    pass


@pytest.mark.parametrize("name", available())
def test_configs_are_written_as_they_were_read(name: str, tmp_path: Path) -> None:
    config = read_config(WEIGHTS / name)
    write_config(tmp_path, config)
    assert (tmp_path / NAME).read_bytes() == (WEIGHTS / name / NAME).read_bytes()
    assert is_of_kind(tmp_path, config.get("kind", "none")) == ("kind" in config)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"kind": "bm25"}', b"\xff", b"null"])
def test_what_is_no_config(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(OfTest, match=f"{tmp_path / NAME}: "):
        read_config(tmp_path, OfTest)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(OfTest, match="No such file"):
        read_config(tmp_path / "nowhere", OfTest)
    assert not is_of_kind(tmp_path / "nowhere", "bm25")


@pytest.mark.parametrize(
    ("config", "kind", "said"),
    [
        ({"format": 3}, None, "format 3, this version reads 1 and 2$"),
        ({"format": 1, "kind": "bm25"}, None, "format 1 of bm25, this version reads 1 and 2$"),
        ({"format": 1}, "bm25", "format 1, this version reads 1 and 2 of bm25$"),
        ({"format": {}, "kind": "bm25"}, "bm25", "format {} of bm25, this version reads 1 and 2 of bm25$"),
    ],
)
def test_another_kind_or_format(
    tmp_path: Path, config: dict[str, object], kind: str | None, said: str
) -> None:
    with pytest.raises(OfTest, match=said):
        check_kind(tmp_path, config, kind, (1, 2), OfTest)
    check_kind(tmp_path, {"format": 2, "kind": kind}, kind, (1, 2), OfTest)


@pytest.mark.parametrize("fault", [KeyError("speed"), TypeError("no"), ValueError("no"), BioqaError("no")])
def test_faults_of_content_name_the_file(tmp_path: Path, fault: Exception) -> None:
    with pytest.raises(OfTest, match=NAME) as caught, faults_as(OfTest, tmp_path):
        raise fault
    assert caught.value.__cause__ is fault
