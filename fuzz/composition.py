"""Composition: random people in several releases, counted again over all files that left.

A table changes between releases: people come and leave, rows come and go, columns are recoded. Each
release is made `--beside` those before it. The count here is that of docs/attacking.md by brute
force: it starts from the written files and from which record of the made-up table is which, knows
no more of tamis than how a row's name is hashed, and tries several of the matchings that the
files leave possible.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fuzz.claims import each_case, without_close_look
from fuzz.tally import Tally

WHO, TARGET = "who", "goal"
MATCHINGS = 8
"""How many of the possible matchings are tried."""
METHODS: tuple[dict[str, Any], ...] = (
    {"front": {}},
    {"breach": {}},
    {"coarsen": {}},
    {"suppress": {}},
    {"containment": {"ks": [3], "utilities": ["difference"]}},
)


@dataclass
class Record:
    """A record of a person, and its cells in the tables that it is in, by their numbers."""

    who: int
    cells: dict[int, tuple[str, ...]] = field(default_factory=dict)


@dataclass
class People:
    """Random people, whose table changes."""

    rng: np.random.Generator
    zero_one: bool
    several: bool
    named: bool
    width: int = 0
    records: list[Record] = field(default_factory=list)
    everybody: int = 0

    def __post_init__(self) -> None:
        self.width = int(self.rng.integers(2, 4))
        # Without names, nobody can see that one left where another came who is like them.
        self.leaving, self.coming = [(1, 1), (1, 0), (0, 1)][
            0 if self.named else int(self.rng.integers(1, 3))
        ]

    @property
    def columns(self) -> list[str]:
        return [f"c{i}" for i in range(self.width)]

    def come(self, number: int, people: int) -> None:
        """So many people more, from table `number` on."""
        for _ in range(people):
            rows = int(self.rng.integers(1, 4)) if self.several else 1
            for _ in range(rows):
                self.records.append(Record(self.everybody, {number: self._drawn()}))
            self.everybody += 1

    def _drawn(self) -> tuple[str, ...]:
        cause = int(self.rng.integers(0, 2))
        many = 2 if self.zero_one else 3
        cells = [
            cause if self.rng.random() < 0.5 else int(self.rng.integers(0, many))
            for _ in range(self.width)
        ]
        label = cause if self.rng.random() < 0.85 else 1 - cause
        names = map(str, cells) if self.zero_one else (f"v{cell}" for cell in cells)
        return (*names, "ny"[label])

    def change(self, number: int) -> None:
        """The table `number`, after that before it: few or many come, leave and change."""
        rng = self.rng
        stay = 1 - self.leaving * rng.choice([0, 0, 0, 0.02, 0.4])
        left = {who for who in range(self.everybody) if rng.random() > stay}
        recoded = int(rng.integers(0, self.width)) if rng.random() < 0.4 else None
        changing = self.named * float(rng.choice([0.0, 0.0, 0.0, 0.1]))
        for record in self.records:
            then = record.cells.get(number - 1)
            if then is None or record.who in left:
                continue
            cells = list(self._drawn() if rng.random() < changing else then)
            if recoded is not None and not self.zero_one:
                cells[recoded] = "v*" if cells[recoded] != "v0" else "v0"
            record.cells[number] = tuple(cells)
        if self.several and rng.random() < 0.2:
            self._lose_rows(number)
        self.come(number, self.coming * int(rng.choice([0, 0, 0, 6, 80])))

    def _lose_rows(self, number: int) -> None:
        for record in self.records:
            if self.rng.random() < 0.03:
                record.cells.pop(number, None)

    def table(self, number: int) -> pl.DataFrame:
        """The table with that number, its rows in no order."""
        here = [record for record in self.records if number in record.cells]
        rows = [(f"p{record.who}", *record.cells[number]) for record in here]
        frame = pl.DataFrame(rows, schema=[WHO, *self.columns, TARGET], orient="row")
        frame = frame[self.rng.permutation(frame.height)]
        bits = [pl.col(c).cast(pl.Int64) for c in self.columns] if self.zero_one else []
        return frame.with_columns(bits).drop([] if self.named else [WHO])


def hashed(cells: Iterable[tuple[str, str]]) -> str:
    """The name of a row in `private/rows.csv`: a hash of its cells by the names of columns."""
    text = "".join(f"{len(cell)}:{cell}" for _, cell in sorted(cells))
    return blake2b(text.encode(), digest_size=10).hexdigest()


@dataclass(frozen=True)
class File:
    """A release as it left: what an attacker sees of rows that have one name."""

    seen: dict[tuple[str, str], list[tuple[str, ...]]]
    named_by: tuple[str, ...]
    contained: bool


def known_columns(folders: Sequence[Path], asked: Sequence[str]) -> set[str]:
    """Columns that any promise names, what they were made of, and those named now."""
    found = set(asked)
    for folder in folders:
        manifest = json.loads((folder / "manifest.json").read_text())
        made_of = {c["name"]: c.get("made_of", c["name"]) for c in manifest["columns"]}
        promised = {c for promise in manifest["promises"] for c in promise["columns"]}
        found |= promised | {made_of.get(c, c) for c in promised}
    return found


def read_file(folder: Path, known: set[str]) -> File:
    """The known cells of each row of a file, by the row's name."""
    manifest = json.loads((folder / "manifest.json").read_text())
    places = [
        i
        for i, column in enumerate(manifest["columns"])
        if column["role"] != "target" and {column["name"], column.get("made_of")} & known
    ]
    with (folder / "release.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    with (folder / "private" / "rows.csv").open(newline="", encoding="utf-8") as file:
        names = list(csv.DictReader(file))
    assert len(rows) == len(names), "as many names as rows"
    seen: dict[tuple[str, str], list[tuple[str, ...]]] = defaultdict(list)
    for row, name in zip(rows, names):
        seen[name["person"], name["content"]].append(tuple(row[i] for i in places))
    kinds = {promise["key"] for promise in manifest["promises"]}
    recipe = json.loads((folder / "private" / "recipe.json").read_text())
    content = tuple(recipe["named_by"]["content"])
    return File(dict(seen), content, kinds == {"containment_anonymity"})


def matched(people: People, files: Sequence[File]) -> dict[int, list[Any]]:
    """One of the matchings that are possible: what each record is seen as in every file.

    Rows of one name cannot be told apart, so any of them may be any. What is named by a person
    and has changed is taken for what it is, which is one of the possibilities, too.
    """
    views: dict[int, list[Any]] = {i: [None] * len(files) for i in range(len(people.records))}
    for number, file in enumerate(files):
        of_name: dict[tuple[str, str], list[int]] = defaultdict(list)
        for i, record in enumerate(people.records):
            if number in record.cells:
                cells = dict(zip([*people.columns, TARGET], record.cells[number]))
                cells |= {WHO: f"p{record.who}"} if people.named else {}
                person = hashed([(WHO, cells[WHO])]) if people.named else ""
                of_name[person, hashed((c, cells[c]) for c in file.named_by)].append(i)
        for name, lines in file.seen.items():
            drawn = people.rng.permutation(of_name[name])[: len(lines)].tolist()
            assert len(drawn) == len(lines), "every row is somebody's"
            for i, line in zip(drawn, people.rng.permutation(len(lines))):
                views[i][number] = lines[line]
    return views


def fewest(people: People, files: Sequence[File]) -> int:
    """The fewest candidates of one possible matching, in people."""
    views = matched(people, files)
    where: dict[int, set[int]] = defaultdict(set)
    for i, seen in views.items():
        where[people.records[i].who] |= {n for n, view in enumerate(seen) if view is not None}
    crowds: dict[Any, set[int]] = defaultdict(set)
    for i, seen in views.items():
        who = people.records[i].who
        if where[who]:
            crowds[frozenset(where[who]), tuple(seen)].add(who)
    if all(file.contained for file in files):
        crowds = {key: _containing(key, crowds) for key in crowds}
    return min(len(crowd) for (_, seen), crowd in crowds.items() if any(seen))


def _containing(key: Any, crowds: dict[Any, set[int]]) -> set[int]:
    """The people of the same files who have all that is known."""
    return {who for other, crowd in crowds.items() if _has(other, key) for who in crowd}


def _has(other: Any, key: Any) -> bool:
    if other[0] != key[0]:
        return False
    for more, less in zip(other[1], key[1]):
        if (more is None) != (less is None):
            return False
        if less is not None and any(b == "1" and a != "1" for a, b in zip(more, less)):
            return False
    return True


def try_one(seed: int, folder: Path) -> tuple[str, list[str]]:
    """Several releases of people who change; what came of it, and what is below k."""
    from tamis.errors import CannotMeet, InputError

    rng = np.random.default_rng(seed)
    zero_one, named = bool(rng.random() < 0.25), bool(rng.random() < 0.75)
    people = People(rng, zero_one, named and bool(rng.random() < 0.5), named)
    people.come(0, int(rng.integers(90, 220)))
    k, most = int(rng.integers(2, 5)), int(rng.choice([2, 2, 3]))
    folders: list[Path] = []
    for number in range(most):
        if number:
            people.change(number)
        try:
            folders.append(_released(people, number, k, folders, folder / str(number)))
        except (CannotMeet, InputError) as error:
            kind = "as input" if isinstance(error, InputError) else "cannot be met"
            return f"refused: {kind}, {'first' if not number else 'beside'}", []
    known = known_columns(folders, people.columns)
    files = [read_file(folder, known) for folder in folders]
    least = min(fewest(people, files) for _ in range(MATCHINGS))
    wrong = [f"{least} alike over {most} files, below k = {k}"] if least < k else []
    rows = "rows without names" if not named else "several rows" if people.several else "one row"
    return f"{most} files, {rows}{', 0/1' if zero_one else ''}", wrong


def _released(people: People, number: int, k: int, earlier: Sequence[Path], out: Path) -> Path:
    from tamis import Settings, consider, publish, read_table
    from tamis.attack.earlier_releases import EarlierReleases
    from tamis.publication.read_back import read_earlier

    rng = people.rng
    possible = METHODS if people.zero_one else METHODS[:-1]
    chosen = possible[int(rng.integers(len(possible)))]
    dropped = [c for c in people.columns[1:] if rng.random() < 0.3]
    roles: dict[str, Any] = {"identifier": [WHO]} if people.named else {}
    table = read_table(people.table(number), target=TARGET, drop=dropped, **roles)
    handed = EarlierReleases(table, [read_earlier(each) for each in earlier]) if earlier else None
    more: dict[str, Any] = {"max_suppressed": 0.1} if not earlier and rng.random() < 0.2 else {}
    common: dict[str, Any] = {"attackers": ("nb",), "allow_useless": True, "holdout": 0.3}
    settings = Settings(k=k, methods=chosen, seed=int(rng.integers(1 << 30)), **common, **more)
    return publish(consider(table, settings, handed=handed), out)


def run(tally: Tally, most: int = 1_000, seed: int = 0) -> None:
    """Random people, released several times and counted over all files."""
    without_close_look()
    each_case(tally, try_one, most, seed)
