from collections import Counter

from bioqa.models.experiments import document_measures, results
from bioqa.models.experiments.components import TrainedComponent
from bioqa.models.experiments.papers import EXPERIMENTS, SHARED, list_counted
from bioqa.models.rankers.registry import ARCHITECTURES


def test_the_papers_have_forty_four_systems() -> None:
    systems = list_counted()
    names = [name for _, name in systems]
    assert len(names) == len(set(names)) == 44
    assert Counter(name for name, _ in systems) == {
        "pappas-2021": 15,
        "mcdonald-2018": 9,
        "hui-2018": 11,
        "mohan-2017": 9,
    }
    for experiment, system in SHARED:
        assert EXPERIMENTS[experiment].system(system)
        assert EXPERIMENTS[SHARED[experiment, system]].system(system)


def test_every_experiment_names_what_it_has() -> None:
    for name, experiment in EXPERIMENTS.items():
        assert experiment.name == name
        names = [system.name for system in (*experiment.systems, *experiment.beside)]
        assert len(names) == len(set(names))
        assert set(experiment.references) <= set(names)
        assert not experiment.reranked or experiment.reranked in names
        known = document_measures.MEASURES if experiment.documents_only else results.MEASURES
        assert set(experiment.measures) <= set(known)
        assert experiment.test == "t" or experiment.tails == 2 or not experiment.documents_only


def test_every_ranker_of_documents_is_compared() -> None:
    compared = {
        component.settings.ranker
        for experiment in EXPERIMENTS.values()
        for system in experiment.systems
        for component in system.components
        if isinstance(component, TrainedComponent)
    }
    assert compared >= {name for name, kind in ARCHITECTURES.items() if kind.units != "sentences"}


def test_rows_of_a_table_learn_from_the_same_share() -> None:
    for experiment in EXPERIMENTS.values():
        if experiment.documents_only:
            components = [c for s in experiment.systems for c in s.components]
            learning = {
                c.share
                for c in components
                if isinstance(c, TrainedComponent) and c.settings.training is not None
            }
            assert len(learning) == 1
            assert len({(c.share.dev_questions, c.share.test_questions) for c in components}) == 1


def test_variants_by_grade_are_the_plain_ones() -> None:
    mohan = EXPERIMENTS["mohan-2017"]
    for name in ("Delta", "SevMos-C1", "SevMos-C3"):
        assert mohan.system(f"{name}_w").components == mohan.system(name).components


def test_all_variants_of_co_pacrr_differ() -> None:
    hui = EXPERIMENTS["hui-2018"]
    variants = [s.components for s in hui.systems if s.name.endswith("PACRR")]
    assert len(variants) == len(set(variants)) == 8
