"""`tamis perturb`: a table of altered values, or of synthetic rows."""

from __future__ import annotations

import json
import secrets
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tamis.cli.dp import (
    Public,
    ledger_path,
    public_bounds,
    read_public,
    spending,
    spending_words,
    total,
)
from tamis.cli.options import check_table_file, command
from tamis.cli.table_source import TableSource
from tamis.cli.terminal import console, print_json
from tamis.errors import InputError, TamisWarning, plural
from tamis.figures import count_words, percent
from tamis.files import written
from tamis.options.steps import PERTURBING

if TYPE_CHECKING:
    import polars as pl

    from tamis.dp.private_table import PrivateTable
    from tamis.people import People
    from tamis.table import Table


AT_RANDOM = ("uniform", "gaussian", "flip", "swap", "pram", "shift")
"""Methods with a seed: the dp methods draw without one, and the others draw nothing."""
SECRET = "secret.json"
"""Suffix of the file that holds the secret seed of another."""
COUNTED = {"dp-histogram": "auto", "dp-marginals": "marginals"}
"""How the columns that `--features` chooses are counted, by method."""


@command("perturb")
def perturb(
    source: TableSource, method: str, output: str, as_json: bool, quiet: bool, **options: Any
) -> None:
    """Alter the values of a table, or draw synthetic rows.

    Of TABLE, uniform and gaussian noise, swap, pram and shift give no guarantee; flip makes 0/1
    rows identical in groups of k, microaggregate and suppress any rows; the dp methods draw
    synthetic rows with differential privacy.
    """
    path = Path(output)
    check_table_file(output)
    if method.startswith("dp") and options["epsilon"] is None:
        raise InputError(f"--method {method} needs --epsilon; 1 is usual, less is safer")
    public = public_bounds(options["bounds"])
    if method.startswith("dp"):
        _spend(source, method, path, options, public, as_json)
        return
    drawn = method in AT_RANDOM and options["seed"] is None
    if method in AT_RANDOM:
        options["seed"] = _secret(options["seed"])
    altered = _METHODS[method](source, options, public)
    if drawn:
        _write(altered, path, partial(_keep_secret, options["seed"], path, quiet))
        kept = str(_place_of_secret(path))
        altered = altered._replace(result={**altered.result, "secret_file": kept})
    else:
        _write(altered, path, partial(_forget_secret, path, quiet))
    _report(method, altered, as_json)


def _secret(given: int | None) -> int:
    """The seed of a file: the given one, or one too large to be found by trial."""
    from tamis.perturb import SECRET_BITS

    if given is None:
        return secrets.randbits(SECRET_BITS)
    if given.bit_length() <= SECRET_BITS // 2:
        warnings.warn(
            "a seed as short as this can be found by trial, and whoever finds it can undo what was "
            "altered; without --seed one is drawn that cannot",
            TamisWarning,
            stacklevel=2,
        )
    return given


def _place_of_secret(path: Path) -> Path:
    return path.with_name(f"{path.name}.{SECRET}")


def _keep_secret(secret: int, path: Path, quiet: bool) -> None:
    """Write the secret seed of a file next to it, readable by the holder alone, and say so."""
    place = _place_of_secret(path)
    with written(place) as draft:
        draft.chmod(0o600)
        # As text: not every reader of JSON keeps a whole number of 39 digits.
        draft.write_text(json.dumps({"seed": str(secret)}) + "\n", encoding="ascii")
    if not quiet:
        console(stderr=True).print(
            f"{place.name} has the secret that the values were drawn by. Keep it to yourself: it "
            "undoes what was altered. With --seed and its number the same file is made again.",
            markup=False,
            soft_wrap=True,
        )


def _forget_secret(path: Path, quiet: bool) -> None:
    """Remove the secret seed of the file that is being replaced, as the new one has another."""
    place = _place_of_secret(path)
    if not place.is_file():
        return
    place.unlink()
    if not quiet:
        console(stderr=True).print(
            f"{place.name} was removed: it had the secret of the former {path.name}.",
            markup=False,
            soft_wrap=True,
        )


class Altered(NamedTuple):
    """A table to write, messages about it, and the anonymity it must have when read again."""

    frame: pl.DataFrame
    result: dict[str, Any]
    words: str
    k: int = 0
    known: tuple[str, ...] = ()
    people: People | None = None
    """The person of each row; by default each is a different person."""


def _report(
    method: str, altered: Altered, as_json: bool, more: dict[str, Any] | None = None
) -> None:
    result = {"method": method, **altered.result, "rows": altered.frame.height, **(more or {})}
    if as_json:
        print_json(result)
    else:
        console().print(altered.words, markup=False, soft_wrap=True)


def _spend(
    source: TableSource,
    method: str,
    path: Path,
    options: dict[str, Any],
    public: Public,
    as_json: bool,
) -> None:
    """Draw a table, entered into the ledger before the noise is drawn."""
    if not path.parent.is_dir():
        raise InputError(f"no folder {path.parent} to write {path.name} into; create it first")
    chooses = options["features"] is not None and method in COUNTED
    ledger = ledger_path(source, options["ledger"])
    with spending(
        source,
        options["epsilon"],
        path,
        ledger=str(ledger),
        most=options["max_epsilon"],
        neighbours="substitute" if chooses else options["neighbours"],
        guarantee=not options["bounds_from_data"],
    ) as spent:
        altered = _METHODS[method](source, options, public)
        spent.keep()
        _write(altered, path, partial(_forget_secret, path, quiet=as_json))
    if not as_json:
        altered = altered._replace(words=f"{altered.words}\n{spending_words(spent, ledger)}")
    _report(method, altered, as_json, total(spent, ledger))


def _noise(
    source: TableSource, options: dict[str, Any], public: Public, *, gaussian: bool
) -> Altered:
    from tamis.perturb.noise import GaussianNoise, UniformNoise, check_probability

    check_probability(options["probability"])
    words = "Noise gives no guarantee: the other cells are as they were."
    kind, bounds = GaussianNoise if gaussian else UniformNoise, _ranges(public) or None
    return _at_random(source, options, kind, "probability", words, bounds=bounds)


def _microaggregated(source: TableSource, options: dict[str, Any], public: Public) -> Altered:
    from tamis.perturb.microaggregation import Microaggregation

    table = source.read_wide()
    group = Microaggregation(options["k"], columns=options["columns"] or None)
    frame = group.fit_transform(table).frame
    return _alike(
        table,
        frame,
        group.columns_,
        group.anonymity_,
        options["k"],
        f"Values are the middle of groups; {percent(group.lost_)} of their variation was lost.",
        {"groups": int(group.groups_.max()) + 1, "lost": group.lost_},
    )


def _suppressed(source: TableSource, options: dict[str, Any], public: Public) -> Altered:
    from tamis.perturb.suppression import LocalSuppression

    table, rule = source.read_wide(), options["blank"]
    hide = LocalSuppression(
        options["k"], columns=options["columns"] or None, weights=options["weights"], missing=rule
    )
    frame = hide.fit_transform(table).frame
    blanks = sum(hide.blanked_.values())
    counted = "a value of its own" if rule == "value" else "equal to anything"
    words = f"{plural(blanks, 'cell was', 'cells were')} left blank, counting a blank as {counted}."
    more = {"blanked": hide.blanked_, "blank": rule}
    if rule == "anything":
        kept = only_written(table, frame)
        also = " As a value of its own it leaves people less alike: this file promises nothing."
        return Altered(kept, {"k": options["k"], "matches": hide.anonymity_, **more}, words + also)
    return _alike(table, frame, hide.columns_, hide.anonymity_, options["k"], words, more)


def _alike(
    table: Table,
    frame: pl.DataFrame,
    columns: tuple[str, ...],
    anonymity: int,
    k: int,
    words: str,
    more: dict[str, Any],
) -> Altered:
    """A table in which k rows or people are alike in some columns."""
    words += (
        f" Every group of identical rows over {plural(len(columns), 'column')} has at least "
        f"{count_words(anonymity, table.unit)}."
    )
    result = {"k": k, "k_anonymity": anonymity, "unit": table.unit, "columns": list(columns)}
    return Altered(only_written(table, frame), result | more, words, k, columns, table.people)


def _swapped(source: TableSource, options: dict[str, Any], public: Public) -> Altered:
    from tamis.perturb.microaggregation import RankSwap

    words = "Swapping gives no guarantee: values are near the true ones, and others as they were."
    return _at_random(source, options, RankSwap, "within", words)


def _redrawn(source: TableSource, options: dict[str, Any], public: Public) -> Altered:
    from tamis.perturb.noise import Pram

    words = "PRAM gives no guarantee: the other cells are as they were."
    return _at_random(source, options, Pram, "probability", words)


def _shifted(source: TableSource, options: dict[str, Any], public: Public) -> Altered:
    from tamis.perturb.shifted_dates import ShiftedDates

    words = (
        "Moving dates gives no guarantee: intervals within a person stay, and whoever knows one "
        "date knows by how much the others of that person moved."
    )
    return _at_random(source, options, ShiftedDates, "days", words)


def _at_random(
    source: TableSource, options: dict[str, Any], kind: Any, level: str, words: str, **more: Any
) -> Altered:
    """A table with random changes, and the number of changed cells; `level` is their strength."""
    from tamis.perturb import secret_source
    from tamis.table import bare

    table, draws = source.read_wide(), secret_source(options["seed"])
    model = kind(options[level], columns=options["columns"] or None, random_state=draws, **more)
    frame, columns = model.fit_transform(table).frame, model.columns_
    same = [int(bare(frame[c]).eq_missing(bare(table.frame[c])).sum()) for c in columns]
    share = 1 - sum(same) / (table.rows * len(columns))
    changed = f"{percent(share)} of the cells in {plural(len(columns), 'column')} were changed. "
    result = {level: options[level], "columns": list(columns), "altered_share": share}
    return Altered(only_written(table, frame), result, changed + words)


def only_written(table: Table, frame: pl.DataFrame) -> pl.DataFrame:
    """The columns that may be written: all but the identifiers and the weight."""
    from tamis.table import only

    return only(frame, [c for c in frame.columns if c not in table.held_back])


def _ranges(public: Public) -> dict[str, Any]:
    """The public ranges of numeric columns, in whichever form they are declared."""
    declared = public.bounds.items()
    return {c: [b["low"], b["high"]] if _is_range(b) else b for c, b in declared}


def _is_range(bound: Any) -> bool:
    return isinstance(bound, dict) and {"low", "high"} <= set(bound)


def _flip(source: TableSource, options: dict[str, Any], public: Public) -> Altered:
    from tamis.perturb import secret_source
    from tamis.perturb.flip import RandomFlip

    records, draws = source.read_binary(), secret_source(options["seed"])
    flip = RandomFlip(options["k"], disagreement=options["disagreement"], random_state=draws)
    frame = flip.fit_transform(records).frame()
    words = (
        f"{percent(flip.flipped_share_)} of the cells were flipped: every group of identical rows "
        f"over all {plural(len(records.features), 'column')} has at least "
        f"{count_words(flip.anonymity_, records.unit)}."
    )
    result = {
        "k": options["k"],
        "k_anonymity": flip.anonymity_,
        "unit": records.unit,
        "clusters": int(flip.clusters_.max()) + 1,
        "flipped_share": flip.flipped_share_,
    }
    return Altered(frame, result, words, options["k"], records.features, records.people)


def _synthetic(
    source: TableSource, options: dict[str, Any], public: Public, *, method: str
) -> Altered:
    """Rows drawn with differential privacy, by the model that the method names."""
    from tamis.dp.histogram import DPHistogram, DPMarginals, DPPartition
    from tamis.dp.selector import ZERO_ONE
    from tamis.dp.synthesiser import DPSynthesiser

    if options["features"] is not None and method in COUNTED:
        return _selected(method, source, options, public)
    epsilon, bins = options["epsilon"], options["bins"]
    domain = {
        "bounds": {**dict.fromkeys(public.items, ZERO_ONE), **public.bounds},
        "missing": public.missing,
        "bounds_from_data": options["bounds_from_data"],
        "max_rows_per_person": options["max_rows_per_person"] or 1,
        "random_state": options["seed"],
    }
    neighbours = {"neighbours": options["neighbours"]}
    model: PrivateTable
    if method == "dp-synthesiser":
        chosen = {"algorithm": options["algorithm"] or "aim", "delta": options["delta"]}
        model = DPSynthesiser(epsilon, bins=bins or 10, **chosen, **domain)
    elif method == "dp-partition":
        rows = options["rows"] or public.rows
        model = DPPartition(epsilon, bins=bins, rows=rows, **domain, **neighbours)
    else:
        kind = DPHistogram if method == "dp-histogram" else DPMarginals
        model = kind(epsilon, bins=bins or 10, **domain, **neighbours)
    table = read_public(source, public, from_data=options["bounds_from_data"])
    return _drawn(model.fit_sample(table).frame, model.recipe_)


def _selected(method: str, source: TableSource, options: dict[str, Any], public: Public) -> Altered:
    from tamis.dp.private_table import check_most
    from tamis.dp.selector import private_records, zero_one_records
    from tamis.propose.synthetic import check_public_labels

    from_data = options["bounds_from_data"]
    table = read_public(source, public, from_data=from_data)
    check_most(options["max_rows_per_person"] or 1, table.roles, "substitute")
    if not from_data:
        check_public_labels(table.target, public.bounds)
    records, unit = zero_one_records(table, public.items)
    drawn = private_records(
        records,
        options["features"],
        options["epsilon"],
        labels=public.bounds.get(table.target),
        mechanism=options["mechanism"],
        unit=unit,
        counts=COUNTED[method],  # type: ignore[arg-type]
        random_state=options["seed"],
    )
    return _drawn(drawn.frame, drawn.recipe)


def _drawn(frame: pl.DataFrame, recipe: dict[str, Any]) -> Altered:
    spent = ", ".join(f"{s['what']} {s['epsilon']:.4g}" for s in recipe["spent"])
    promise = (
        f"{frame.height:,} synthetic rows; epsilon {recipe['epsilon']:.4g} spent ({spent}); "
        f"{recipe['neighbours_in_words']}."
    )
    if not recipe["guarantee"]:
        promise = (
            f"{frame.height:,} synthetic rows. NO differential privacy: bounds were taken from the "
            "data. Do not publish this table."
        )
    return Altered(frame, recipe, promise)


def _write(altered: Altered, path: Path, before: Callable[[], None]) -> None:
    """Write the table; where anonymity was promised, read it again and measure it first.

    `before` is called when the table is about to replace the former one: what is beside it changes
    first, so that no table is ever there without its secret, or with that of another.
    """
    from tamis.table import only
    from tamis.verification.checks import equals_by_grouping, write_counted

    def alike(again: pl.DataFrame, people: People) -> int:
        return equals_by_grouping(only(again, altered.known), people)

    write_counted(altered.frame, path, alike, altered.k, people=altered.people, before=before)


_METHODS: dict[str, Callable[[TableSource, dict[str, Any], Public], Altered]] = {
    "uniform": partial(_noise, gaussian=False),
    "gaussian": partial(_noise, gaussian=True),
    "flip": _flip,
    "microaggregate": _microaggregated,
    "suppress": _suppressed,
    "swap": _swapped,
    "pram": _redrawn,
    "shift": _shifted,
    **{name: partial(_synthetic, method=name) for name in PERTURBING if name.startswith("dp")},
}
