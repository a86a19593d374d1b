"""`tamis select breach`: parse, search, measure on held-out rows, print."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.cli.options import check_table_file, command
from tamis.cli.table_source import TableSource
from tamis.cli.terminal import (
    console,
    escape,
    nearness,
    print_json,
    print_understood,
    rich_table,
    show_progress,
)
from tamis.errors import InputError, plural
from tamis.figures import change, percent

if TYPE_CHECKING:
    from tamis.rank.sensitivity import Stability
    from tamis.select.breach import BreachSelector
    from tamis.select.breach.candidate import Candidate
    from tamis.select.breach.summary import HeldOutResult
    from tamis.table import Table


_SHOWN = 25
_NAMES = 7
HOLDOUT = 0.25


@command("select breach")
def breach(source: TableSource, **options: Any) -> None:
    """Choose columns that predict the target, not the secret.

    Of TABLE, those that predict the target as well as all columns do, and make the sensitive
    column harder to guess.
    """
    run_breach(source, **options)


def run_breach(
    source: TableSource,
    *,
    holdout: float | None,
    stability: int,
    output: str | None,
    plot: str | None,
    plot_weights: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Search for columns that predict the target without revealing the sensitive column."""
    check_table_file(output)
    _check_weightings(plot, plot_weights)
    if source.sparse:
        raise InputError("choosing by breach needs a table of columns; sparse records have none")
    table = source.read_with_roles()
    if not (quiet or as_json):
        print_understood(table)
    with show_progress(not (quiet or as_json)) as progress:
        selector = _selector(options, progress)
        if holdout is None:
            holdout = 0.0 if options["preset"] else HOLDOUT
        fitted, held = _fitted(selector, table, holdout, options["seed"] or 0)
        stabilities = _stabilities(selector, table, stability, fitted.random_state_)
    if output:
        _write(table, fitted.best_, Path(output))
    if plot:
        fitted.plot(str(table.sensitive), plot_weights).save(Path(plot))
    if as_json:
        _print_json(table, options, fitted, held, stabilities)
    else:
        print_breach(table, fitted, held, stabilities)


def _check_weightings(plot: str | None, weightings: Sequence[str]) -> None:
    from tamis.rank.evaluation import WEIGHTS, read_weights

    if weightings and not plot:
        raise InputError("--plot-weights are drawn; name the picture with --plot FILE.svg")
    for weights in weightings:
        read_weights(weights, WEIGHTS)


def _selector(options: dict[str, Any], progress: Any) -> BreachSelector:
    from tamis.learn.models import classifier
    from tamis.select.breach import REPEATS, BreachSelector

    return BreachSelector(
        classifier(options["classifier"]),
        weights=options["weights"],
        alpha=_alpha(options["alpha"]),
        alpha_in_search=options["alpha_in_search"],
        cv=options["folds"],
        repeats=options["repeats"] or (None if options["preset"] else REPEATS),
        search=options["search"] or "auto",
        preset=options["preset"],
        attackers=list(options["attackers"]) or None,
        scoring=options["scoring"],
        attack_scoring=options["attack_scoring"],
        cut=_cut(options["cut"]),
        n_jobs=options["jobs"],
        random_state=options["seed"],
        progress=progress,
    )


def _alpha(alpha: str | None) -> Any:
    if alpha is None or alpha == "distp":
        return alpha
    try:
        return float(alpha)
    except ValueError:
        raise InputError(f"--alpha takes a number or distp, got {alpha!r}") from None


def _cut(cut: str) -> Any:
    if cut in ("auto", "mdl", "quantiles", "none"):
        return cut
    try:
        return [float(point) for point in cut.split(",")]
    except ValueError:
        raise InputError(
            f"--cut takes auto, mdl, quantiles, none or numbers, got {cut!r}"
        ) from None


def _fitted(
    selector: BreachSelector, table: Table, holdout: float, seed: int
) -> tuple[BreachSelector, HeldOutResult | None]:
    from tamis.select.breach.summary import fit_held_out, parts

    if holdout:
        return fit_held_out(selector, table, holdout, seed)
    features, target, hidden = parts(table)
    return selector.fit(features, target.to_numpy(), hidden, table.people.groups), None


def _stabilities(
    selector: BreachSelector, table: Table, seeds: int, first: int
) -> Sequence[Stability]:
    if not seeds:
        return ()
    from tamis.select.breach.summary import breach_stability, parts

    features, target, hidden = parts(table)
    return breach_stability(
        selector,
        features,
        target.to_numpy(),
        hidden,
        range(first, first + seeds),
        table.people.groups,
    )


def print_breach(
    table: Table,
    fitted: BreachSelector,
    held: HeldOutResult | None,
    stabilities: Sequence[Stability],
) -> None:
    """Print the choice, its figures, all candidates and how certain the choice is."""
    out = console()
    best, baseline = fitted.best_, fitted.baseline_
    out.print(
        f"[bold]{best.size} of {plural(baseline.size, 'column')} may be released[/bold]: "
        f"{escape(', '.join(best.features))}"
    )
    out.print(
        f"They predict {escape(table.target)} with {percent(best.performance)} against "
        f"{percent(baseline.performance)} from all columns (p {best.p_value:.3g}); "
        f"{escape(str(table.sensitive))} is guessed {_change(best.pbi)} (PBI, 95% interval "
        f"{change(best.pbi_interval[0])} to {change(best.pbi_interval[1])})."
    )
    out.print(f"Always guessing its most common value has PBI {change(fitted.floor_)}.")
    if held is not None:
        out.print(
            f"On {held.rows:,} rows that the search never saw: {percent(held.performance)} against "
            f"{percent(held.baseline_performance)}, PBI {change(held.pbi)}."
        )
    if fitted.cut_ is not None and fitted.cut_.points:
        out.print(f"{escape(str(table.sensitive))} was {fitted.cut_.rule}.")
    _show_candidates(fitted)
    out.print(f"most useful first:     {escape(', '.join(fitted.performance_ranking_))}")
    out.print(f"least revealing first: {escape(', '.join(fitted.privacy_ranking_))}")
    _show_sensitivity(fitted)
    _show_stability(stabilities)


def _show_candidates(fitted: BreachSelector) -> None:
    names = ("", "columns", "n", "performance", "p", "PBI", "region", "score")
    table = rich_table(*names, numbers=("n", "performance", "p", "PBI", "score"))
    for candidate in fitted.order_[:_SHOWN]:
        mark = "*" if candidate is fitted.best_ else "" if candidate.allowed else "-"
        table.add_row(
            mark,
            escape(_columns(candidate, fitted.baseline_)),
            str(candidate.size),
            percent(candidate.performance, 2),
            f"{candidate.p_value:.3f}",
            change(candidate.pbi, 2),
            candidate.region or "all",
            f"{candidate.score:.3f}",
        )
    console().print(table)
    shares = fitted.evaluation_.weights.items()
    weights = ", ".join(f"{name} {share:.3g}" for name, share in shares)
    legend = f"* chosen; {fitted.search_} search; score = ranks weighted by {weights}"
    if not all(candidate.allowed for candidate in fitted.order_):
        legend += f"; - above the threshold of {change(fitted.alpha_ or 0.0)}"
    console().print(legend)
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


def _show_stability(stabilities: Sequence[Stability]) -> None:
    if not stabilities:
        return
    table = rich_table("over seeds", "found", "chosen", numbers=("found", "chosen"))
    for entry in stabilities[:_NAMES]:
        table.add_row(escape(", ".join(entry.features)), percent(entry.found), percent(entry.won))
    console().print(table)


def _change(pbi: float) -> str:
    words = "more" if pbi > 0 else "less"
    return f"{percent(abs(pbi))} {words} often than from all columns"


def _print_json(
    table: Table,
    options: dict[str, Any],
    fitted: BreachSelector,
    held: HeldOutResult | None,
    stabilities: Sequence[Stability],
) -> None:
    from tamis.select.breach.summary import breach_summary

    head = {
        "target": table.target,
        "sensitive": table.sensitive,
        "classifier": options["classifier"],
        "preset": options["preset"],
    }
    print_json({**head, **breach_summary(fitted, held, stabilities)})


def _write(table: Table, best: Candidate, output: Path) -> None:
    """The chosen columns and the target; not the sensitive column, unless it is the target."""
    from tamis.files import written
    from tamis.table_file import write_table

    with written(output) as draft:
        write_table(table.only([*best.features, table.target]), draft)
