"""The outcome of `tamis release` in words, on the terminal and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.catalogue.measures import VALUE
from tamis.cli.terminal import console, decimals, escape, print_json
from tamis.errors import plural
from tamis.figures import percent

if TYPE_CHECKING:
    from tamis.analyse import Analysis
    from tamis.decide import Decision
    from tamis.evaluate.scorecard import Row
    from tamis.outcome import Outcome
    from tamis.release_counts import ExposureFacts

HALF_A_STEP = 0.0005
"""Half of the last digit shown, a tenth of a percent: smaller differences do not count."""
WIDE = 0.3
"""Intervals of `kept` at least this wide are printed, as the figure alone would mislead."""
AS_GOOD = 3
"""The most releases named as being as good."""
MANY_UNIQUE = 0.5
"""If more than this share of people is unique, that is said first."""


def print_outcome(
    outcome: Outcome,
    analysis: Analysis,
    out: Path,
    as_json: bool,
    more: dict[str, Any] | None = None,
) -> None:
    """Print what was released and promised, and where the report is; `more` goes to the JSON."""
    if as_json:
        from tamis.analyse.records import as_plain
        from tamis.publication.recipe import recipe_forms
        from tamis.verification.layout import NAME, read_json

        print_json(
            {
                "out": str(out),
                "report": str(out / "private" / "report.html"),
                "release": outcome.release.name,
                "features": list(outcome.release.features),
                "forms": recipe_forms(outcome.release),
                "manifest": read_json(out / NAME),
                "candidates": as_plain(analysis.candidates),
                "methods": as_plain(analysis.methods),
                "views": [] if analysis.bits is None else as_plain(analysis.bits.views),
                **_certainty(outcome.decision),
                "unlabelled": outcome.table.unlabelled,
                **_population(outcome),
                **({"rule_measures": totals} if (totals := rule_totals(outcome)) else {}),
                **(more or {}),
            }
        )
        return
    say = console()
    for line in words(outcome, analysis):
        say.print(line, markup=False)
    if outcome.population_risk is not None:
        say.print(
            f"Matched with the whole population, {percent(outcome.population_risk.risk)} of the "
            "people are expected to be found.",
            markup=False,
        )
    print_places(out)


def _certainty(decision: Decision) -> dict[str, Any]:
    """The figures of `choice_words`: how often redraws choose the same release, and equals."""
    if decision.by != VALUE.name:
        return {}
    shares = decision.redrawn
    return {
        "chosen_again": shares[decision.chosen.release.name],
        "as_good": {row.release.name: shares[row.release.name] for row in decision.as_good},
    }


def print_places(out: Path) -> None:
    """What to share of a published folder, and where the holder's report is."""
    say = console()
    say.print(f"\nShare: {out}/ without private/", markup=False)
    say.print(f"Your report: {out / 'private' / 'report.html'}", markup=False)


def _population(outcome: Outcome) -> dict[str, Any]:
    """The risk in the population, in words, where a population is known."""
    if outcome.population is None:
        return {}
    found = outcome.population_risk
    return {"population": None if found is None else found.to_dict()}


def print_front(outcome: Outcome) -> None:
    """The releases that no other beats in both kept and told, as a table."""
    from rich.table import Table as Lines

    from tamis.propose.problem import differences

    lines = Lines("keeps", "tells", "name", "what differs", title="What could be released")
    front = outcome.decision.front
    apart = differences([row.release for row in front])
    for row in front:
        mark = " (the choice)" if row is outcome.decision.chosen else ""
        told = row.value("told")
        lines.add_row(
            percent(row.value("kept") or 0.0),
            "" if told is None else percent(told) if told > 0 else "none found",
            escape(row.release.name + mark),
            escape(apart[row.release.name]),
        )
    say = console()
    say.print(lines)
    if _is_any_beaten(front):
        say.print(
            "The list comes from the rows used to choose, the figures from rows never used before, "
            "so that they flatter none: a release that is behind another here is about as good."
        )
    say.print(
        "Nothing was published; take one by its name with --choose-release NAME, or choose with "
        "--caution, --min-kept or --max-told."
    )


def _is_any_beaten(front: Sequence[Row]) -> bool:
    """Whether another dominates some release: as good in kept and told, and better in one."""
    shown = [(row.value("kept") or 0.0, -(row.value("told") or 0.0)) for row in front]
    points = [tuple(round(figure, 3) for figure in each) for each in shown]
    return any(a != b and a[0] <= b[0] and a[1] <= b[1] for a in points for b in points)


def words(outcome: Outcome, analysis: Analysis) -> list[str]:
    """What is released, what it keeps and tells, who is unique in it, what an attacker gains.

    And which limit is missed after all: all figures come from rows that were not used to choose.
    """
    from tamis.analyse.examination import judged
    from tamis.propose.problem import named_with_forms

    chosen, card = outcome.decision.chosen, outcome.decision.scorecard
    names = named_with_forms(chosen.release)
    right = [row.value("performance") or 0.0 for row in (chosen, card.baseline, card.floor)]
    kept, told = chosen.value("kept") or 0.0, chosen.value("told")
    return [
        f"Released: {plural(len(names), 'column')} ({some_names(names, 5)}) and "
        f"{outcome.table.target}{_drawn_words(outcome)}.",
        *_unique(analysis),
        *_left_out(outcome, analysis),
        *kept_told_words(outcome, analysis),
        *choice_words(outcome.decision),
        *_alone(outcome, analysis),
        *_diverse(outcome),
        model_words(right[0], right[1], right[2], kept, judged(outcome.table)),
        # What nobody is shown to learn is not told: the lines must say one thing.
        *_attack(outcome, analysis, told if analysis.bits is None or analysis.bits.found else 0.0),
        *rule_lines(outcome),
        *_not_tried(outcome),
        *(
            f"Warning: {failure.words}; it met the limit when chosen."
            for failure in outcome.decision.missed
        ),
    ]


def rule_totals(outcome: Outcome) -> dict[str, float | None]:
    """The requested measures of the rules for the chosen release."""
    asked = outcome.settings
    names = dict.fromkeys([*(m.name for m in asked.rule_measures), *asked.rule_limits])
    return {name: outcome.decision.chosen.value(name) for name in names}


def rule_lines(outcome: Outcome) -> list[str]:
    """The same in words."""
    limits = outcome.settings.rule_limits
    return [
        f"Of the rules, {name} is {decimals(total)}"
        + (f" (limit {limits[name]:g})." if name in limits else ".")
        for name, total in rule_totals(outcome).items()
    ]


def _not_tried(outcome: Outcome) -> list[str]:
    """Why a method that was asked for proposed nothing."""
    reports = outcome.proposals.method_reports
    return [f"Nothing from {r.name}: {r.note.rstrip('.')}." for r in reports if not r.applied]


def some_names(names: Sequence[str], most: int = 30) -> str:
    """The first of some names, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def kept_told_words(outcome: Outcome, analysis: Analysis) -> list[str]:
    """What the release keeps of the target and tells of the sensitive column."""
    from tamis.analyse.kept_told import told_words

    chosen, table, bits = outcome.decision.chosen, outcome.table, analysis.bits
    kept, told = chosen.value("kept") or 0.0, chosen.value("told")
    ends = None if bits is None else bits.kept.interval
    between = ""
    if ends is not None and ends.high - ends.low > WIDE:
        between = f" ({percent(ends.low, 0)} to {percent(ends.high, 0)})"
    found = [f"Keeps {percent(kept, 0)}{between} of what can be learnt about {table.target}."]
    if told is None or bits is None:
        return found
    found += told_words(bits, str(table.target), str(table.secret_words))
    if bits.found and round(told, 2) > round(kept, 2):
        found.append(
            f"That is more than it keeps: what teaches {table.target} here tells "
            f"{table.secret_words}, too. Ask for less with --max-told, or a larger --caution."
        )
    return found


def choice_words(decision: Decision) -> list[str]:
    """How often other samples of people lead to the same choice, and equally good releases."""
    if decision.by != VALUE.name:
        return []
    shares, rivals = decision.redrawn, decision.as_good
    found = (
        "With other people drawn to choose by, the same release would be chosen in "
        f"{percent(shares[decision.chosen.release.name], 0)} of cases."
    )
    if not rivals:
        return [f"{found} No other is as good."]
    some = [f"{r.release.name!r} ({percent(shares[r.release.name], 0)})" for r in rivals]
    return [
        f"{found} Not shown to be worth more or less: {some_names(some, AS_GOOD)}; take one with "
        "--choose-release NAME."
    ]


def model_words(right: float, whole: float, guess: float, kept: float, judged: str) -> str:
    """The accuracy of a model, and why it need not be above that of guessing.

    >>> model_words(0.932, 0.94, 0.938, 0.8, "people")
    'A model trained on them is right for 93.2% of people it never saw, no more than by always \
guessing the commonest label (93.8%; with everything 94.0%): what is kept shows in how sure it is, \
not in which label it names.'
    >>> model_words(0.81, 0.84, 0.6, 0.9, "people")
    'A model trained on them is right for 81.0% of people it never saw (with everything 84.0%, by \
guessing 60.0%).'
    >>> model_words(0.7, 0.84, 0.6, 1.0, "people")
    'A model trained on them is right for 70.0% of people it never saw (with everything 84.0%, by \
guessing 60.0%). The share kept counts how sure a model may be, not how often it is right.'
    """
    first = f"A model trained on them is right for {percent(right)} of {judged} it never saw"
    if kept > 0 and right <= guess + HALF_A_STEP:
        return (
            f"{first}, no more than by always guessing the commonest label ({percent(guess)}; with "
            f"everything {percent(whole)}): what is kept shows in how sure it is, not in which "
            "label it names."
        )
    found = f"{first} (with everything {percent(whole)}, by guessing {percent(guess)})."
    gains_for_nothing = kept <= 0 and right > guess + HALF_A_STEP
    loses_at_full_share = round(kept, 2) >= 1 and right < whole - HALF_A_STEP
    if gains_for_nothing or loses_at_full_share:
        found += " The share kept counts how sure a model may be, not how often it is right."
    return found


def _drawn_words(outcome: Outcome) -> str:
    chosen = outcome.decision.chosen
    if not chosen.release.is_drawn:
        return ""
    rows = chosen.release.table.rows
    return f"; {rows:,} synthetic rows at epsilon = {chosen.value('epsilon'):.4g}"


def _left_out(outcome: Outcome, analysis: Analysis) -> list[str]:
    from tamis.analyse.lost_words import lost_group_lines

    found = analysis.left_out
    if found is None:
        return []
    warnings = [f"Warning: {words}" for words in found.warnings or ()]
    return [found.words, *lost_group_lines(found.groups or (), outcome.release), *warnings]


def _alone(outcome: Outcome, analysis: Analysis) -> list[str]:
    from tamis.verification.claims import alike_words, everything_words, exposure_words

    found, secret = analysis.exposure, analysis.same_sensitive
    if found is None:
        return []
    lines = exposure_words(found, outcome.table.target)
    if _is_mostly_unique(found):  # said at the top
        lines = [line for line in lines if line != everything_words(found)]
    if secret is not None:
        lines.append(alike_words(secret, str(outcome.table.sensitive), found))
    return [line for line in lines if line]


def _diverse(outcome: Outcome) -> list[str]:
    """The figures of requirements other than k, in words; they may be about a secret."""
    from tamis.require.base import Requirements
    from tamis.risk.attackers import in_release
    from tamis.stated import measured_words

    chosen, unit = outcome.decision.chosen, outcome.table.unit
    if chosen.release.is_drawn:
        return []
    asked = outcome.evaluator.requirements
    reached = [
        *chosen.assessment.reach_each(asked.of_risks),
        *chosen.assessment.reach_each(asked.about_secrets),
    ]
    shown = in_release(Requirements(tuple(each for each, _ in reached)), chosen.release)
    entries = [
        {**each.to_dict(unit), "measured": figure} for each, (_, figure) in zip(shown, reached)
    ]
    return [f"{entry['claim']} Measured: {measured_words(entry)}." for entry in entries]


def _unique(analysis: Analysis) -> list[str]:
    """The count of people who are like nobody else, before anything that sounds safe."""
    from tamis.verification.claims import everything_words

    found = analysis.exposure
    if found is None or not _is_mostly_unique(found):
        return []
    return [f"Warning: {everything_words(found)}"]


def _is_mostly_unique(found: ExposureFacts) -> bool:
    unique = found["everything"]["unique"]
    return unique is not None and unique > MANY_UNIQUE * found["total"]


def _attack(outcome: Outcome, analysis: Analysis, told: float | None) -> list[str]:
    from tamis.publication.report_parts import strongest

    found, target = strongest(analysis.attackers), outcome.table.target
    if found is None or found.everything is None:
        return []
    secret = outcome.evaluator.sensitive
    words = (
        f"The strongest attacker ({found.name}) guesses {secret} correctly for "
        f"{percent(found.released)} (with everything {percent(found.everything)}, by guessing "
        f"{percent(found.guessing)})."
    )
    beyond = None if secret == target else told
    return [words + attack_reason(found.released, found.guessing, beyond, str(target))]


def attack_reason(right: float, guess: float, told: float | None, target: str) -> str:
    """Why an attacker's gain and what is told may differ: one can be zero without the other.

    >>> attack_reason(0.4, 0.3, 0.0, "ill")
    ' What is told counts how sure they may be beyond what ill tells: by that, nothing.'
    >>> attack_reason(0.3, 0.3, 0.2, "ill")
    ' What is told shows in how sure they are, not in what they name.'
    >>> attack_reason(0.4, 0.3, 0.2, "ill"), attack_reason(0.4, 0.3, None, "ill")  # no secret
    ('', '')
    """
    gains = right > guess + HALF_A_STEP
    if told and not gains:
        return " What is told shows in how sure they are, not in what they name."
    if told is not None and told <= 0 and gains:
        return (
            f" What is told counts how sure they may be beyond what {target} tells: by that, "
            "nothing."
        )
    return ""
