"""How many printed cells agree: the table for the documentation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from experiments.cell import KINDS, VERDICTS, Cell
from experiments.paper import Paper

Line = tuple[str, str, int, int, int, int, str]
"""Paper, place, printed cells, equal, within tolerance, differ, and why."""


def lines(papers: Iterable[Paper]) -> list[Line]:
    """One line for each table or figure of each paper, in the order of their first mention."""
    found = []
    for paper in papers:
        for place in dict.fromkeys(cell.place for cell in paper.cells):
            cells = [cell for cell in paper.cells if cell.place == place]
            count = Counter(cell.verdict for cell in cells)
            numbers = (count["equal"], count["within"], count["differs"])
            found.append((paper.name, place, len(cells), *numbers, _reasons(cells)))
    return found


def markdown(papers: Iterable[Paper]) -> str:
    """The lines and their sum as a Markdown table."""
    papers = list(papers)
    head = ("paper", "place", "printed cells", "to the digit", "within tolerance", "differ", "why")
    rows = [[str(part) for part in line] for line in lines(papers)]
    total = Counter(cell.verdict for paper in papers for cell in paper.cells)
    sums = [str(total.total()), *(str(total[v]) for v in VERDICTS)]
    rows.append(["all", "", *sums, ""])
    parts = [head, ["---"] * 2 + ["---:"] * 4 + ["---"], *rows]
    return _table(by_kind(papers)) + "\n" + _table(parts)


def by_kind(papers: Iterable[Paper]) -> list[Sequence[str]]:
    """How many cells of each kind agree: what is no agreement of a method counts apart."""
    cells = [cell for paper in papers for cell in paper.cells]
    rows: list[Sequence[str]] = [
        ("what a cell is", "printed cells", "to the digit", "within tolerance", "differ"),
        ("---", *["---:"] * 4),
    ]
    for kind, words in KINDS.items():
        count = Counter(cell.verdict for cell in cells if cell.kind == kind)
        rows.append((words, str(count.total()), *(str(count[v]) for v in VERDICTS)))
    return rows


def _table(rows: Iterable[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(_inline(cell) for cell in row)} |\n" for row in rows)


def _reasons(cells: Iterable[Cell]) -> str:
    """Each reason once, the most frequent first, with the number of cells that differ for it."""
    count = Counter(cell.why for cell in cells if cell.verdict == "differs")
    return "; ".join(f"{why} ({times})" for why, times in count.most_common())


def _inline(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
