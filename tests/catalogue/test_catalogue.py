"""The catalogue says of methods and models what is true of them, and costs nothing to read."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from inspect import signature
from typing import Any

import pytest

from tamis.catalogue.measures import CHOICES, FACTORS, MEASURES
from tamis.catalogue.methods import (
    ATTACKERS,
    BY_DEFAULT,
    METHODS,
    MODELS,
    RECORDED,
    UTILITIES,
    shown_model,
)
from tamis.decide import _RULES
from tamis.evaluate.scorecard import TAKEN
from tamis.learn.models import classifier
from tamis.propose import method_class
from tamis.propose.problem import Method
from tamis.rank.evaluation import WEIGHTS
from tamis.select.containment.greedy import MODULAR, PREDICTIVE
from tamis.settings import Settings
from tamis.verification.shape import method_parameters
from tests.source import SOURCE, trees


def test_to_read_it_imports_nothing_else():
    code = (
        "import sys; before = set(sys.modules)\n"
        "from tamis.catalogue import measures, methods\n"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    others = set(done.stdout.split()) - set(sys.stdlib_module_names)
    assert others == {"tamis"}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_carries_its_own_record(name: str):
    assert METHODS[name].name == name
    assert method_class(name).about is METHODS[name]
    assert method_class(name)().name == name


def test_every_method_of_the_package_is_listed():
    every = {method_class(name) for name in METHODS}
    kinds = Method.__subclasses__()
    defined = [*kinds, *(c for kind in kinds for c in kind.__subclasses__())]
    listed = {c for c in defined if c.__module__.startswith("tamis.") and "about" in vars(c)}
    assert listed == every


def test_what_is_tried_unasked_alters_no_value():
    assert BY_DEFAULT
    assert not any(METHODS[name].alters for name in BY_DEFAULT)
    assert not any(about.alters for about in METHODS.values() if about.on_engines)


@pytest.mark.parametrize("name", [name for name, about in METHODS.items() if about.alters])
def test_what_alters_values_says_so_to_recipients(name: str):
    about = METHODS[name]
    assert bool(about.caveat) != about.synthetic  # of which much more is said
    assert bool(about.perturber) != about.synthetic


@pytest.mark.parametrize("name", RECORDED)
def test_what_is_stated_of_a_method_has_a_form(name: str):
    assert set(method_parameters(name)) == set(RECORDED[name].stated)


@pytest.mark.parametrize("name", [name for name, about in METHODS.items() if about.perturber])
def test_a_perturber_takes_what_is_stated(name: str):
    about = METHODS[name]
    several = {} if isinstance(about.perturber, str) else about.perturber
    homes = [*several.values()] or [str(about.perturber)]
    reached = {"kind", "flipped_share"}  # what chooses the perturber, and what came of it
    for home in homes:
        module, _, made = home.partition(":")
        perturber = getattr(import_module(f"tamis.perturb.{module}"), made)
        assert set(about.stated) - reached <= set(signature(perturber).parameters)
    assert not several or set(several) == set(about.stated["kind"])


def test_utilities_are_those_that_are_searched_by():
    assert set(UTILITIES) == {*MODULAR, "distcnt", "cm", *PREDICTIVE, "best"}


@pytest.mark.parametrize("name", MODELS)
def test_models_exist_under_the_names_that_recipes_state(name: str):
    assert type(classifier(name)).__name__ == MODELS[name].class_name


def test_models_are_told_apart():
    shown = [model.shown for model in MODELS.values()]
    assert len(set(shown)) == len(shown)
    assert shown_model("c45") == "C4.5 tree"
    assert set(ATTACKERS) < set(MODELS)


def test_every_measure_is_taken():
    of_all = {"kept", "told", "useful", "telling"}
    assert set(MEASURES) == {*TAKEN, *of_all}
    assert not of_all & set(TAKEN)


@pytest.mark.parametrize("name", MEASURES)
def test_a_limit_is_a_setting_and_lies_on_the_better_side(name: str):
    measure = MEASURES[name]
    if measure.limited_by:
        asked: Any = {measure.limited_by: 1}
        settings = Settings(**asked)
        (limit,) = (each for each in settings.limits if each.measure == name)
        assert limit.short_by(1) == 0
        assert limit.short_by(2 if measure.better == "min" else 0) > 0
    assert not measure.limited_by or measure.limited_by in Settings.__dataclass_fields__


def test_the_factors_that_always_count_have_weights():
    assert set(FACTORS) == set(WEIGHTS)
    assert all(MEASURES[name].factor_label for name in FACTORS.values())


@pytest.mark.parametrize("name", CHOICES)
def test_every_rule_chooses(name: str):
    assert CHOICES[name].name == name
    assert callable(_RULES[name])
    assert Settings(choose=name).choose == name


APART = {
    "cli/perturb.py": "whose methods are kinds of noise and of synthetic rows",
    "options/steps.py": "which has the option that names them",
    "cli/release/__init__.py": "which tries fewer methods in `tamis demo`",
}


def test_no_list_of_methods_stands_anywhere_else():
    """Three names of methods in one tuple, list, set or dict are a list of methods."""
    found = []
    for path, tree in trees().items():
        place = path.relative_to(SOURCE).as_posix()
        if not place.startswith("catalogue/") and place not in APART:
            found += [(place, names) for names in listed_methods(tree)]
    assert found == []


def listed_methods(tree: ast.Module) -> Iterator[list[str]]:
    for node in ast.walk(tree):
        parts = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", ())
        words = [part.value for part in parts if isinstance(part, ast.Constant)]
        if len(names := [word for word in words if word in METHODS]) >= 3:
            yield names
