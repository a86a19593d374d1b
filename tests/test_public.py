"""The public names: all there, all importable, all listed."""

import tamis


def test_every_public_name_can_be_imported():
    for name in tamis.__all__:
        assert getattr(tamis, name).__name__.split(".")[-1] == name


def test_the_separation_measures_are_at_hand():
    X, y = [[1, 0], [0, 0]], ["a", "b"]
    assert tamis.separation.hamdist(X, y) == 1
    assert tamis.separation.distcnt(X, y) == 1
    assert tamis.separation.classification_metric(X, y) == 0


def test_dir_lists_the_public_names():
    assert set(tamis.__all__) < set(dir(tamis))
