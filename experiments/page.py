"""Pages and results on disk: dicts to a template, no arithmetic in the template."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from experiments.cell import VERDICTS, Cell
from experiments.paper import Figure, Grid, Paper, Section
from experiments.summary import lines
from tamis.files import written

_LABELS = {"equal": "to the digit", "within": "within tolerance", "differs": "differs"}


def write_all(papers: Sequence[Paper], folder: Path, quick: bool) -> None:
    """A page for each paper, an index, and `results.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    for paper in papers:
        _write(folder / f"{paper.name}.html", page(paper, quick))
    _write(folder / "index.html", index(papers, quick))
    record = {"quick": quick, "papers": [paper.to_dict() for paper in papers]}
    _write(folder / "results.json", json.dumps(record, indent=1, allow_nan=False) + "\n")


def page(paper: Paper, quick: bool = False) -> str:
    """One paper as a self-contained page."""
    return _template("paper.html").render(
        paper=paper,
        quick=quick,
        counts=_counts(paper),
        sections=[_section(section) for section in paper.sections],
    )


def index(papers: Sequence[Paper], quick: bool = False) -> str:
    """The papers, and how much agrees."""
    return _template("index.html").render(
        quick=quick,
        papers=[{"paper": paper, "counts": _counts(paper)} for paper in papers],
        lines=[dict(zip(("paper", "place", "cells", *VERDICTS, "why"), x)) for x in lines(papers)],
    )


def _section(section: Section) -> dict[str, Any]:
    places = dict.fromkeys(cell.place for cell in section.cells)
    return {
        "title": section.title,
        "text": section.text,
        "tables": [_table(p, [c for c in section.cells if c.place == p]) for p in places],
        "figures": [_figure(figure) for figure in section.figures],
        "grids": [_grid(grid) for grid in section.grids],
    }


def _table(place: str, cells: Sequence[Cell]) -> dict[str, Any]:
    """Cells laid out as the paper does; each reason is a numbered note below."""
    columns = list(dict.fromkeys(cell.column for cell in cells))
    reasons = list(dict.fromkeys(cell.why for cell in cells if cell.why))
    at = {(cell.row, cell.column): cell for cell in cells}
    rows = [
        {"name": row, "cells": [_shown(at.get((row, column)), reasons) for column in columns]}
        for row in dict.fromkeys(cell.row for cell in cells)
    ]
    words = {cell.column for cell in cells if isinstance(cell.ours, str)}
    heads = [{"name": column, "words": column in words} for column in columns]
    # A figure has a drawing of its own below; of it the text names some values.
    title = f"{place}, as far as the text names it" if place.startswith("Figure") else place
    return {
        "title": title,
        "heads": heads,
        "rows": rows,
        "reasons": reasons,
        "tolerances": _tolerances(cells),
    }


def _tolerances(cells: Sequence[Cell]) -> str:
    """What counts as within tolerance, by column; nothing where only digits count."""
    found: dict[str, set[float]] = {}
    for cell in cells:
        if cell.tolerance:
            found.setdefault(cell.column, set()).add(cell.tolerance)
    words = {
        column: " to ".join(f"{value:g}" for value in sorted({min(values), max(values)}))
        for column, values in found.items()
    }
    return "; ".join(f"{column} {text}".strip() for column, text in words.items())


def _shown(cell: Cell | None, reasons: Sequence[str]) -> dict[str, Any] | None:
    if cell is None:
        return None
    return {
        "printed": cell.printed,
        "ours": cell.shown,
        "verdict": cell.verdict,
        "words": isinstance(cell.ours, str),
        "label": _LABELS[cell.verdict],
        "note": reasons.index(cell.why) + 1 if cell.why else None,
    }


def _figure(figure: Figure) -> dict[str, Any]:
    # The drawing comes from tamis.charts, which escapes every text it is given.
    return {"title": figure.title, "svg": Markup(figure.svg), "note": figure.note}


def _grid(grid: Grid) -> dict[str, Any]:
    rows = [[{"text": _text(v), "number": _is_number(v)} for v in row] for row in grid.rows]
    return {"title": grid.title, "head": grid.head, "rows": rows, "note": grid.note}


def _text(value: str | int | float | None) -> str:
    if value is None:
        return "none"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _counts(paper: Paper) -> list[dict[str, Any]]:
    count = paper.counts()
    return [{"verdict": v, "label": _LABELS[v], "number": count[v]} for v in VERDICTS]


def _template(name: str) -> Template:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def _write(path: Path, text: str) -> None:
    with written(path) as draft:
        draft.write_text(text, encoding="utf-8")
