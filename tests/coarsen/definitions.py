"""Full-domain generalisation written out over plain rows, as slow as its definitions."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from tamis.coarsen.ladder import Hierarchy
from tests.require.plain import plain


@dataclass
class PlainTable:
    """Rows as tuples of leaves, with their people and sensitive values."""

    rows: list[tuple[int, ...]]
    hierarchies: list[Hierarchy]
    people: list[int] | None
    values: list[int]

    @property
    def nodes(self) -> list[tuple[int, ...]]:
        return list(itertools.product(*(range(h.top + 1) for h in self.hierarchies)))

    def forms(self, levels: tuple[int, ...]) -> list[tuple[int, ...]]:
        return [
            tuple(
                int(h.groups[level][leaf]) for h, level, leaf in zip(self.hierarchies, levels, row)
            )
            for row in self.rows
        ]

    def person(self, row: int) -> int:
        return row if self.people is None else self.people[row]


def shares(table: PlainTable, rows: list[int]) -> dict[int, float]:
    pairs = {(table.person(r), table.values[r]) for r in rows}
    counts = Counter(value for _, value in pairs)
    return {value: count / len(pairs) for value, count in counts.items()}


def distance(table: PlainTable, rows: list[int], how: str) -> float:
    own, usual = shares(table, rows), shares(table, list(range(len(table.rows))))
    differences = [own.get(v, 0.0) - usual[v] for v in sorted(usual)]
    if how == "equal":
        return sum(map(abs, differences)) / 2
    return sum(map(abs, itertools.accumulate(differences))) / max(1, len(usual) - 1)


def diverse(table: PlainTable, rows: list[int], asked: Any) -> bool:
    """Whether the people who have each value are as evenly many as entropy or recursive l asks."""
    counts = Counter(value for _, value in {(table.person(r), table.values[r]) for r in rows})
    falling, total = sorted(counts.values(), reverse=True), sum(counts.values())
    if asked.l_kind == "entropy":
        entropy = -sum(n / total * math.log(n / total) for n in falling)
        return bool(math.exp(entropy) >= asked.l - 1e-9)
    return bool(asked.l_kind == "distinct" or falling[0] < asked.c * sum(falling[asked.l - 1 :]))


def fits(table: PlainTable, rows: list[int], asked: Any) -> bool:
    asked = plain(asked)
    people = len({table.person(r) for r in rows})
    if people < asked.k:
        return False
    if asked.l is not None and min(people, len({table.values[r] for r in rows})) < asked.l:
        return False
    if asked.l is not None and not diverse(table, rows, asked):
        return False
    if not alike(table, rows, asked):
        return False
    return asked.t is None or distance(table, rows, asked.t_distance or "equal") <= asked.t + 1e-9


def alike(table: PlainTable, rows: list[int], asked: Any) -> bool:
    """Whether some rows keep alpha, beta and delta by what these mean."""
    own, usual = shares(table, rows), shares(table, list(range(len(table.rows))))
    people = len({table.person(r) for r in rows})
    for value, p in usual.items():
        holders = len({table.person(r) for r in rows if table.values[r] == value})
        q = own.get(value, 0.0)
        if asked.alpha is not None and holders / people > asked.alpha + 1e-9:
            return False
        if asked.beta is not None and (q - p) / p > asked.beta + 1e-9:
            return False
        enhanced = asked.beta is not None and asked.beta_kind == "enhanced"
        if enhanced and (q - p) / p > -math.log(p) + 1e-9:
            return False
        if asked.delta_disclosure is not None and (
            q == 0 or abs(math.log(q / p)) >= asked.delta_disclosure - 1e-9
        ):
            return False
    return True


def classes(table: PlainTable, levels: tuple[int, ...]) -> list[list[int]]:
    found = defaultdict(list)
    for row, form in enumerate(table.forms(levels)):
        found[form].append(row)
    return list(found.values())


def divided(
    table: PlainTable, levels: tuple[int, ...], asked: Any
) -> tuple[list[list[int]], list[int]]:
    """The kept classes, and the suppressed rows."""
    kept, lost = [], []
    for rows in classes(table, levels):
        if fits(table, rows, asked):
            kept.append(rows)
        else:
            lost += rows
    return kept, lost


def weights(factor: float) -> tuple[float, float]:
    return (2 * factor if factor < 0.5 else 1.0), (1.0 if factor <= 0.5 else 2 - 2 * factor)


def cut(value: float) -> float:
    return math.floor(value * 1e10) / 1e10


def share(hierarchy: Hierarchy, leaf: int, level: int) -> float:
    groups: list[int] = hierarchy.groups[level].tolist()
    return groups.count(groups[leaf]) / len(groups)


def losses(table: PlainTable, levels: tuple[int, ...], asked: Any, factor: float) -> list[float]:
    s, w = weights(factor)
    _, lost = divided(table, levels, asked)
    n, found = len(table.rows), []
    for j, (h, level) in enumerate(zip(table.hierarchies, levels)):
        total = 0.0
        for r, row in enumerate(table.rows):
            own = share(h, row[j], level)
            total += (1 if s == 1 else own + s * (1 - own)) if r in lost else w * own
        a = w * n / h.leaves
        found.append(cut(max(0.0, (total - a) / (n - a))) if n > a else 0.0)
    return found


def entropies(table: PlainTable, levels: tuple[int, ...], asked: Any, factor: float) -> list[float]:
    s, w = weights(factor)
    _, lost = divided(table, levels, asked)
    found = []
    for j, (h, level) in enumerate(zip(table.hierarchies, levels)):
        leaves = Counter(row[j] for row in table.rows)
        groups = Counter(int(h.groups[level][row[j]]) for row in table.rows)
        bits = -sum(n * math.log2(n / groups[int(h.groups[level][u])]) for u, n in leaves.items())
        among = Counter(int(h.groups[level][table.rows[r][j]]) for r in lost)
        more = -sum(b * math.log2(b / len(lost)) for b in among.values())
        found.append(cut(w * bits + s * more))
    return found


def score(
    table: PlainTable, levels: tuple[int, ...], asked: Any, metric: str, factor: float
) -> float:
    s, w = weights(factor)
    kept, lost = divided(table, levels, asked)
    n, d = len(table.rows), len(levels)
    if metric == "loss":
        found = losses(table, levels, asked, factor)
        return float(np.prod([1 + v for v in found]) ** (1 / d) - 1)
    if metric == "loss_arith":
        return sum(losses(table, levels, asked, factor)) / d
    if metric == "discernability":
        return sum(len(c) ** 2 for c in kept) + n * len(lost)
    if metric == "aecs":
        shown = s * len(kept) + (w if lost else 0)
        return n / shown if shown else math.inf
    if metric == "height":
        return sum(levels)
    if metric == "precision":
        way = [level / h.top if h.top else 0.0 for h, level in zip(table.hierarchies, levels)]
        return sum((w * (n - len(lost)) * x + s * len(lost)) / n for x in way) / d
    if metric == "entropy":
        return sum(entropies(table, levels, asked, factor))
    most = []
    for j in range(d):
        leaves = Counter(row[j] for row in table.rows)
        most.append(cut(-sum(c * math.log2(c / n) for c in leaves.values())) or 1.0)
    return sum(v / m for v, m in zip(entropies(table, levels, asked, 0.5), most))


def optimum(table: PlainTable, asked: Any, metric: str, factor: float, most: int) -> float | None:
    """The lowest score of any node that suppresses few enough rows; `None` if none does."""
    allowed = [x for x in table.nodes if len(divided(table, x, asked)[1]) <= most]
    return min((score(table, x, asked, metric, factor) for x in allowed), default=None)
