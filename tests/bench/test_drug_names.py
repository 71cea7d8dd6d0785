import bz2
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from bench.drug_names import MEMBER, names, otherwise, plain
from bioqa.indexer.search.questions.lay_words import Name, read

DICTIONARY: dict[str, dict[str, Any]] = {
    "drug_canonical_to_data": {
        "quetiapine": {"drugbank_id": "1"},
        "carisoprodol": {"drugbank_id": "2"},
        "ubiquitin": {"mesh_id": "3"},
        "caffeine": {"drugbank_id": "4"},
    },
    "drug_variant_to_canonical": {
        "seroquel": ["quetiapine"],
        "quetiapina": ["quetiapine"],
        "rela": ["carisoprodol"],
        "theine": ["caffeine"],
        "impact": ["caffeine"],
        "caffeine": ["caffeine"],
        "1,3,7-trimethylxanthine": ["caffeine"],
        "ubicalm": ["ubiquitin"],
        "whatever": ["unknown"],
    },
}


def test_names_of_one_word_are_taken_of_drugs_that_drugbank_has() -> None:
    assert dict(names(DICTIONARY)) == {
        "seroquel": "quetiapine",
        "rela": "carisoprodol",
        "theine": "caffeine",
        "impact": "caffeine",
    }


def test_a_name_that_abstracts_have_without_the_drug_means_something_else(tmp_path: Path) -> None:
    path = tmp_path / "some.xml"
    path.write_text(
        "<PubmedArticle>RelA and p65</PubmedArticle>" * 3
        + "<PubmedArticle>Seroquel is quetiapine</PubmedArticle>" * 3
    )
    assert otherwise({"rela": "carisoprodol", "seroquel": "quetiapine"}, [path]) == {"rela"}


def test_a_dictionary_with_code_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "code.pickle"
    path.write_bytes(pickle.dumps({"run": os.system}))
    with path.open("rb") as stream, pytest.raises(pickle.UnpicklingError, match="not expected"):
        plain(stream)


def test_the_table_that_is_made_can_be_read(tmp_path: Path) -> None:
    wheel = tmp_path / "drug_names-2.0.9-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(MEMBER, bz2.compress(pickle.dumps(DICTIONARY)))
    words = tmp_path / "words.txt"
    words.write_text("impacts\n")
    medline = tmp_path / "some.xml"
    medline.write_text("<PubmedArticle>RelA</PubmedArticle>" * 3)
    made = subprocess.run(
        [sys.executable, "-m", "bench.drug_names", wheel, words, medline], capture_output=True, check=True
    )
    table = tmp_path / "drug_names.tsv"
    table.write_bytes(made.stdout)
    assert read(table) == {
        "seroquel": Name("seroquel", ("quetiapine",)),
        "theine": Name("theine", ("caffeine",)),
    }
    assert "drug-named-entity-recognition 2.0.9" in table.read_text()
