"""What is shown to be copied does the same as the configuration file that is saved."""

from __future__ import annotations

import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from hypothesis import given
from hypothesis import strategies as st

from tamis.cli.release import release
from tamis.serve.command import LONGEST, arguments, flags, in_shell, toml

names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)
listed = st.lists(names, min_size=1, max_size=3, unique=True)
options = st.fixed_dictionaries(
    {"target": names},
    optional={
        "sensitive": names,
        "quasi": listed,
        "identifier": listed,
        "row_is_person": st.just(True),
        "missing": listed,
        "k": st.integers(1, 99),
        "min_performance": st.sampled_from([0.5, 0.725, 1.0]),
        "methods": st.just(["breach", "containment"]),
    },
)


def understood(words: list[str]) -> dict[str, Any]:
    """The options as `tamis release` understands them."""
    with click.Context(release) as ctx:
        release.parse_args(ctx, ["table.csv", *words])
        return dict(ctx.params)


@given(options)
def test_the_flags_mean_what_the_configuration_file_means(given_options: dict[str, Any]):
    with TemporaryDirectory() as folder:
        config = Path(folder) / "tamis.toml"
        config.write_text(toml(given_options), encoding="utf-8")
        wanted = understood(["--config", str(config)])
        found = understood(arguments(given_options, str(config)))
    for name, value in given_options.items():
        meant = tuple(value) if isinstance(value, list) else value
        assert wanted[name] == found[name] == meant


@given(options)
def test_a_shell_gives_the_command_back_word_for_word(given_options: dict[str, Any]):
    words = ["release", "my 'table'.csv", *arguments(given_options, "tamis.toml")]
    assert shlex.split(in_shell(words)) == ["tamis", *words]


def test_a_command_that_nobody_can_read_becomes_a_file():
    assert flags({"quasi": [f"column {i}" for i in range(LONGEST // 8)]}) is None
    for odd in ("a,b", " a", "a\nb", ""):
        assert flags({"quasi": [odd, "c"]}) is None
        assert arguments({"quasi": [odd]}, "x.toml") == ["--config", "x.toml"]
    assert flags({"target": "a,b"}) == ["--target=a,b"]
