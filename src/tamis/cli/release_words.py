"""The words that `tamis release` and `tamis demo` end with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.cli.show import console, percent, print_json

if TYPE_CHECKING:
    from tamis.flow import Outcome


def tell(outcome: Outcome, out: Path, as_json: bool, more: dict[str, Any] | None = None) -> None:
    """What was released, what holds, and where the report is; `more` joins the JSON."""
    if as_json:
        from tamis.publishing.manifest import NAME, read_json

        summary = read_json(out / "private" / "summary.json")
        print_json(
            {
                "out": str(out),
                "report": str(out / "private" / "report.html"),
                "release": outcome.decision.chosen.release.name,
                "features": list(outcome.decision.chosen.release.features),
                "manifest": read_json(out / NAME),
                "candidates": summary["candidates"],
                "methods": summary["methods"],
                **(more or {}),
            }
        )
        return
    say = console()
    for line in words(outcome):
        say.print(line, markup=False)
    say.print(f"\nHand on: {out}/ without private/", markup=False)
    say.print(f"Your report: {out / 'private' / 'report.html'}", markup=False)


def words(outcome: Outcome) -> list[str]:
    """Three lines: what leaves, what it is good for, what an attacker gains."""
    chosen, card = outcome.decision.chosen, outcome.decision.scorecard
    names = chosen.release.features
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    performance, whole, guess = (
        percent(row.value("performance") or 0.0) for row in (chosen, card.baseline, card.floor)
    )
    return [
        f"Released: {len(names)} columns ({shown}) and {outcome.table.target}; {_hiding(outcome)}.",
        f"A model learnt from them is right for {performance} of people it never saw "
        f"(with everything {whole}, by guessing {guess}).",
        _attack(outcome),
    ]


def _hiding(outcome: Outcome) -> str:
    chosen = outcome.decision.chosen
    if chosen.release.is_drawn:
        rows = chosen.release.table.rows
        return f"{rows:,} rows drawn anew at epsilon = {chosen.value('epsilon'):.4g}"
    for promise in chosen.release.promises:
        if promise.name == "containment_anonymity":
            return f"all that anybody has is had by {chosen.trial.containment:,} people or more"
        if promise.columns:
            from tamis.publishing.promises import others

            equals = chosen.trial.k_anonymity or 0
            return f"everybody shares the knowable ones with {others(equals)}"
    return "none of them is one that attackers were said to know"


def _attack(outcome: Outcome) -> str:
    court, chosen = outcome.court, outcome.decision.chosen
    from tamis.evaluate.trial import strongest

    now = chosen.trial.attacked[chosen.trial.strongest].right.mean()
    everything = court.everything[strongest(court.everything)].right.mean()
    guess = outcome.decision.scorecard.floor.trial
    floor = guess.attacked[guess.strongest].right.mean()
    return (
        f"The strongest attacker ({chosen.trial.strongest}) guesses {court.sensitive} rightly for "
        f"{percent(now)} (with everything {percent(everything)}, by guessing {percent(floor)})."
    )
