"""Each printed number of Tables 3 to 6 and of Figure 1 next to ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from statistics import fmean, stdev
from typing import Any

from experiments.cell import Cell, Kind
from experiments.zhang.printed import (
    AUCS,
    ENTITY,
    FLIP_SPREADS,
    FULL,
    FULL_AUCS,
    KS,
    METHODS,
    PRIVATE_AUCS,
    RF,
    SIZES,
    STATISTICS,
    TABLE_OF,
)
from experiments.zhang.reasons import NOISE, SPREAD, auc_reason, density_reason, size_reason

Found = Mapping[str, Any]

AUC_TOLERANCE, SIZE_TOLERANCE, FLIP_TOLERANCE, SPREAD_TOLERANCE = 0.02, 1, 0.1, 0.01
COLUMNS = ("entities", "features", "positive", "negative", "ones, %")


def statistics_cells(found: Mapping[str, Found]) -> Iterator[Cell]:
    """Table 3."""
    for name, numbers in STATISTICS.items():
        if name not in found:
            continue
        ours = found[name]["statistics"]
        texts = [str(n) for n in numbers[:4]] + [f"{numbers[4]:.1%}"]
        for i, column in enumerate(COLUMNS):
            value = ours[i] * 100 if i == 4 else ours[i]
            kind = _kind(name, "given" if i < 4 else "substitute", "data")
            why = density_reason(name)
            yield Cell("Table 3", name, column, texts[i], value, reason=why, kind=kind)


def _kind(name: str, substitute: Kind, real: Kind) -> Kind:
    """Of a cell on the substitute for the unpublished rows, or on the paper's own data."""
    return substitute if name == ENTITY else real


def method_cells(name: str, found: Found) -> Iterator[Cell]:
    """Table 4, 5 or 6; the AUC of the entities is that of the topics' entropy, as printed."""
    kind = _kind(name, "substitute", "method")
    yield from (replace(cell, kind=kind) for cell in _methods(name, found))
    text, width = str(STATISTICS[name][1]), found["statistics"][1]
    full = _kind(name, "given", "data")
    yield Cell(TABLE_OF[name], FULL, _size_column(KS[0]), text, width, kind=full)


def _methods(name: str, found: Found) -> Iterator[Cell]:
    place = TABLE_OF[name]
    for method in METHODS:
        for i, k in enumerate(KS):
            if str(k) in found["selected"]["HamDist"]:
                yield from _pair(place, name, method, i, k, found)
    yield _auc(place, FULL, KS[0], FULL_AUCS[name], _full(found), auc_reason(name, FULL))


def _pair(place: str, name: str, method: str, i: int, k: int, found: Found) -> Iterator[Cell]:
    auc, size = AUCS[name][method][i], SIZES[name][method][i]
    why, why_size = auc_reason(name, method), size_reason(name, method)
    if method == RF:
        shares, aucs = zip(*found["flipped"][str(k)])
        aucs = found["topics"][RF][str(k)] if name == ENTITY else aucs
        yield _auc(place, RF, k, auc, fmean(aucs), why)
        yield _flips(place, k, size, fmean(shares), why_size)
        if len(aucs) > 1:
            yield _spread(place, k, FLIP_SPREADS[name][i], stdev(aucs))
        return
    record = found["selected"][method][str(k)]
    ours = found["topics"][method][str(k)] if name == ENTITY else record["auc"]
    yield _auc(place, method, k, auc, ours, why)
    yield _size(place, method, k, int(size), len(record["columns"]), why_size)


def _full(found: Found) -> float:
    topics = found.get("topics")
    return float(topics[FULL] if topics else found["full"])


def private_cells(found: Mapping[str, Found]) -> Iterator[Cell]:
    """The two heights of Figure 1's bars that are given in numbers."""
    for (mechanism, name, epsilon), printed in PRIVATE_AUCS.items():
        aucs = found[name]["private_topics"][mechanism][f"{epsilon:g}"]
        yield Cell(
            "Figure 1, on substitute rows",
            f"{mechanism.capitalize()}-DP",
            f"{name}, epsilon {epsilon:g}",
            f"{printed:.2f}",
            fmean(aucs),
            tolerance=AUC_TOLERANCE,
            reason=NOISE,
            kind="substitute",
        )


def _auc(place: str, row: str, k: int, printed: float, ours: float, why: str) -> Cell:
    column = f"k = {k}: AUC"
    return Cell(place, row, column, f"{printed:.2f}", ours, tolerance=AUC_TOLERANCE, reason=why)


def _size(place: str, row: str, k: int, printed: int, ours: int, why: str) -> Cell:
    column = _size_column(k)
    return Cell(place, row, column, str(printed), ours, tolerance=SIZE_TOLERANCE, reason=why)


def _flips(place: str, k: int, printed: float, ours: float, why: str) -> Cell:
    text = f"{printed:.2%}"
    column = _size_column(k)
    return Cell(place, RF, column, text, ours * 100, tolerance=FLIP_TOLERANCE, reason=why)


def _spread(place: str, k: int, printed: float, ours: float) -> Cell:
    row, text = f"{RF}, deviation of the AUC", f"{printed:.2f}"
    column = f"k = {k}: AUC"
    return Cell(place, row, column, text, ours, tolerance=SPREAD_TOLERANCE, reason=SPREAD)


def _size_column(k: int) -> str:
    return f"k = {k}: features"
