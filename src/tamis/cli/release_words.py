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
        from tamis.publish.layout import NAME, read_json

        summary = read_json(out / "private" / "summary.json", most=1 << 30)
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
    """What leaves, who stands alone in it, what it is good for, what an attacker gains.

    And which limit is not kept after all: all figures are of the rows that nothing was chosen by.
    """
    from tamis.publish.summarise import judged

    chosen, card, missed = (
        outcome.decision.chosen,
        outcome.decision.scorecard,
        outcome.decision.missed,
    )
    names = chosen.release.features
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    performance, whole, guess = (
        percent(row.value("performance") or 0.0) for row in (chosen, card.baseline, card.floor)
    )
    amount = f"{len(names)} column{'' if len(names) == 1 else 's'}"
    return [
        f"Released: {amount} ({shown}) and {outcome.table.target}{_drawn(outcome)}.",
        *_alone(outcome),
        f"A model learnt from them is right for {performance} of {judged(outcome.table)} it never "
        f"saw (with everything {whole}, by guessing {guess}).",
        _attack(outcome),
        *(f"Heed: {failure.words}; it kept the limit where it was chosen." for failure in missed),
    ]


def _drawn(outcome: Outcome) -> str:
    chosen = outcome.decision.chosen
    if not chosen.release.is_drawn:
        return ""
    rows = chosen.release.table.rows
    return f"; {rows:,} rows drawn anew at epsilon = {chosen.value('epsilon'):.4g}"


def _alone(outcome: Outcome) -> list[str]:
    from tamis.publish.exposure import exposure, same_sensitive
    from tamis.publish.exposure_words import alike_words, exposure_words

    found, secret = exposure(outcome), same_sensitive(outcome)
    if found is None:
        return []
    lines = exposure_words(found, outcome.table.target)
    if secret is not None:
        lines.append(alike_words(secret, str(outcome.table.sensitive), found))
    return [line for line in lines if line]


def _attack(outcome: Outcome) -> str:
    court, chosen = outcome.court, outcome.decision.chosen
    guess, heard = outcome.decision.scorecard.floor.trial, chosen.trial.reporting
    now = heard.attacked[chosen.trial.strongest].right.mean()
    everything = heard.everything[court.strongest].right.mean()
    floor = guess.reporting.attacked[guess.strongest].right.mean()
    return (
        f"The strongest attacker ({chosen.trial.strongest}) guesses {court.sensitive} rightly for "
        f"{percent(now)} (with everything {percent(everything)}, by guessing {percent(floor)})."
    )
