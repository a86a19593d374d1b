"""What an experiment hands over: sections of cells, tables and figures, ready for a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from experiments.cell import Cell, Verdict


@dataclass(frozen=True)
class Grid:
    """A table of our own, beyond what the paper prints."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str | int | float | None]]
    note: str = ""


@dataclass(frozen=True)
class Figure:
    """An SVG drawing by `tamis.charts`, and what to see in it."""

    title: str
    svg: str
    note: str = ""


@dataclass(frozen=True)
class Section:
    """A part of a page: a few sentences of ours, then tables and figures."""

    title: str
    text: str = ""
    cells: Sequence[Cell] = ()
    figures: Sequence[Figure] = ()
    grids: Sequence[Grid] = ()


@dataclass(frozen=True)
class Paper:
    """Everything reproduced from one paper.

    Attributes
    ----------
    name : str
        As on the command line.
    title : str
        Authors, year and title.
    lead : str
        The main finding, in a sentence or two.
    sections : sequence of Section
    """

    name: str
    title: str
    lead: str
    sections: Sequence[Section]

    @property
    def cells(self) -> list[Cell]:
        return [cell for section in self.sections for cell in section.cells]

    def counts(self) -> Counter[Verdict]:
        return Counter(cell.verdict for cell in self.cells)

    def to_dict(self) -> dict[str, Any]:
        """Without the drawings: the numbers behind them are in the pieces."""
        sections = [
            {
                "title": section.title,
                "text": section.text,
                "cells": [cell.to_dict() for cell in section.cells],
                "grids": [asdict(grid) for grid in section.grids],
                "figures": [figure.title for figure in section.figures],
            }
            for section in self.sections
        ]
        return {"name": self.name, "title": self.title, "lead": self.lead, "sections": sections}
