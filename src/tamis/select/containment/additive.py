"""Kernels: what one more 0/1 column adds to an additive model, judged on held-out rows.

The model is a score per row, whose logistic function is the probability of the true class. A column
moves the scores of the rows that have it; only those are touched.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.extending import register_jitable


@register_jitable
def loss(score: float, label: bool) -> float:
    """The negative log-likelihood of a label under a score."""
    margin = score if label else -score
    return float(np.log1p(np.exp(-margin)) if margin > 0 else np.log1p(np.exp(margin)) - margin)


@njit(cache=True)
def best_weight(
    rows: Any, score: Any, label: Any, train: Any, ridge: float, weight: float
) -> float:
    """The weight of a column by Newton's method on training rows, starting from `weight`."""
    moved = 0.0
    for _ in range(8):
        slope, bend = -ridge * (weight + moved), ridge
        for r in rows:
            if train[r]:
                chance = 1 / (1 + np.exp(-score[r] - moved))
                slope += label[r] - chance
                bend += chance * (1 - chance)
        step = min(max(slope / bend, -2.0), 2.0)
        moved += step
        if abs(step) < 1e-3:
            break
    return moved


@njit(cache=True)
def loss_saved(rows: Any, score: Any, label: Any, held: Any, moved: float) -> float:
    """How much the loss of the held-out rows falls when these rows' scores move."""
    saved = 0.0
    for r in rows:
        if held[r]:
            saved += loss(score[r], label[r]) - loss(score[r] + moved, label[r])
    return saved


@njit(cache=True)
def savings(columns: Any, score: Any, label: Any, train: Any, held: Any, ridge: float) -> Any:
    """For each column, the held-out loss that it would save at its best weight."""
    saved = np.zeros(columns.begin.size)
    for i in range(columns.begin.size):
        rows = columns.rows[columns.begin[i] : columns.end[i]]
        weight = best_weight(rows, score, label, train, ridge, 0.0)
        saved[i] = loss_saved(rows, score, label, held, weight)
    return saved


@njit(cache=True)
def sweep(
    columns: Any, chosen: Any, weight: Any, score: Any, label: Any, train: Any, ridge: float
) -> None:
    """Refit the intercept and each chosen weight once, in place."""
    everyone = np.arange(score.size)
    moved = best_weight(everyone, score, label, train, 1e-9, 0.0)
    for r in everyone:
        score[r] += moved
    for i in chosen:
        rows = columns.rows[columns.begin[i] : columns.end[i]]
        moved = best_weight(rows, score, label, train, ridge, weight[i])
        weight[i] += moved
        for r in rows:
            score[r] += moved
