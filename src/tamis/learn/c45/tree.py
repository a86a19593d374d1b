"""A C4.5 tree as plain records that print as text, and how rows move down it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tamis.learn.c45.table import ColumnSchema


@dataclass(frozen=True)
class Node:
    """One node: how it is reached, the rows it has, where they go next."""

    test: str
    """The condition of the branch that leads here; empty at the root."""
    feature: str | None
    """The column this node splits on; `None` at a leaf."""
    threshold: float | None
    """Rows up to this number go to the first child; `None` at a leaf or a nominal split."""
    label: Any
    """The most frequent class; the parent's if no row reached the node."""
    weights: tuple[float, ...]
    """Weight of the training rows of each class."""
    children: tuple[Node, ...] = ()

    def __str__(self) -> str:
        lines: list[str] = []
        waiting = [(self, 0)]
        while waiting:
            node, depth = waiting.pop()
            end = "" if node.children else f": {node.label} {_count(node)}"
            if node.test or end:
                lines.append("|   " * (depth - 1) + node.test + end)
            waiting += [(child, depth + 1) for child in reversed(node.children)]
        return "\n".join(lines)


def _count(node: Node) -> str:
    """The rows at a leaf, and how many of them have another class."""
    total = sum(node.weights)
    wrong = total - max(node.weights)
    return f"({total:.6g}/{wrong:.6g})" if wrong > 0.005 else f"({total:.6g})"


@dataclass(frozen=True, eq=False)
class Tree:
    """A fitted tree: one entry per node in every array, root first, siblings adjacent."""

    schema: ColumnSchema
    classes: tuple[Any, ...]
    shape: np.ndarray
    """Column split on (-1 at a leaf), first child, number of children."""
    cut: np.ndarray
    """Threshold of a split on a number, else NaN."""
    mass: np.ndarray
    """Weight of the training rows of each class."""

    def __len__(self) -> int:
        return len(self.shape)

    @property
    def leaves(self) -> int:
        """How many nodes are leaves."""
        return int((self.shape[:, 0] < 0).sum())

    @property
    def root(self) -> Node:
        """The tree as nested records."""
        labels, tests = self._labels(), self._tests()
        nodes: list[Node | None] = [None] * len(self)
        for i in reversed(range(len(self))):  # children come after their parent
            column, first, count = (int(v) for v in self.shape[i])
            inner = column >= 0
            nodes[i] = Node(
                tests[i],
                self.schema.names[column] if inner else None,
                float(self.cut[i]) if inner and self.schema.levels[column] is None else None,
                self.classes[labels[i]],
                tuple(self.mass[i].tolist()),
                tuple(n for n in nodes[first : first + count] if n) if inner else (),
            )
        root = nodes[0]
        assert root is not None
        return root

    def __str__(self) -> str:
        return str(self.root)

    def _labels(self) -> list[int]:
        labels: list[int] = self.mass.argmax(axis=1).tolist()
        empty = self.mass.sum(axis=1) <= 0
        for parent, (column, first, count) in enumerate(self.shape.tolist()):
            if column >= 0:
                for child in range(first, first + count):
                    labels[child] = labels[parent] if empty[child] else labels[child]
        return labels

    def _tests(self) -> list[str]:
        tests = [""] * len(self)
        for i, (column, first, count) in enumerate(self.shape.tolist()):
            if column < 0:
                continue
            name, levels = self.schema.names[column], self.schema.levels[column]
            for b in range(count):
                tests[first + b] = (
                    f"{name} {'<=' if b == 0 else '>'} {self.cut[i]:.10g}"
                    if levels is None
                    else f"{name} = {levels[b]}"
                )
        return tests


Visits = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Which row is at which node, with what part of its weight."""

BLOCK = 8192  # rows at a time, since a row with missing values may reach every leaf


def leaf_shares(tree: Tree, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The class shares of the leaves that some rows of a coded table reach.

    A missing value takes every branch in proportion to the training weight that went there; one
    that no training row took gives its parent's shares.
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
