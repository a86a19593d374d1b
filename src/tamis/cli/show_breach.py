"""A breach selection in words and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.markup import escape

from tamis.cli.show import console, nearness, percent, rich_table

if TYPE_CHECKING:
    from tamis.rank.sensitivity import Steadiness
    from tamis.select.breach import BreachSelector
    from tamis.select.breach.candidate import Candidate
    from tamis.select.breach.held_out import HeldOut
    from tamis.table import Table

_SHOWN = 25
_NAMES = 7


def print_breach(
    table: Table, fitted: BreachSelector, held: HeldOut | None, steady: Sequence[Steadiness]
) -> None:
    """Print the choice, what it is worth, every candidate and how sure the choice is."""
    out = console()
    best, baseline = fitted.best_, fitted.baseline_
    out.print(
        f"[bold]{best.size} of {baseline.size} columns may leave[/bold]: "
        f"{escape(', '.join(best.features))}"
    )
    out.print(
        f"They predict {escape(table.target)} with {percent(best.performance)} against "
        f"{percent(baseline.performance)} from all columns (p {best.p_value:.3g}); "
        f"{escape(str(table.sensitive))} is guessed {_change(best.pbi)} (PBI, 95 % interval "
        f"{_signed(best.pbi_interval[0])} to {_signed(best.pbi_interval[1])})."
    )
    out.print(f"One who knows the distribution of it only has PBI {_signed(fitted.floor_)}.")
    if held is not None:
        out.print(
            f"On {held.rows:,} rows that the search never saw: {percent(held.performance)} against "
            f"{percent(held.baseline_performance)}, PBI {_signed(held.pbi)}."
        )
    if fitted.cut_ is not None and fitted.cut_.points:
        out.print(f"{escape(str(table.sensitive))} was {fitted.cut_.rule}.")
    _show_candidates(fitted)
    out.print(f"teaches most first: {escape(', '.join(fitted.performance_ranking_))}")
    out.print(f"tells least first:  {escape(', '.join(fitted.privacy_ranking_))}")
    _show_sensitivity(fitted)
    _show_steadiness(steady)


def _show_candidates(fitted: BreachSelector) -> None:
    names = ("", "columns", "n", "performance", "p", "PBI", "region", "score")
    table = rich_table(*names, numbers=("n", "performance", "p", "PBI", "score"))
    for candidate in fitted.order_[:_SHOWN]:
        mark = "*" if candidate is fitted.best_ else "" if candidate.allowed else "-"
        table.add_row(
            mark,
            escape(_columns(candidate, fitted.baseline_)),
            str(candidate.size),
            f"{100 * candidate.performance:.2f} %",
            f"{candidate.p_value:.3f}",
            _signed(candidate.pbi, 2),
            candidate.region or "all",
            f"{candidate.score:.3f}",
        )
    console().print(table)
    shares = fitted.evaluation_.weights.items()
    weights = ", ".join(f"{name} {share:.3g}" for name, share in shares)
    told = f"* chosen; {fitted.search_} search; score = ranks weighted by {weights}"
    if not all(candidate.allowed for candidate in fitted.order_):
        told += f"; - above the threshold of {_signed(fitted.alpha_ or 0.0)}"
    console().print(told)
    if len(fitted.order_) > _SHOWN:
        console().print(f"and {len(fitted.order_) - _SHOWN} more; --json lists all")


def _columns(candidate: Candidate, baseline: Candidate) -> str:
    if candidate.region is None:
        return "all columns"
    if baseline.size - candidate.size <= 2 and candidate.size > _NAMES:
        gone = [n for n in baseline.features if n not in candidate.features]
        return f"all but {', '.join(gone)}"
    more = f" and {candidate.size - _NAMES} more" if candidate.size > _NAMES else ""
    return ", ".join(candidate.features[:_NAMES]) + more


def _show_sensitivity(fitted: BreachSelector) -> None:
    from tamis.select.breach.summary import weight_sensitivity

    found = weight_sensitivity(fitted)
    share = percent(found.shares.get(found.winner, 0.0))
    words = f"Of all possible weights, {share} lead to this choice"
    if found.rival is not None:
        rival = escape(_columns(fitted.candidates_[found.rival], fitted.baseline_))
        words += f"; {nearness(found.margin, rival)}"
    console().print(f"{words}.")


def _show_steadiness(steady: Sequence[Steadiness]) -> None:
    if not steady:
        return
    table = rich_table("over seeds", "found", "chosen", numbers=("found", "chosen"))
    for entry in steady[:_NAMES]:
        table.add_row(escape(", ".join(entry.features)), percent(entry.found), percent(entry.won))
    console().print(table)


def _change(pbi: float) -> str:
    words = "more" if pbi > 0 else "less"
    return f"{percent(abs(pbi))} {words} often than from all columns"


def _signed(share: float, digits: int = 1) -> str:
    """A change for people.

    >>> _signed(-0.0314), _signed(0.0)
    ('-3.1 %', '+0.0 %')
    """
    return f"{100 * share:+.{digits}f} %"
