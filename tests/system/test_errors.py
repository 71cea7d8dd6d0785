"""The error that users see: every package's own errors derive from it."""

import pytest

from bioqa.indexer.medline.xmlfile import MedlineError
from bioqa.indexer.releases.source import BadFile
from bioqa.indexer.search.elastic.connection import WrongServer
from bioqa.system.errors import BioqaError
from bioqa.system.locks import LockTaken


@pytest.mark.parametrize("kind", [LockTaken, MedlineError, BadFile, WrongServer])
def test_errors_that_users_can_act_on_share_one_base(kind: type[BioqaError]) -> None:
    with pytest.raises(BioqaError, match=r"^the file is broken$"):
        raise kind("the file is broken")


def test_mistakes_in_the_program_are_not_among_them() -> None:
    assert not issubclass(BioqaError, ValueError | OSError | RuntimeError)
    assert not issubclass(RuntimeError, BioqaError)
