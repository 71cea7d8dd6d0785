from dataclasses import replace

from bioqa.models.experiments.data import ExperimentData
from bioqa.models.training.data import prepare
from tests.models.toys import GOLDEN, ToyIndex, vocabulary_of


def test_the_fingerprint_is_of_all_that_scores_and_measures_depend_on(
    data: ExperimentData, index: ToyIndex
) -> None:
    seen = {data.fingerprint}
    relabelled = prepare(index, [replace(GOLDEN[0], snippets=()), *GOLDEN[1:]], data.vocabulary, size=12)
    assert relabelled[0].retrieved.features.sentences.tolist() == (
        data.train[0].retrieved.features.sentences.tolist()
    )
    vectors = vocabulary_of(data.vocabulary.words, seed=3).vectors
    vocabulary = replace(data.vocabulary, vectors=vectors)
    for changed_data in (
        replace(data, train=relabelled),
        replace(data, dev=relabelled[:3]),
        replace(data, tests={**data.tests, "other": relabelled[:2]}),
        replace(data, tests={"first": data.tests["test"], "other": data.tests["other"]}),
        replace(data, vocabulary=vocabulary),
    ):
        seen.add(changed_data.fingerprint)
    assert len(seen) == 6
    assert replace(data, dev=list(data.dev)).fingerprint == data.fingerprint
