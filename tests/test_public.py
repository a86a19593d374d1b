"""The public names: all there, all importable, all listed."""

import tamis


def test_every_public_name_can_be_imported():
    for name in tamis.__all__:
        assert getattr(tamis, name).__name__ == name


def test_dir_lists_the_public_names():
    assert set(tamis.__all__) < set(dir(tamis))
