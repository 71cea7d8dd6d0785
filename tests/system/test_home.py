"""A process without a home folder: no ``HOME``, and an unknown user's id."""

import os
import pwd
from pathlib import Path

import pytest

from bioqa.system.errors import BioqaError
from bioqa.system.home import expand_home, home, pretended_home


def unknown(uid: int) -> pwd.struct_passwd:
    raise KeyError(f"getpwuid(): uid not found: {uid}")


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)


def test_a_path_that_begins_with_a_tilde_is_in_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert home() == Path("/home/ada")
    assert expand_home("~/index") == "/home/ada/index"
    assert expand_home("/data/~") == "/data/~"
    assert expand_home("http://host:9200/~") == "http://host:9200/~"


@pytest.mark.usefixtures("homeless")
def test_without_a_home_folder_a_tilde_is_an_error() -> None:
    assert home() is None
    assert expand_home("index") == "index"
    with pytest.raises(BioqaError, match="~/index: this user has no home folder"):
        expand_home("~/index")


@pytest.mark.usefixtures("homeless")
@pytest.mark.parametrize("before", [None, ""])
def test_a_home_folder_is_pretended_for_a_while(before: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if before is not None:
        monkeypatch.setenv("HOME", before)
    with pretended_home():
        assert home() == Path("/")
    assert os.environ.get("HOME") == before


def test_a_real_home_folder_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    with pretended_home():
        assert home() == Path("/home/ada")
