"""`tamis select --by breach`: parse, search, measure on held-out rows, print."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.cli.show import print_json, print_understood, progress
from tamis.errors import InputError

if TYPE_CHECKING:
    from tamis.cli.options import Source
    from tamis.rank.sensitivity import Steadiness
    from tamis.select.breach import BreachSelector
    from tamis.select.breach.candidate import Candidate
    from tamis.select.breach.held_out import HeldOut
    from tamis.table import Table


def run(
    source: Source,
    *,
    holdout: float,
    stability: int,
    output: str | None,
    plot: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Search for columns that teach the target and do not tell the sensitive column."""
    if output and Path(output).suffix not in (".csv", ".parquet"):
        raise InputError(f"--output writes .csv or .parquet, got {Path(output).name}")
    if source.sparse:
        raise InputError("--by breach needs a table of columns; sparse records have none")
    table = source.read_said()
    if not (quiet or as_json):
        print_understood(table)
    with progress(not (quiet or as_json)) as tell:
        selector = _selector(options, tell)
        fitted, held = _fitted(selector, table, holdout, options["seed"])
        steady = _steadiness(selector, table, stability, options["seed"])
    if output:
        _write(table, fitted.best_, Path(output))
    if plot:
        _draw(fitted, table, Path(plot))
    if as_json:
        _print_json(table, options, fitted, held, steady)
    else:
        from tamis.cli.show_breach import print_breach

        print_breach(table, fitted, held, steady)


def _selector(options: dict[str, Any], tell: Any) -> BreachSelector:
    from tamis.learn.classifiers import classifier
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
        cut=_cut(options["cut"]),
        n_jobs=options["jobs"],
        random_state=options["seed"],
        progress=tell,
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
) -> tuple[BreachSelector, HeldOut | None]:
    from tamis.select.breach.held_out import fit_held_out, parts

    if holdout:
        return fit_held_out(selector, table, holdout, seed)
    features, target, hidden = parts(table)
    return selector.fit(features, target.to_numpy(), hidden, table.people), None


def _steadiness(
    selector: BreachSelector, table: Table, seeds: int, first: int
) -> Sequence[Steadiness]:
    if not seeds:
        return ()
    from tamis.select.breach.held_out import parts
    from tamis.select.breach.summary import breach_stability

    features, target, hidden = parts(table)
    return breach_stability(
        selector, features, target.to_numpy(), hidden, range(first, first + seeds), table.people
    )


def _print_json(
    table: Table,
    options: dict[str, Any],
    fitted: BreachSelector,
    held: HeldOut | None,
    steady: Sequence[Steadiness],
) -> None:
    from tamis.select.breach.summary import breach_summary

    head = {
        "target": table.target,
        "sensitive": table.sensitive,
        "classifier": options["classifier"],
        "preset": options["preset"],
    }
    print_json({**head, **breach_summary(fitted, held, steady)})


def _write(table: Table, best: Candidate, output: Path) -> None:
    """The chosen columns and the target; the sensitive column stays, unless it is the target."""
    from tamis.files import written
    from tamis.table_file import write_table

    with written(output) as draft:
        write_table(table.only([*best.features, table.target]), draft)


def _draw(fitted: BreachSelector, table: Table, path: Path) -> None:
    from tamis.files import written
    from tamis.select.breach.picture import region_picture

    picture = region_picture(
        fitted.candidates_,
        fitted.best_,
        floor=fitted.floor_,
        alpha=fitted.alpha_,
        sensitive=str(table.sensitive),
    )
    with written(path) as draft:
        picture.write(draft)
