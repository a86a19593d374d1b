"""`tamis select containment`: parse, search for each k, print, write."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.cli.options import check_table_file, command
from tamis.cli.table_source import TableSource
from tamis.cli.terminal import console, escape, print_json, rich_table, show_progress
from tamis.errors import InputError, plural
from tamis.figures import count_words, percent

if TYPE_CHECKING:
    import polars as pl

    from tamis.binary.records import BinaryTable
    from tamis.people import People
    from tamis.select.containment.selection import Selection

_SHOWN = 40
_HIDING = {
    ("people", "containment"): "whatever a person has, at least {} people have",
    ("people", "equality"): "everyone is in a group of at least {} people with the same values",
    ("rows", "containment"): "whatever a row has, at least {} rows have",
    ("rows", "equality"): "every row is in a group of at least {} identical rows",
}

PASSED_ON = (
    *("search", "privacy", "on_violation", "largest", "time_limit", "drop_rare", "max_features"),
    *("min_gain", "absences", "preset"),
)
"""Options that have the name of a parameter of the selector."""


@command("select containment")
def containment(source: TableSource, **options: Any) -> None:
    """Choose 0/1 columns: whatever a person has, k people have.

    Of all such sets of columns of TABLE, one that teaches most. Without an encoding in its schema,
    a table of other columns is made 0/1 by its values. Whoever knows a column knows what a person
    lacks, too: of columns named with --quasi it says how many are alike in what is chosen.
    """
    run_containment(source, **options)


def run_containment(
    source: TableSource,
    *,
    k: str,
    utility: str,
    output: str | None,
    plot: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Choose the columns for every k and show them."""
    wanted = _several(k)
    if output and len(wanted) > 1:
        raise InputError("--output writes one table; give one --k with it")
    check_table_file(output)
    records = source.read_binary()
    if records.labels is None:
        raise InputError("choosing columns needs labels; name them with --target COL or --labels")
    if not records.features:
        raise InputError("there is no column to choose from: all rows are empty")
    found = _search(records, wanted, utility, not (quiet or as_json), options)
    if output:
        _write(records, found[wanted[0]], wanted[0], options, Path(output))
    if plot:
        _draw(records, found, utility, Path(plot))
    known = source.made_of_quasi(records)
    alike = {at: _alike(records, known, chosen) for at, chosen in found.items()}
    results = [
        _result(records, at, chosen, utility, options) | {"alike": alike[at]}
        for at, chosen in found.items()
    ]
    if as_json:
        print_json(results[0] if len(results) == 1 else {"selections": results})
    else:
        _show(records, found, utility, options)
        _warn_of_zeros(alike, records.unit)


def _alike(records: BinaryTable, known: list[str], chosen: Selection) -> int | None:
    """How many are alike in what is chosen of named columns; `None` where none of them is."""
    import polars as pl

    from tamis.verification.checks import equals_by_grouping

    named = set(known)
    shown = [c for c in chosen.features if records.features[c] in named]
    if not shown:
        return None
    cells = pl.DataFrame(records.select(shown).matrix.toarray())
    return equals_by_grouping(cells, records.people)


def _warn_of_zeros(alike: dict[int, int | None], unit: str) -> None:
    for k, reached in alike.items():
        if reached is not None and reached < k:
            console(stderr=True).print(
                f"note: whoever knows the columns named with --quasi knows what is lacking, too, "
                f"and is left with {count_words(reached, unit)}, below k = {k}; --privacy "
                "equality, or tamis release, hides everybody among k alike",
                soft_wrap=True,
            )


def _several(k: str) -> list[int]:
    try:
        wanted = [int(part) for part in str(k).split(",")]
    except ValueError:
        raise InputError(f"--k takes whole numbers separated by commas, got {k!r}") from None
    return list(dict.fromkeys(wanted))


def _search(
    records: BinaryTable, wanted: list[int], utility: str, watched: bool, options: dict[str, Any]
) -> dict[int, Selection]:
    from tamis.select.containment import ContainmentSelector

    # By column once for all k: each search reads the columns it needs without another pass.
    matrix = records.matrix.tocsc() if len(wanted) > 1 else records.matrix
    found = {}
    with show_progress(watched) as progress:
        for i, k in enumerate(wanted):
            progress(f"choosing columns, k = {k}, {options['search']}", i, len(wanted))
            selector = ContainmentSelector(
                k,
                utility=utility,
                extend=not options["no_extend"],
                random_state=options["seed"] or 0,  # none with --by
                **{name: options[name] for name in PASSED_ON},
            )
            found[k] = selector.fit(matrix, records.labels, people=records.people).selection_
    return found


def _result(
    records: BinaryTable, k: int, chosen: Selection, utility: str, options: dict[str, Any]
) -> dict[str, Any]:
    names = records.features
    return {
        "k": k,
        "search": options["search"],
        "privacy": options["privacy"],
        "absences": options["absences"],
        "unit": records.unit,
        "features": [names[c] for c in chosen.features],
        "anonymity": chosen.anonymity,
        "utility_name": utility,
        "utility": chosen.utility,
        "bound": chosen.bound,
        "gap": chosen.gap,
        "steps": [{**asdict(s), "feature": names[s.feature]} for s in chosen.steps],
    }


def _show(
    records: BinaryTable, found: dict[int, Selection], utility: str, options: dict[str, Any]
) -> None:
    out = console()
    if len(found) > 1:
        numbers = ("k", "features", "anonymity", utility)
        table = rich_table(*numbers, numbers=numbers)
        for k, chosen in found.items():
            cells = (k, len(chosen.features), chosen.anonymity)
            table.add_row(*(f"{c:,}" for c in cells), f"{chosen.utility:.4g}")
        out.print(table)
        return
    ((k, chosen),) = found.items()
    hiding = _HIDING[records.unit, options["privacy"]].format(f"{chosen.anonymity:,}")
    if options["absences"]:
        hiding += (
            f", even if up to {plural(options['absences'], 'thing')} that are lacking are known"
        )
    out.print(
        f"[bold]{len(chosen.features):,} of {plural(len(records.features), 'column')} may be "
        f"released[/bold]: {hiding} (k = {k})."
    )
    out.print(f"{utility} {chosen.utility:.4g}" + _proof(chosen))
    _show_steps(records, chosen, utility)


def _proof(chosen: Selection) -> str:
    if chosen.bound is None or chosen.gap is None:
        return ""
    if chosen.gap < 1e-9:
        return ", proven to be the best of all sets that satisfy k"
    return f"; no set that satisfies k exceeds {chosen.bound:.4g} (gap {percent(chosen.gap)})"


def _show_steps(records: BinaryTable, chosen: Selection, utility: str) -> None:
    numbers = ("", "adds", utility, "anonymity")
    table = rich_table("", "column", *numbers[1:], numbers=numbers)
    for i, step in enumerate(chosen.steps[:_SHOWN]):
        cells = (f"{step.gain:.4g}", f"{step.utility:.4g}", f"{step.anonymity:,}")
        table.add_row(str(i + 1), escape(records.features[step.feature]), *cells)
    console().print(table)
    if len(chosen.steps) > _SHOWN:
        console().print(f"and {len(chosen.steps) - _SHOWN} more; --json lists all")


def _write(
    records: BinaryTable, chosen: Selection, k: int, options: dict[str, Any], output: Path
) -> None:
    """Write the projected table to a draft, read again and measured before it is renamed."""
    from tamis.table import only
    from tamis.verification.checks import containment_by_bitmaps, equals_by_grouping, write_counted

    measure = containment_by_bitmaps if options["privacy"] == "containment" else equals_by_grouping

    def anonymity(again: pl.DataFrame, people: People) -> int:
        features = only(again, [name for name in again.columns if name != records.target])
        reached = measure(features, people)
        if options["absences"]:
            reached = min(reached, _with_absences(features, people, options["absences"]))
        return reached

    frame = records.select(sorted(chosen.features)).frame()
    write_counted(frame, output, anonymity, k, "anonymity", records.people)


def _with_absences(features: pl.DataFrame, people: People, absences: int) -> int:
    import numpy as np

    from tamis.risk.containment import absence_anonymity

    cells = features.to_numpy().astype(np.uint8)
    return absence_anonymity(cells, absences, people=people)


def _draw(records: BinaryTable, found: dict[int, Selection], utility: str, path: Path) -> None:
    from tamis.select.containment.selection import path_picture, several_picture

    if len(found) > 1:
        picture = several_picture(found, utility)
    else:
        ((k, chosen),) = found.items()
        picture = path_picture(chosen, records.features, k, utility, records.unit)
    picture.save(path)
