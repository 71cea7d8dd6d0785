"""ERR is measured by gdeval, which is written in perl."""

import shutil

import pytest

needs_perl = pytest.mark.skipif(shutil.which("perl") is None, reason="needs perl, for ERR")
