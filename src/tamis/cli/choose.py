"""`tamis choose`: which of these candidates, given my own scores?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tamis.cli.options import command
from tamis.cli.terminal import console, escape, nearness, print_json, rich_table
from tamis.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from tamis.rank.evaluation import Evaluation

_SHOWN = 40


@command("choose")
@click.argument("scores")
def choose(
    scores: str,
    factor: tuple[str, ...],
    weights: str | None,
    name: str | None,
    plot: str | None,
    ties: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Rank candidates by your own scores and weights.

    SCORES has one candidate per row. Prints the rank of each in every factor, the weighted sum and
    the order, which candidates no other beats (the Pareto front), and how much the weights must
    change for another choice.
    """
    from tamis.rank.evaluation import evaluation
    from tamis.read import read_table

    frame = read_table(scores).frame
    found = evaluation(frame, factor, weights, ties=ties)
    names = _names(frame, name)
    if plot:
        _draw(frame, found, names, ties, plot)
    if as_json:
        print_json(_result(frame, found, names, ties))
    else:
        _show(frame, found, names, ties)


def _names(frame: pl.DataFrame, name: str | None) -> list[str]:
    if name is not None and name not in frame.columns:
        raise InputError(f"no column {name!r} to name the candidates by")
    text = [c for c in frame.columns if not frame.schema[c].is_numeric()]
    column = name or (text[0] if text else None)
    if column is None:
        return [f"row {i + 1}" for i in range(frame.height)]
    return [str(value) for value in frame[column].to_list()]


def _result(
    frame: pl.DataFrame, found: Evaluation, names: list[str], ties: str | None
) -> dict[str, Any]:
    from tamis.rank.evaluation import min_max, pareto_front, topsis
    from tamis.rank.sensitivity import sensitivity

    front = pareto_front(frame, found.factors)
    line = min_max(frame, found.factors, found.weights)
    near = topsis(frame, found.factors, found.weights)
    moves = sensitivity(found, _sizes(frame, found, ties))
    return {
        "best": names[found.best],
        "weights": found.weights,
        "order": [names[i] for i in found.order],
        "candidates": [
            {
                "name": names[i],
                "score": found.scores[i],
                "ranks": {factor: ranks[i] for factor, ranks in found.ranks.items()},
                "front": front[i],
                "min_max": line[i],
                "topsis": near[i],
            }
            for i in range(len(names))
        ],
        "sensitivity": {
            "margin": moves.margin,
            "rival": None if moves.rival is None else names[moves.rival],
            "winners": [{"name": names[i], "share": s} for i, s in moves.shares.items()],
        },
    }


def _draw(
    frame: pl.DataFrame, found: Evaluation, names: list[str], ties: str | None, plot: str
) -> None:
    from tamis.rank.sensitivity import sensitivity, weight_picture

    picture = weight_picture(found, sensitivity(found, _sizes(frame, found, ties)), names)
    picture.save(plot)


def _sizes(frame: pl.DataFrame, found: Evaluation, ties: str | None) -> Any:
    from tamis.rank.evaluation import SIZES

    column = ties or next((size for size in SIZES if size in found.factors), None)
    return None if column is None else frame[column].to_numpy()


def _show(frame: pl.DataFrame, found: Evaluation, names: list[str], ties: str | None) -> None:
    result = _result(frame, found, names, ties)
    numbers = [*found.factors, "score", "min-max", "topsis"]
    table = rich_table("", "candidate", *numbers, "front", numbers=["", *numbers])
    for place, i in enumerate(found.order[:_SHOWN]):
        c = result["candidates"][i]
        ranks = [f"{frame[factor][i]:g} ({c['ranks'][factor]})" for factor in found.factors]
        scores = [f"{c[key]:.3f}" for key in ("score", "min_max", "topsis")]
        table.add_row(
            str(place + 1), escape(c["name"]), *ranks, *scores, "yes" if c["front"] else ""
        )
    out = console()
    out.print(f"[bold]{escape(result['best'])}[/bold] has the best score.")
    out.print(table)
    if len(names) > _SHOWN:
        out.print(f"and {len(names) - _SHOWN} more; --json lists all")
    out.print("In brackets: the rank, 1 being the worst. Front: no other candidate beats it.")
    moves = result["sensitivity"]
    if moves["rival"] is None:
        out.print("The same candidate wins under all weights.")
    else:
        words = nearness(moves["margin"], escape(moves["rival"]))
        out.print(f"{words[0].upper()}{words[1:]}.")
