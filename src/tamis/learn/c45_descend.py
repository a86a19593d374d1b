"""How rows go down a C4.5 tree: many together, level by level."""

from __future__ import annotations

import numpy as np

from tamis.learn.c45_tree import Tree

Visits = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Who is at which node, with which part of its weight."""

BLOCK = 8192  # rows at a time, for one whose values are missing may reach every leaf


def leaf_shares(tree: Tree, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The class shares of the leaves that some rows of a coded table reach.

    A missing value takes every branch by the share of training weight that went there; a branch
    that no training row took answers with its parent's shares.
    """
    total = tree.mass.sum(axis=1)
    inner = np.flatnonzero(tree.shape[:, 0] >= 0)
    parent = np.concatenate([[0], np.repeat(inner, tree.shape[inner, 2])])
    answering = np.where(total > 0, np.arange(len(tree)), parent)
    shares = np.zeros((len(rows), tree.mass.shape[1]))
    for start in range(0, len(rows), BLOCK):
        who, leaf, part = _descend(tree, total, values, rows[start : start + BLOCK])
        leaf = answering[leaf]
        np.add.at(shares, start + who, part[:, None] * tree.mass[leaf] / total[leaf, None])
    return shares


def _descend(tree: Tree, total: np.ndarray, values: np.ndarray, rows: np.ndarray) -> Visits:
    """The visits at leaves."""
    column, first, _ = tree.shape.T
    who, node, part = np.arange(len(rows)), np.zeros(len(rows), np.intp), np.ones(len(rows))
    ended: list[Visits] = []
    while True:
        leaf = column[node] < 0
        ended.append((who[leaf], node[leaf], part[leaf]))
        if leaf.all():
            return _joined(ended)
        who, node, part = who[~leaf], node[~leaf], part[~leaf]
        value, cut = values[column[node], rows[who]], tree.cut[node]
        missing = np.isnan(value)
        everywhere = _spread(tree, total, who[missing], node[missing], part[missing])
        branch = np.where(np.isnan(cut), value, value > cut)[~missing].astype(np.intp)
        one_way = who[~missing], first[node[~missing]] + branch, part[~missing]
        who, node, part = _joined([one_way, everywhere])


def _spread(
    tree: Tree, total: np.ndarray, who: np.ndarray, node: np.ndarray, part: np.ndarray
) -> Visits:
    """The visits at all children that training rows reached."""
    _, first, count = tree.shape[node].T
    nth = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    child, parent = np.repeat(first, count) + nth, np.repeat(node, count)
    parts = np.repeat(part, count) * total[child] / total[parent]
    reached = total[child] > 0
    return np.repeat(who, count)[reached], child[reached], parts[reached]


def _joined(visits: list[Visits]) -> Visits:
    who, node, part = (np.concatenate(arrays) for arrays in zip(*visits))
    return who, node, part
