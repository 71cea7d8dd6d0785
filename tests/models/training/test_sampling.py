from bioqa.models.training.sampling import sample


def test_a_sample_is_random_nested_in_order_and_the_same_again() -> None:
    fewer, more = (sample(range(40), n) for n in (10, 20))
    assert len(fewer) == 10
    assert sorted(more) == more != list(range(20))
    assert set(fewer) < set(more)
    assert sample(range(40), 10) == fewer


def test_all_of_them() -> None:
    assert sample("abc", 0) == sample("abc", 99) == ["a", "b", "c"]
