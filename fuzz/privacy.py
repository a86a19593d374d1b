"""Privacy: every mechanism of differential privacy, from the public function to what it gives.

Neighbouring tables are drawn from again and again. From how often an outcome is seen with each,
Clopper and Pearson's intervals give an epsilon that the mechanism surely has at least; above the
stated one it breaks its promise. Then the form of what is published is compared for tables that
differ by one row of odd cells.
"""

from __future__ import annotations

import io
import json
import math
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
from scipy import stats

from fuzz.mutate import TOKENS
from fuzz.tally import Tally

LEVEL = 1e-6
"""The chance that a sound mechanism is accused."""
ROUND = 50

Mechanism = Callable[[pl.DataFrame], Hashable]


def least_epsilon(left: Counter[Any], right: Counter[Any]) -> float:
    """An epsilon that a mechanism surely has at least, from outcomes on two neighbours.

    >>> least_epsilon(Counter(a=500, b=500), Counter(a=500, b=500))
    0.0
    >>> least_epsilon(Counter(a=1000), Counter(b=1000)) > 3
    True
    """
    outcomes = set(left) | set(right)
    level = LEVEL / (4 * max(1, len(outcomes)))
    found = 0.0
    for outcome in outcomes:
        for one, other in ((left, right), (right, left)):
            a, n, b, m = one[outcome], one.total(), other[outcome], other.total()
            low = float(stats.beta.ppf(level, a, n - a + 1)) if a else 0.0
            high = float(stats.beta.ppf(1 - level, b + 1, m - b)) if b < m else 1.0
            found = max(found, math.log(low / high)) if low > 0 else found
    return found


def _rows(*rows: tuple[Any, ...]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["who", "a", "y"], orient="row")


SMALL = [("p", 0, "no"), ("q", 1, "no"), ("r", 3, "yes")]
EXTRA = ("s", 3, "no")
ADDED = (_rows(*SMALL), _rows(*SMALL, EXTRA))
SUBSTITUTED = (_rows(*SMALL, ("s", 0, "no")), _rows(*SMALL, EXTRA))
PERSON = (_rows(*SMALL), _rows(*SMALL, *[EXTRA] * 5))
BOUNDS: dict[str, Any] = {"a": [0, 3], "y": ["no", "yes"]}


def _drawn(model: Any, frame: pl.DataFrame, *, people: bool = False) -> Hashable:
    """How many drawn rows lie where the extra row would, and how many there are, both cut."""
    from tamis import Roles, Table
    from tamis.errors import CannotMeet

    roles = Roles("y", identifiers=("who",)) if people else Roles("y", dropped=("who",))
    try:
        rows = model.fit_sample(Table(frame, roles)).frame
    except CannotMeet:  # the noise left no rows, which may be told too
        return "no rows"
    like = rows.filter((pl.col("a") == EXTRA[1]) & (pl.col("y") == EXTRA[2])).height
    return min(like, 3), min(max(rows.height - 2, 0), 4)


def _histogram(frame: pl.DataFrame, neighbours: Any = "add-remove") -> Hashable:
    from tamis import DPHistogram

    return _drawn(DPHistogram(1.0, bounds=BOUNDS, bins=4, neighbours=neighbours), frame)


def _of_people(frame: pl.DataFrame) -> Hashable:
    from tamis import DPHistogram

    model = DPHistogram(1.0, bounds=BOUNDS, bins=4, max_rows_per_person=2)
    return _drawn(model, frame, people=True)


def _partition(frame: pl.DataFrame) -> Hashable:
    from tamis import DPPartition

    return _drawn(DPPartition(1.0, bounds=BOUNDS, bins=4), frame)


def _counted_partition(frame: pl.DataFrame) -> Hashable:
    """The number of bins depends on a noisy number of rows, which costs too."""
    from tamis import DPPartition

    return _drawn(DPPartition(1.0, bounds=BOUNDS), frame)


def _marginals(frame: pl.DataFrame) -> Hashable:
    from tamis import DPMarginals

    return _drawn(DPMarginals(1.0, bounds=BOUNDS, bins=4), frame)


def _synthesiser(algorithm: Any, delta: float = 0.0) -> Mechanism:
    def draw(frame: pl.DataFrame) -> Hashable:
        from tamis.dp.synthesiser import DPSynthesiser

        model = DPSynthesiser(1.0, bounds=BOUNDS, bins=4, algorithm=algorithm, delta=delta)
        return _drawn(model, frame)

    return draw


def _bits(first: list[int]) -> pl.DataFrame:
    """One row of the rare class against eleven, which moves the scores as far as a row can."""
    rows = [[*first, "yes"], *([0, 0, 0, 0, "no"] for _ in range(11))]
    return pl.DataFrame(rows, schema=[*"abcd", "y"], orient="row")


CELLS = (_bits([1, 1, 0, 0]), _bits([0, 0, 1, 1]))


def _selector(mechanism: Any) -> Mechanism:
    def choose(frame: pl.DataFrame) -> Hashable:
        from tamis.dp.selector import PrivateSelector

        model = PrivateSelector(2, epsilon=1.0, mechanism=mechanism, classes=["no", "yes"])
        bits = frame.drop("y").to_numpy().astype(int)
        return tuple(model.fit(bits, frame["y"].to_numpy()).get_support(indices=True).tolist())

    return choose


def _records(frame: pl.DataFrame) -> Hashable:
    """Which columns were chosen, and how many rows of the rare class were drawn."""
    from tamis.binary.records import from_matrix
    from tamis.dp.selector import private_records

    bits = frame.drop("y")
    records = from_matrix(bits.to_numpy().astype(int), bits.columns, frame["y"].to_list())
    found = private_records(records, 2, 1.0, labels=["no", "yes"]).frame
    label = found.columns[-1]
    return (*found.columns[:2], min(3, int((found[label] == "yes").sum())))


AUDITS: dict[str, tuple[Mechanism, tuple[pl.DataFrame, pl.DataFrame], float]] = {
    "DPHistogram, a row added": (_histogram, ADDED, 1.0),
    "DPHistogram, a row substituted": (lambda f: _histogram(f, "substitute"), SUBSTITUTED, 1.0),
    "DPHistogram, a person of 5 rows": (_of_people, PERSON, 1.0),
    "DPPartition, a row added": (_partition, ADDED, 1.0),
    "DPPartition that counts rows, a row added": (_counted_partition, ADDED, 1.0),
    "DPMarginals, a row added": (_marginals, ADDED, 1.0),
    "DPSynthesiser, MST, a row added": (_synthesiser("mst"), ADDED, 1.0),
    "DPSynthesiser, AIM, a row added": (_synthesiser("aim"), ADDED, 1.0),
    "DPSynthesiser, MST and a delta, a row added": (_synthesiser("mst", 1e-6), ADDED, 1.0),
    "DPSynthesiser, AIM and a delta, a row added": (_synthesiser("aim", 1e-6), ADDED, 1.0),
    "PrivateSelector, exponential": (_selector("exponential"), CELLS, 1.0),
    "PrivateSelector, laplace": (_selector("laplace"), CELLS, 1.0),
    "private_records, a row substituted": (_records, CELLS, 1.0),
}  # fmt: skip


class Audit:
    """The outcomes of one mechanism on two neighbours, drawn in turns."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.mechanism, self.tables, self.epsilon = AUDITS[name]
        self.seen: tuple[Counter[Hashable], Counter[Hashable]] = (Counter(), Counter())

    def draw(self, times: int) -> None:
        for table, seen in zip(self.tables, self.seen):
            seen.update(self.mechanism(table) for _ in range(times))

    @property
    def least(self) -> float:
        return least_epsilon(*self.seen)

    @property
    def varies(self) -> bool:
        return all(len(seen) > 1 for seen in self.seen) or not self.seen[0].total() > 9

    @property
    def breaks(self) -> bool:
        return self.least > self.epsilon


def run(tally: Tally, most: int = 20_000, seed: int = 0, only: str = "") -> None:
    """Draw from every mechanism in turns, then compare the form of what neighbours publish."""
    audits = [Audit(name) for name in AUDITS if re.search(only, name)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _draw(tally, audits, most, ROUND, 0.7)
    for audit in audits:
        least = f"surely at least {audit.least:.2f}"
        tally.note(f"{audit.name}: epsilon {audit.epsilon:g} is stated, {least} was shown.")
        tally.check(not audit.breaks, f"{audit.name} has {least}, above {audit.epsilon:g}")
        tally.check(audit.varies, f"{audit.name}: all draws are the same, so nothing was audited")
    formed = [method for method in FORMED if re.search(only, FORM.format(method))]
    compare_forms(tally, Random(seed), most // 50, formed)


def _draw(tally: Tally, audits: list[Audit], most: int, times: int, share: float) -> None:
    """Draw from audits in turns, so many times from each table, up to a share of the minutes."""
    drawing = Tally(tally.part, share * tally.minutes, tried=tally.tried, started=tally.started)
    for _ in drawing.until(-(-most // (2 * times * len(audits))) if audits else 0):
        for audit in audits:
            audit.draw(times)
            tally.tried[audit.name] += 2 * times


PUBLIC = """
rows = 60
[bounds]
ill = ["no", "yes"]
age = [0, 99]
dose = { type = "number", low = 0, high = 2, decimals = 1 }
job = { type = "category", values = ["cook", "judge"], other = "else" }
smokes = { type = "boolean" }
"""
HEADER = "age,dose,job,smokes,ill"
FORMED = ("dp-histogram", "dp-partition", "dp-marginals", "dp-synthesiser")
FORM = "{}, form with a row of odd cells"


def compare_forms(tally: Tally, rng: Random, most: int, methods: Sequence[str]) -> None:
    """One row of odd cells more: all but the drawn rows must be the same."""
    forms: dict[str, Any] = {}
    for number in tally.until(most if methods else 0):
        method = methods[number % len(methods)]
        with tempfile.TemporaryDirectory() as folder:
            if method not in forms:
                forms[method] = form(Path(folder), method, [])
            row = ",".join(_odd_cell(rng) for _ in HEADER.split(","))
            same = form(Path(folder), method, [row]) == forms[method]
        tally.tried[FORM.format(method)] += 1
        tally.check(same, f"{method}: a row changes the form of what is published: {row!r:.80}")


def _odd_cell(rng: Random) -> str:
    plain = ["40", "1.0", "cook", "true", "no", ""]
    odd = [t.decode("utf-8", "ignore") for t in TOKENS if len(t) < 100 and t not in (b"\0",)]
    cell = rng.choice(plain if rng.random() < 0.5 else odd)
    return '"' + cell.replace('"', '""') + '"'


def form(folder: Path, method: str, extra: list[str]) -> dict[str, Any]:
    """Everything that is told of a drawn table but its rows."""
    from tamis.cli import _run

    rows = [f"{20 + i},{i % 3}.5,{('cook', 'judge')[i % 2]},{('true', 'false')[i % 2]},"
            f"{('no', 'yes')[i % 3 == 0]}" for i in range(60)]  # fmt: skip
    (folder / "t.csv").write_text("\n".join([HEADER, *rows, *extra]) + "\n", encoding="utf-8")
    (folder / "public.toml").write_text(PUBLIC)
    out = folder / "out.parquet"
    said = io.StringIO(), io.StringIO()
    ledger = folder / f"ledger-{len(extra)}.toml"
    options = ["--epsilon", "4", "--target", "ill", "--bins", "2", "--ledger", str(ledger)]
    command = ["perturb", str(folder / "t.csv"), "--method", method, *options]
    with redirect_stdout(said[0]), redirect_stderr(said[1]):
        code = _run([*command, "--bounds", str(folder / "public.toml"), "-o", str(out), "--json"])
    told = json.loads(said[0].getvalue()) if code == 0 else {}
    for key in ("rows", "epsilon_total", "ledger"):
        told.pop(key, None)
    schema = list(pl.read_parquet_schema(out).items()) if out.exists() else None
    out.unlink(missing_ok=True)
    said_words = said[1].getvalue().replace(str(folder), "")
    return {"code": code, "told": told, "schema": schema, "said": said_words}
