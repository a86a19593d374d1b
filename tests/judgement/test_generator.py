"""Somebody's own synthesiser, run as a command."""

import sys
from pathlib import Path

import polars as pl
import pytest

from tamis.errors import CannotMeet, InputError
from tamis.judgement.generator import Generator

FRAME = pl.DataFrame({"zip": ["01000", "75011"] * 10, "age": list(range(20))})


def program(tmp_path, text):
    """A program in a folder with a space, as a command."""
    path = tmp_path / "my synth.py"
    path.write_text(text)
    return f'"{sys.executable}" "{path}"'


COPY = "import shutil, sys; shutil.copy(sys.argv[1], sys.argv[2])"


def test_rows_are_read_as_they_were_given(tmp_path):
    generator = Generator(program(tmp_path, COPY) + " {in} {out}")
    assert generator.run(FRAME).equals(FRAME)


def test_it_runs_in_a_folder_that_is_gone_afterwards_and_is_told_its_seed(tmp_path):
    said = tmp_path / "said"
    says = f"open({str(said)!r}, 'w').write(os.getcwd() + ' ' + sys.argv[3])"
    text = f"import os, sys; {says}; {COPY}"
    Generator(program(tmp_path, text) + " {in} {out} {seed}").run(FRAME, seed=7)
    folder, seed = said.read_text().split()
    assert seed == "7"
    assert not Path(folder).exists()


def test_nothing_of_a_shell_is_understood(tmp_path):
    made = tmp_path / "made"
    more = f"; touch {made} $(touch {made})"
    generator = Generator(program(tmp_path, COPY) + " {in} {out} " + more)
    assert generator.run(FRAME).height == FRAME.height
    assert not made.exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import sys; sys.exit(3)", "exit code 3"),
        ("pass", "without writing {out}"),
        ("import time; time.sleep(60)", "more than 1 seconds"),
    ],
)
def test_what_goes_wrong(tmp_path, text, why):
    timeout = 1.0 if "sleep" in text else 60.0
    with pytest.raises(CannotMeet, match=why):
        Generator(program(tmp_path, text) + " {in} {out}", timeout).run(FRAME)


def test_what_it_prints_is_not_shown(tmp_path):
    text = "import sys; print(open(sys.argv[1]).read(), file=sys.stderr); sys.exit(1)"
    with pytest.raises(CannotMeet) as refused:
        Generator(program(tmp_path, text) + " {in} {out}").run(FRAME)
    assert "exit code 1" in str(refused.value)
    assert "75011" not in str(refused.value)


@pytest.mark.parametrize("command", ["synth", "synth {in}", "synth {out}", 'synth "{in} {out}'])
def test_commands_that_cannot_be(command):
    with pytest.raises(InputError, match="--generator"):
        Generator(command)


def test_a_program_that_is_not_there():
    with pytest.raises(InputError, match="there is no program"):
        Generator("no-such-program {in} {out}").run(FRAME)


def test_a_copier_gives_people_away_and_a_constant_nobody(monkeypatch):
    generator = Generator("x {in} {out}")
    monkeypatch.setattr(Generator, "run", lambda self, frame, seed=0: frame)
    copied = generator.shadow(FRAME, runs=20, epsilon=1.0)
    assert copied.success.value == 1.0
    assert copied.details["epsilon_at_least"] > 0.5
    assert copied.details["within"] is False
    constant = FRAME.head(1)
    monkeypatch.setattr(Generator, "run", lambda self, frame, seed=0: constant)
    drawn = generator.shadow(FRAME, runs=20)
    assert drawn.details["epsilon_at_least"] == 0.0
    assert "within" not in drawn.details
