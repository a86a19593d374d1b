"""`publish`: the chosen release as a folder to share, with a part that the holder keeps.

::

    DIR/
    ├── release.csv       the rows (or release.parquet, release.long.csv, release.svm)
    ├── manifest.json     what is promised about them, and what is not
    ├── report.html       the same for people to read
    ├── croissant.json    with datapackage.json and README.md, where asked for: the manifest again
    └── private/          never shared, mode 0700
        ├── report.html   the full report, with all releases that were compared
        ├── dossier.html  for a privacy officer to print and sign; dossier.json has the same
        ├── scorecard.json
        ├── summary.json  the figures that both reports show
        ├── recipe.json   what is needed to reproduce the same bytes
        ├── people.csv    the person of each released row, where people have several
        ├── rows.csv      names of the released rows, by which a later release finds the same people
        └── secrets.csv   a number for each row's sensitive value, where l or t was asked for
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tamis import files
from tamis.analyse import Analysis, analyse
from tamis.analyse.records import as_plain
from tamis.attack.row_names import RowNames
from tamis.binary.records import is_binary
from tamis.catalogue.formats import DESCRIPTIONS
from tamis.catalogue.methods import RECORDED
from tamis.errors import CannotMeet, InputError, listed
from tamis.outcome import Outcome
from tamis.people import People
from tamis.perturb import drawn_for
from tamis.publication.dossier import dossier_of, render_dossier
from tamis.publication.manifest import (
    ReleaseFile,
    WrittenRelease,
    manifest,
    stated,
    with_bounds,
)
from tamis.publication.recipe import recipe, recipe_forms
from tamis.publication.report import render, summarise
from tamis.publication.streamed import verify_streamed, write_streamed
from tamis.read.keys import refuse_left_identifiers
from tamis.release_counts import ExposureFacts
from tamis.require.population import DeltaPresence
from tamis.risk.attackers import in_release
from tamis.statistical_file import group_codes, texts_of
from tamis.table import ColumnText, Dictionary, Table
from tamis.table_file import FEATURE, ROW, classes_of, read_release, write_release
from tamis.verification.checks import measure
from tamis.verification.claims import not_promised, not_promised_of_drawn, rows_known
from tamis.verification.descriptions import describe
from tamis.verification.layout import (
    DOSSIER,
    NAME,
    NAMES,
    PEOPLE,
    PRIVATE,
    RECIPE,
    RELEASE,
    REPORT,
    SECRETS,
    digest,
    is_folder,
    unexpected_files,
    write_json,
)
from tamis.verification.people import (
    arrange_names,
    arrange_private,
    arranged,
    link_numbers,
    promises_in_people,
    write_names,
    write_numbers,
)
from tamis.verification.presence import (
    counted_shares,
    kept_presence,
    out_of_bounds,
    unmet_words,
)
from tamis.verification.secret_groups import (
    Recount,
    Secrets,
    numbered_secrets,
    with_measures,
)
from tamis.verification.shape import in_place
from tamis.verification.verify import verify

MOST_UNSTACKED = 200
"""With more columns than this, sparse records are released as a long file by default."""


def publish(
    outcome: Outcome,
    out: str | Path,
    *,
    analysis: Analysis | None = None,
    force: bool = False,
    origin: Mapping[str, Any] | None = None,
    date: str | None = None,
) -> Path:
    """Write the chosen release to a draft folder, verify it, and only then give it its name.

    Parameters
    ----------
    outcome : Outcome
        From `tamis.flow.consider`.
    out : path
        The folder to create.
    analysis : Analysis, optional
        The analysis of the outcome; by default `tamis.analyse` makes it, which trains models.
        Writing trains none.
    force : bool
        Replace an earlier release in that folder, once the new one is complete.
    origin : mapping, optional
        How the table was read, kept in the private recipe.
    date : str, optional
        The date of the manifest, by default today.

    Returns
    -------
    Path
        The folder that was written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from tamis.datasets import patients
    >>> from tamis.flow import Settings, consider
    >>> settings = Settings(methods={"containment": {"ks": [20], "utilities": ["difference"]}})
    >>> outcome = consider(patients(rows=400), settings)
    >>> with TemporaryDirectory() as folder:
    ...     made = publish(outcome, Path(folder) / "out")
    ...     sorted(path.name for path in made.iterdir())
    ['manifest.json', 'private', 'release.csv', 'report.html']
    """
    out = Path(out)
    date = date or datetime.now(UTC).date().isoformat()
    if outcome.release.is_suppressed:
        refuse_left_identifiers(outcome.release.table)
    outcome = outcome.closer()
    analysed = analyse(outcome) if analysis is None else analysis
    with written_release(out, force=force) as draft:
        _write(outcome, analysed, draft, date, dict(origin or {}))
        if outcome.all_rows is None:
            verify(draft, _register(outcome))
        else:
            verify_streamed(outcome.all_rows, draft, _register(outcome))
    return out


def _write(
    outcome: Outcome, analysis: Analysis, draft: Path, date: str, origin: dict[str, Any]
) -> None:
    """Write the rows, the manifest, both reports and the private part."""
    private, target, counted = draft / PRIVATE, outcome.table.target, outcome.all_rows
    private.mkdir(mode=0o700)
    if counted is None:
        written = _write_whole(outcome, draft)
    else:
        present = None if counted.population is None else counted.population.presence_among
        written = replace(
            write_streamed(outcome, counted, draft),
            state_presence=lambda content: (
                {}
                if present is None
                else _presence(outcome, content, lambda who: present(outcome.release, who))
            ),
        )
    content = manifest(
        outcome.decision.chosen,
        written,
        analysis,
        not_promised=_not_promised(outcome, written, analysis.exposure),
        date=date,
    )
    public = [entry for entry in written.of_secrets if entry["column"] == target]
    private_only = [entry for entry in written.of_secrets if entry["column"] != target]
    if stated_of_groups := [*written.risks, *public]:
        content["diversity"] = stated_of_groups
    if moved := _moved(outcome):
        content["moved"] = {"days": outcome.settings.shift_dates, "columns": moved}
    if outcome.engine is not None:
        content["engine"] = dict(outcome.engine)
    how = {**written.state_presence(content), **written.for_recipe}
    summary = summarise(outcome, analysis, content, origin, private_only)
    write_shared(draft, content, summary, outcome.settings.describe)
    how = recipe(outcome, draft, origin, date, written) | how
    write_private(private, outcome, summary, how)


def _write_whole(outcome: Outcome, draft: Path) -> WrittenRelease:
    """Write rows that are in memory, and measure the promises in the file, read again."""
    release, private, target = outcome.release, draft / PRIVATE, outcome.table.target
    link = _link(outcome)
    file, back = _write_rows(outcome, draft, link)
    reached = zip(release.promises, _measured(outcome, back))
    unit = outcome.table.unit
    promises = [{**promise.to_dict(unit), "measured": value} for promise, value in reached]
    secrets = _secrets(outcome)
    numbers = np.column_stack([*secrets.values()]) if secrets else None
    people, numbered = arrange_private(release, numbers, link)
    if numbered is not None:
        secrets = dict(zip(secrets, numbered.T))
    if not (people.each_row or people.together):
        write_numbers(private / PEOPLE, people.codes)
    if hidden := [secrets[name] for name in secrets if name != target]:
        write_numbers(private / SECRETS, np.column_stack(hidden))
    return WrittenRelease(
        file,
        promises_in_people(promises, back, people, release.unit),
        _risks(outcome, back, people),
        _diverse(outcome, back, people, secrets),
        not (people.each_row or people.together),
        outcome.left_out_people,
        _write_names(outcome, private, link),
        lambda content: _presence(
            outcome,
            content,
            lambda register: counted_shares(back, content, recipe_forms(release), register, people),
        ),
    )


def _moved(outcome: Outcome) -> list[str]:
    """The released columns whose dates were moved before the search."""
    columns = () if outcome.moved is None else outcome.moved.columns
    release = outcome.release
    return sorted(c for c in release.features if release.source(c) in columns)


def _link(outcome: Outcome) -> pl.Series | None:
    """The column of numbers that links the rows of each person, where one is released."""
    settings, name = outcome.settings, outcome.settings.link
    if name is None:
        return None
    return link_numbers(outcome.release, name, drawn_for(settings.secret, f"link {name}"))


def _write_names(outcome: Outcome, private: Path, link: pl.Series | None) -> dict[str, Any]:
    """Write the names of the released rows; returns the recipe's entry on how they were made."""
    if outcome.release.is_drawn:
        return {}
    rows = RowNames.of(outcome.table)
    write_names(private / NAMES, arrange_names(outcome.release, rows.names, link))
    return {"named_by": {kind: list(columns) for kind, columns in rows.columns.items()}}


def _write_rows(
    outcome: Outcome, draft: Path, link: pl.Series | None
) -> tuple[ReleaseFile, pl.DataFrame]:
    """Write the rows; returns the description of the file and the rows read back from it."""
    release, settings, table = outcome.release, outcome.settings, outcome.table
    format = format_for(settings.format, release.table)
    file = draft / RELEASE[format]
    frame, bounds = with_bounds(
        arranged(release.table, link), release.forms if format == "parquet" else {}
    )
    said = texts_of(frame, written_dictionary(outcome))
    write_release(frame, file, format, said)
    back = read_release(file, format, frame.columns, classes_of(frame))
    coarser = {
        name: stated(form, release.cells(table.frame[name]), settings.k, release.people)
        for name, form in release.forms.items()
    }
    return ReleaseFile(
        file, format, frame, bounds, coarser, said, table.target_bins, link=settings.link
    ), back


def written_dictionary(outcome: Outcome) -> Dictionary:
    """Questions and codes of all columns; grouped values get new codes, in the same order."""
    frame, dictionary = outcome.release.table.frame, dict(outcome.table.dictionary)
    for name in outcome.release.forms:
        if name in dictionary:
            said, labels = dictionary[name], frame[name].drop_nulls().unique()
            codes = group_codes(labels, said.codes) if labels.dtype == pl.String else {}
            dictionary[name] = ColumnText(said.question, codes)
    return dictionary


def format_for(wanted: str, table: Table) -> str:
    """The format to write a release in; an error where it cannot hold the columns.

    >>> from tamis import Roles
    >>> ages = Table(pl.DataFrame({"age": [31, 47], "ill": ["no", "yes"]}), Roles(target="ill"))
    >>> format_for("auto", ages)
    'csv'
    """
    sparse = len(table.features) > MOST_UNSTACKED and is_binary(table)
    format = ("long" if sparse else "csv") if wanted == "auto" else wanted
    if format not in ("long", "svm"):
        return format
    if not is_binary(table):
        raise InputError(
            f"--output-format {format} is for columns of 0 and 1, and the chosen release has "
            "others; choose --output-format csv or parquet"
        )
    if format == "long" and table.target in (ROW, FEATURE):
        raise InputError(
            f"a long file has columns {ROW} and {FEATURE}, and the target has the same name; "
            "choose another --output-format, or rename the target"
        )
    return format


def write_shared(
    draft: Path, content: dict[str, Any], summary: Analysis, wanted: Sequence[str] = ()
) -> None:
    """Write the recipients' report, the wanted descriptions, and the manifest.

    The manifest comes last, since it states the hashes of the others.
    """
    report = draft / REPORT
    report.write_text(render(summary, "recipient"), encoding="utf-8")
    content["report"] = {"name": report.name, "sha256": digest(report)}
    for which in (description for description in DESCRIPTIONS if description in wanted):
        path = draft / DESCRIPTIONS[which]
        path.write_bytes(describe(which, content))
        said = {"name": path.name, "sha256": digest(path)}
        content["described"] = [*content.get("described", ()), said]
    write_json(draft / NAME, in_place(content))


def write_private(private: Path, outcome: Outcome, summary: Analysis, how: dict[str, Any]) -> None:
    """Write the private part, readable by the holder alone: full report, figures and recipe."""
    (private / REPORT).write_text(render(summary, "holder"), encoding="utf-8")
    write_json(private / "summary.json", summary.to_dict("holder"))
    decision = outcome.decision
    asked = {limit.measure for limit in outcome.settings.limits}
    write_json(private / "scorecard.json", decision.scorecard.to_dict(decision.shown, asked))
    dossier = dossier_of(summary)
    (private / DOSSIER).write_text(render_dossier(dossier), encoding="utf-8")
    write_json(private / "dossier.json", as_plain(dossier))
    write_json(private / RECIPE, how)
    for path in private.iterdir():
        path.chmod(0o600)


def _secrets(outcome: Outcome) -> dict[str, Secrets]:
    """Numbered sensitive values of the released rows, by column that something is asked about."""
    release, asked = outcome.release, outcome.evaluator.requirements.about_secrets
    if release.is_drawn:
        return {}
    return {
        str(name): numbered_secrets(release.cells(outcome.table.frame[str(name)]))
        for name in asked.by_secret
    }


def _diverse(
    outcome: Outcome, written: pl.DataFrame, people: People, secrets: Mapping[str, Secrets]
) -> list[dict[str, Any]]:
    """The manifest's entries on l, t and the like, measured in the file, by attacker and secret."""
    asked = outcome.evaluator.requirements.about_secrets
    measured = []
    for name, some in asked.by_secret.items() if secrets else ():
        entries = in_release(some, outcome.release).to_dicts(outcome.table.unit)
        public = name == outcome.table.target and (people.each_row or people.together)
        recount: Recount = "file" if public else "private"
        measured += with_measures(entries, written, secrets[str(name)], people, recount)
    return measured


def _risks(outcome: Outcome, written: pl.DataFrame, people: People) -> list[dict[str, Any]]:
    """The manifest's entries on limits of the risk, measured in the file."""
    if outcome.release.is_drawn:
        return []
    asked = in_release(outcome.evaluator.requirements.of_risks, outcome.release)
    entries = asked.to_dicts(outcome.table.unit)
    none = np.zeros(written.height, dtype=np.int64)
    recount: Recount = "file" if people.each_row or people.together else "private"
    return with_measures(entries, written, none, people, recount)


def _register(outcome: Outcome) -> Table | None:
    """The register of the population, where delta-presence was asked for."""
    asked = outcome.settings.delta_presence is not None and outcome.population is not None
    return outcome.population.register if asked and outcome.population else None


def _presence(
    outcome: Outcome, content: dict[str, Any], count: Callable[[Table], Any]
) -> dict[str, Any]:
    """State delta-presence in the manifest; returns the recipe's entry with the measured shares.

    `count` measures the shares in what was written.
    """
    release, register = outcome.release, _register(outcome)
    bounds = outcome.settings.delta_presence
    if register is None or bounds is None or outcome.population is None:
        return {}
    altered, known = release.is_altered, release.table.quasi
    content["presence"] = DeltaPresence.of(bounds).to_dict(known, release.unit, altered=altered)
    if altered:
        found: Any = outcome.population.presence_of(release)
    else:
        found = count(register)
        if out_of_bounds(content["presence"], found):
            raise CannotMeet(unmet_words(found))
    return {"presence": kept_presence(found, known, register)}


def _not_promised(
    outcome: Outcome, written: WrittenRelease, alone: ExposureFacts | None
) -> list[str]:
    decision, settings = outcome.decision, outcome.settings
    release = decision.chosen.release
    if alone is None:
        # The number drawn was requested; the number that met the limits would reveal something.
        drawn = [row for row in decision.scorecard.candidates if row.release.is_drawn]
        unit = release.recipe.public["budget"].get("unit", "row")
        return not_promised_of_drawn(len(drawn), limited=len(settings.limits) > 1, unit=unit)
    wanted = max((entry["at_least"] for entry in written.promises), default=1)
    return not_promised(
        written.promises,
        outcome.table.unit,
        alone=(alone["everything"]["k"] or 0) < wanted,
        sensitive_released=outcome.table.target in outcome.table.secrets,
        caveat=RECORDED[release.recipe.method].caveat,
        several=written.several,
        covered_rows=rows_known(written.promises, written.risks),
        suppressed=written.left_out is not None,
        diverse=outcome.table.target in outcome.required.by_secret,
        linked=settings.link is not None,
        moved=bool(_moved(outcome)),
    )


def _measured(outcome: Outcome, read: pl.DataFrame) -> list[int]:
    """The k that the written file reaches for each promise; `CannotMeet` where it is too small."""
    values = []
    for promise in outcome.release.promises:
        value = measure(promise.to_dict("rows"), read)
        if value < promise.k:
            raise CannotMeet(
                f"the written file has {promise.key} {value}, below {promise.k}; nothing was "
                "published"
            )
        values.append(value)
    return values


def refuse_existing(out: Path, force: bool) -> None:
    """Raise where `out` cannot be written; `force` allows only to replace an earlier release."""
    files.check_place(out, folder=True)
    _refuse(out, force)


@contextmanager
def written_release(out: Path, *, force: bool) -> Iterator[Path]:
    """A draft folder that is renamed to `out` when the block ends without an error.

    Whatever `out` was stays until the draft is complete; if anything interrupts the block, it is
    left untouched and the draft is removed. With `force`, an earlier release may be replaced.
    """
    with files.written_folder(out, lambda: _refuse(out, force)) as draft:
        yield draft


def _refuse(out: Path, force: bool) -> None:
    if not os.path.lexists(out):
        return
    if not force:
        raise InputError(f"{out} already exists; pass --force to replace it, or another --out")
    if not is_folder(out):
        raise InputError(f"{out} is not a folder, so --force does not replace it")
    try:
        if not any(out.iterdir()):
            return
        if odd := unexpected_files(out):
            raise InputError(
                f"{out} contains {listed(odd)}, which is not part of a release, so --force does "
                "not replace it; move that elsewhere, or choose another --out"
            )
        verify(out)
    except (CannotMeet, OSError) as error:
        raise InputError(
            f"{out} is not a release as tamis wrote it, so --force does not replace it; move it "
            f"elsewhere, or choose another --out ({error})"
        ) from None
