"""Undo: altered values are attacked by whoever has the file and looks for what drew it.

The attacker tries small seeds, and every number that the command printed or put into a name; reads
a seed off the order of rows; and draws the alteration again, to take it back. A file's order must
be a function of its rows alone.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fuzz.tally import Tally
from tamis.catalogue.methods import METHODS

SMALL = 16
"""Seeds from 0 to below this are tried."""
ENOUGH = 30
"""With fewer altered cells, a guess may be right by luck."""
GUESSES = 24
"""Draws of nobody's, from which it follows what luck gives back."""
NUMBERS = ("dose", "pay")
TARGET = "goal"
AT_RANDOM = ("uniform", "gaussian", "swap", "pram", "flip")
ALIKE = tuple(name for name, method in METHODS.items() if method.makes_alike)
TITLES = {
    "gaussian": "gaussian noise, {level:g}",
    "uniform": "uniform noise, {level:g}",
    "swap": "rank swapping, {level:g}",
    "pram": "PRAM, {level:g}",
    "flip": "flip, k = 5",
    "microaggregate": "microaggregation, k = 5",
    "suppress": "local suppression, k = 5",
}
"""What releases are called."""
RELEASED = tuple(name for name, method in METHODS.items() if method.perturber)

Draws = Callable[[], np.random.Generator]
Cells = np.ndarray[Any, Any]


def table_at(rng: np.random.Generator, zero_one: bool) -> pl.DataFrame:
    """A random table, its rows in no order; `mark` tells its rows apart and is never altered."""
    rows = int(rng.integers(80, 140))
    goal = np.where(rng.random(rows) < 0.5, "no", "yes")
    if zero_one:
        taught = np.where(goal == "yes", 0.7, 0.3)[:, None]
        bits = (rng.random((rows, int(rng.integers(5, 8)))) < taught).astype(int)
        return pl.DataFrame(bits, schema=[f"b{i}" for i in range(bits.shape[1])]).with_columns(
            pl.Series(TARGET, goal)
        )
    return pl.DataFrame(
        {
            "mark": rng.permutation(rows) + 0.5,
            "dose": rng.normal(50, 9, rows).round(int(rng.integers(0, 3))),
            "pay": rng.integers(1_000, 9_000, rows) + 0.25,
            "job": rng.choice(["cook", "judge", "baker", "smith"], rows),
            "town": rng.choice(["york", "bath", "ely"], rows),
            TARGET: goal,
        }
    )


def alteration(method: str, level: float, columns: Sequence[str] | None, draws: Any) -> Any:
    """The transformer that a method is, which the attacker has too."""
    from tamis import GaussianNoise, Pram, RandomFlip, RankSwap, UniformNoise

    if method == "flip":
        return RandomFlip(5, disagreement="coin", random_state=draws)
    kinds = {"uniform": UniformNoise, "gaussian": GaussianNoise, "swap": RankSwap, "pram": Pram}
    return kinds[method](level, columns=columns, random_state=draws)


def sources(seeds: Sequence[int], name: str = "") -> Iterator[tuple[int, Draws]]:
    """Each seed in every way that draws were ever made of one; `name` is that of a release."""
    for seed in seeds:
        yield seed, partial(np.random.default_rng, seed)
        yield seed, partial(_philox, seed)
        for text in (f"{seed}", f"{seed:032x}") if name else ():
            own = int.from_bytes(hashlib.sha256(f"{text} {name}".encode()).digest()[:16])
            yield seed, partial(_philox, own)


def _philox(key: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key))


def seeds_in(words: str) -> list[int]:
    """Small seeds, and all numbers that somebody sees, in decimals or hexadecimals."""
    seen = [int(digits) for digits in re.findall(r"\d+", words) if len(digits) < 60]
    long = [int(digits, 16) for digits in re.findall(r"[0-9a-f]{16,}", words)]
    return list(dict.fromkeys([*range(SMALL), *seen, *long]))


def _texts(frame: pl.DataFrame) -> list[tuple[str, ...]]:
    """Rows as texts, in which numbers are written one way."""
    cells = [
        [f"{x:.9g}" for x in s.cast(pl.Float64).fill_null(float("nan"))]
        if s.dtype.is_numeric()
        else [str(x) for x in s]
        for s in frame.get_columns()
    ]
    return list(zip(*cells))


def disorder(rows: pl.DataFrame) -> str:
    """Whether rows are in an order that their content does not give; with its seed if one does."""
    in_order = sorted(range(rows.height), key=lambda i: [_key(cell) for cell in rows.row(i)])
    texts = _texts(rows)
    ascending = [texts[i] for i in in_order]
    if texts == ascending:
        return ""
    for seed in range(SMALL):
        drawn = np.random.default_rng(seed).permutation(rows.height)
        if [ascending[i] for i in drawn] == texts:
            return f"the order of rows is that of seed {seed}"
    return "the order of rows is not that of their content"


def _key(cell: Any) -> tuple[Any, ...]:
    """Missing first, texts by their bytes, numbers by value."""
    if cell is None:
        return (0,)
    return (1, cell.encode() if isinstance(cell, str) else cell)


def reproduced(
    table: Any, rows: pl.DataFrame, model: Callable[[Any], Any], tried: Iterator[tuple[int, Draws]]
) -> list[str]:
    """The seeds that give the same file again."""
    found = sorted(_texts(rows))
    for seed, draws in tried:
        again = model(draws()).fit_transform(table)
        frame = again.frame() if callable(again.frame) else again.frame
        if sorted(_texts(frame.select(rows.columns))) == found:
            return [f"seed {seed} makes the same file again"]
    return []


def undone(
    original: pl.DataFrame, rows: pl.DataFrame, model: Callable[[Any], Any], seeds: Sequence[int]
) -> list[str]:
    """What drawing again, with the file alone, tells of the original cells: more than guessing.

    An alteration that is drawn again on the altered rows is its own inverse, or adds the same once
    more, or touches the same cells. What a draw of nobody's tells is the guess to compare with.
    """
    from tamis import Roles, Table

    columns = model(0).columns
    true = rows.select("mark").join(original, on="mark", how="left", maintain_order="left")
    left, right = _cells(true, columns), _cells(rows, columns)
    altered = left != right
    if altered.sum() < ENOUGH:
        return []
    released = Table(rows, Roles(target=TARGET))

    def gains(draws: np.random.Generator) -> tuple[int, int]:
        again = _cells(model(draws).fit_transform(released).frame, columns)
        touched = int(((again != right) & altered).sum())
        return _right(left, right, again, altered), touched

    guesses = np.array([gains(np.random.default_rng()) for _ in range(GUESSES)])
    bound = beyond_luck(guesses, int(altered.sum()))
    for seed, draws in sources(seeds):
        if (np.array(gains(draws())) > bound).any():
            return [f"seed {seed} and the file give back original cells, or which were altered"]
    return []


def beyond_luck(guesses: Cells, cells: int) -> Cells:
    """What none of the many seeds that are tried reaches by luck, from what guesses gave.

    Swapped cells come back in pairs, whose counts spread more than their mean. Of 216 cells two
    thousand wrong seeds gave back 18 at most, and the right one 212. Where a guess is right of half
    of the cells at most, all of them are no luck: there are `ENOUGH` of them.
    """
    mean = guesses.mean(axis=0)
    bound = mean + 8 * guesses.std(axis=0) + 12
    return np.asarray(np.where(mean <= cells / 2, np.minimum(bound, cells - 1), bound))


def _cells(frame: pl.DataFrame, columns: Sequence[str]) -> Cells:
    """Cells as numbers; texts by a number of their own."""
    kinds = [
        s.cast(pl.Float64) if s.dtype.is_numeric() else s.hash(0).cast(pl.Float64)
        for s in frame.select(columns).get_columns()
    ]
    return np.column_stack([s.to_numpy() for s in kinds])


def _right(true: Cells, seen: Cells, again: Cells, altered: Any) -> int:
    """How many altered cells are found by drawing again: as drawn, or by taking it back."""
    guesses = (again, 2 * seen - again)
    return max(int((np.isclose(guess, true, 1e-9, 1e-9) & altered).sum()) for guess in guesses)


def perturbed(rng: np.random.Generator, folder: Path) -> tuple[str, list[str]]:
    """`tamis perturb` on a random table, as its user runs it, attacked."""
    method = str(rng.choice([*AT_RANDOM, *ALIKE]))
    frame = table_at(rng, method == "flip")
    columns = None if method == "flip" else list(_alterable(method))
    level, form = float(rng.choice([0.1, 0.3, 0.5])), str(rng.choice(["csv", "parquet"]))
    path, out = folder / "table.csv", folder / f"shared.{form}"
    frame.write_csv(path)
    level_option = ["--within" if method == "swap" else "--probability", str(level)]
    command = ["perturb", str(path), "--method", method, *level_option, "--target", TARGET]
    command += ["--row-is-person", "-o", str(out)]
    command += ["--disagreement", "coin"] if columns is None else ["--columns", ",".join(columns)]
    words = run_tamis(command)
    wrong = [disorder(read_file(out))]
    if method in ALIKE:
        wrong.append(_from_other_order(frame, command, path, out, rng))
        return f"perturb {method}", [words for words in wrong if words]
    from tamis import read_table
    from tamis.binary.records import from_wide

    def model(draws: Any) -> Any:
        return alteration(method, level, columns, draws)

    read = read_table(path, target=TARGET)
    table = from_wide(read) if method == "flip" else read
    seeds = seeds_in(words.replace(str(folder), ""))
    wrong += reproduced(table, read_file(out), model, sources(seeds))
    if method != "flip":
        wrong += undone(frame, read_file(out), model, seeds)
    return f"perturb {method}", [words for words in wrong if words]


def _alterable(method: str) -> Sequence[str]:
    return {"swap": NUMBERS, "pram": ("job", "town")}.get(method, (*NUMBERS, "job"))


def _from_other_order(
    frame: pl.DataFrame, command: list[str], path: Path, out: Path, rng: np.random.Generator
) -> str:
    """Whether the same rows in another order give another file, where nothing is drawn."""
    first = out.read_bytes()
    frame[rng.permutation(frame.height)].write_csv(path)
    run_tamis(command)
    return "" if out.read_bytes() == first else "the file depends on the original order of rows"


def run_tamis(command: list[str]) -> str:
    """Run a command in this process; all that it says."""
    from tamis.cli import _run

    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        code = _run(command)
    if code:
        raise AssertionError(f"exit code {code}: {said.getvalue()[-300:]}")
    return said.getvalue()


def read_file(path: Path) -> pl.DataFrame:
    return pl.read_csv(path) if path.suffix == ".csv" else pl.read_parquet(path)


def released(rng: np.random.Generator, folder: Path) -> tuple[str, list[str]]:
    """An altered release of a random table, attacked; and once more with the same seed."""
    from tamis import Settings, consider, publish, read_table
    from tamis.errors import CannotMeet

    name = str(rng.choice(RELEASED))
    frame = table_at(rng, name == "flip")
    frame = frame if name == "flip" else frame.drop("mark")
    level = float(rng.choice([0.1, 0.3]))
    kind = str(rng.choice(["uniform", "gaussian"]))
    title = TITLES[kind if name == "noise" else name].format(level=level)
    options: dict[str, Any] = {"ks": [5]} if name in (*ALIKE, "flip") else {"levels": [level]}
    options |= {"kind": kind} if name == "noise" else {}
    # Where values are drawn, k = 2 holds over towns whatever is drawn: there are some thirty each.
    known = ["job", "town"] if name in ALIKE else ["town"]
    roles: dict[str, Any] = {} if name == "flip" else {"quasi": known}
    table = read_table(frame, target=TARGET, **roles)
    common: dict[str, Any] = {"attackers": ("nb",), "allow_useless": True, "holdout": 0.3}
    seed = int(rng.integers(1 << 30))
    settings = Settings(k=2, methods={name: options}, seed=seed, **common)
    try:
        outs = [
            publish(consider(table, settings).taking(title), folder / f"out{i}") for i in range(2)
        ]
    except CannotMeet:
        return "refused: cannot be met", []
    rows = [pl.read_csv(out / "release.csv") for out in outs]
    wrong = [disorder(each) for each in rows]
    words = "".join((outs[0] / n).read_text() for n in ("manifest.json", "report.html"))
    secret = json.loads((outs[0] / "private" / "recipe.json").read_text())["settings"]["secret"]
    wrong.append("the secret is in what leaves" if secret in words else "")
    if name not in (*ALIKE, "flip"):  # which draw nothing, or only what ties become
        method = kind if name == "noise" else name
        wrong += _by_seed(table, rows, frame, method, level, [*range(SMALL), seed], title)
    return f"release, {name}", [words for words in wrong if words]


def _by_seed(
    table: Any,
    rows: list[pl.DataFrame],
    frame: pl.DataFrame,
    method: str,
    level: float,
    seeds: list[int],
    title: str,
) -> list[str]:
    """What a seed gives away of a release: the same file, by the command or by its parts."""
    true = sorted(_texts(frame.select(rows[0].columns)))
    if sum(a != b for a, b in zip(true, sorted(_texts(rows[0])))) < ENOUGH:
        return []
    twice = "two runs with one seed draw the same file" if rows[0].equals(rows[1]) else ""

    def model(draws: Any) -> Any:
        return alteration(method, level, None, draws)

    return [twice, *reproduced(table, rows[0], model, sources(seeds, title))]


def try_one(seed: int, folder: Path) -> tuple[str, list[str]]:
    """Alter a random table; what came of it, and what an attacker found."""
    rng = np.random.default_rng(seed)
    return (perturbed if rng.random() < 0.7 else released)(rng, folder)


def run(tally: Tally, most: int = 1_000, seed: int = 0) -> None:
    """Random tables, altered and attacked."""
    from fuzz.claims import each_case, without_close_look

    without_close_look()
    each_case(tally, try_one, most, seed)
