"""The short form of `fuzz mutants`: it tells what dies from what lives, and its list is current."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from fuzz.mutants import ROOT, TESTS, Mutant, Noticed, Trial, listed, mutants_of, try_modules
from fuzz.tally import Tally
from tests.long import long

SOURCE = '''"""A limit, 3 > 2."""

from __future__ import annotations

MOST = 9


def fits(size: int, least: int = 1) -> bool:
    """Whether 0 < 1."""
    if not isinstance(size, int) or size == 0:
        raise ValueError(f"{size} of {9 + 1} does not fit")
    return least <= size <= MOST
'''
TOGETHER = """
import pytest
from small.limit import fits

def test_it():
    assert not fits(10)
    assert not fits(5, 6)
    assert fits(2, 1){at_the_limit}
    for odd in (0, "a"):
        with pytest.raises(ValueError, match="does not fit"):
            fits(odd)
"""
AT_THE_LIMIT = " and fits(9) and fits(1) and fits(6, 6) is True"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "original" / "small").mkdir(parents=True)
    (tmp_path / "original" / "small" / "__init__.py").touch()
    (tmp_path / "original" / "small" / "limit.py").write_text(SOURCE)
    return tmp_path


def tried(folder: Path, test: str, known: dict[tuple[str, str, str], str]) -> Tally:
    (folder / "test_small.py").write_text(test)
    tally = Tally("mutants", minutes=10)
    trial = Trial(folder / "trial", folder / "original" / "small", folder)
    found = [m for m in mutants_of("limit.py", SOURCE) if "MOST" in m.now]
    try_modules(tally, trial, {"limit.py": ["test_small.py"]}, known=known | _others(found))
    assert (trial.package / "limit.py").read_text() == SOURCE
    return tally


def _others(found: list[Mutant]) -> dict[tuple[str, str, str], str]:
    """All but a few, so that it is quick."""
    return {m.key: "" for m in mutants_of("limit.py", SOURCE) if m not in found}


def test_every_kind_of_change_is_made_and_no_other_word_is_touched():
    found = {m.now for m in mutants_of("limit.py", SOURCE)}
    assert found == {
        "MOST = 10",
        "def fits(size: int, least: int = 2) -> bool:",
        "if not isinstance(size, int) and size == 0:",
        "if isinstance(size, int) or size == 0:",
        "if not isinstance(size, int) or size != 0:",
        "if not isinstance(size, int) or size == 1:",
        "return None",
        "return least < size <= MOST",
        "return least <= size < MOST",
    }
    assert all(m.source.count("\n") == SOURCE.count("\n") for m in mutants_of("", SOURCE))


def test_a_fault_that_no_test_notices_is_told_and_one_that_a_test_notices_is_not(folder: Path):
    weak = tried(folder, TOGETHER.format(at_the_limit=""), {})
    assert sorted(words.partition(" -> ")[2] for words in weak.found) == [
        "return least < size <= MOST",
        "return least <= size < MOST",
    ]
    assert weak.tried["limit.py: noticed"] == 1
    assert weak.tried["limit.py: not noticed"] == 2


def test_only_what_moves_a_limit_can_be_asked_for():
    assert {m.now for m in mutants_of("limit.py", SOURCE) if m.at_limit} == {
        "MOST = 10",
        "def fits(size: int, least: int = 2) -> bool:",
        "if not isinstance(size, int) or size == 1:",
        "return least < size <= MOST",
        "return least <= size < MOST",
    }


def test_a_run_goes_on_where_one_was_stopped(folder: Path, monkeypatch: pytest.MonkeyPatch):
    trial = Trial(folder / "trial", folder / "original" / "small", folder)
    alive = {"return least < size <= MOST"}
    monkeypatch.setattr(trial, "passes", lambda *_: True)
    monkeypatch.setattr(trial, "survives", lambda mutant, *_: mutant.now in alive)

    def run(most: int = 100) -> tuple[int, list[str]]:
        tally, noticed = Tally("mutants", minutes=10), Noticed(folder / "noticed.txt")
        modules = {"limit.py": ["test_small.py"]}
        try_modules(tally, trial, modules, most=most, known={}, at_limits=True, noticed=noticed)
        return tally.total, [words.partition(" -> ")[2] for words in tally.found]

    assert run(most=2)[0] == 2
    assert run()[1] == ["return least < size <= MOST"]
    assert run() == (1, ["return least < size <= MOST"])
    alive.clear()
    assert run() == (1, [])
    assert run() == (0, [])


@long
def test_tests_at_the_limit_leave_none(folder: Path):
    strong = tried(folder, TOGETHER.format(at_the_limit=AT_THE_LIMIT), {})
    assert strong.found == []
    assert strong.tried["limit.py: noticed"] == 3


def test_what_makes_no_difference_is_passed_over_and_failing_tests_are_told(folder: Path):
    known = {m.key: "no reason" for m in mutants_of("limit.py", SOURCE) if "MOST" not in m.was}
    tally = tried(folder, "def test_it():\n    assert False\n", known)
    assert tally.found == ["limit.py: its tests fail without any change"]
    assert set(tally.tried) == {"limit.py: makes no difference"}


def test_every_module_that_keeps_promises_has_its_tests():
    for module, tests in TESTS.items():
        assert (ROOT / "src" / "tamis" / module).is_file()
        assert tests
        assert all((ROOT / "tests" / name).is_file() for name in tests)


def test_every_mutant_is_a_program_and_none_is_twice():
    found = mutants_of("dp/budget.py", (ROOT / "src/tamis/dp/budget.py").read_text("utf-8"))
    assert len(found) > 20
    assert len({m.source for m in found}) == len(found)
    for mutant in found:
        ast.parse(mutant.source)


def test_what_is_listed_as_making_no_difference_is_a_mutant_and_has_a_reason():
    by_module: dict[str, set[tuple[str, str, str]]] = {}
    for (module, was, now), reason in listed().items():
        if module not in by_module:
            source = (ROOT / "src" / "tamis" / module).read_text("utf-8")
            by_module[module] = {m.key for m in mutants_of(module, source)}
        assert (module, was, now) in by_module[module], f"{module}: {was} -> {now} is gone"
        assert len(reason) > 20
