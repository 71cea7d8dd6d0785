import json

import pytest

from bioqa.models.experiments.published import FOLDER, read
from bioqa.models.experiments.results import MEASURES, Summary


def test_the_published_table_is_read_whole() -> None:
    found = read("pappas-2021")
    assert found.reference in {row.system for row in found.rows}
    for row in found.rows:
        assert row.parts
        for summary in row.collections.values():
            assert isinstance(summary, Summary)
            assert set(MEASURES) >= set(summary.mean) > {"document_map_8"}
    stored = json.loads((FOLDER / "pappas-2021.json").read_text(encoding="utf-8"))
    assert json.loads(json.dumps(found.as_dict())) == stored


def test_an_experiment_that_was_not_published() -> None:
    with pytest.raises(FileNotFoundError):
        read("nosuch")
