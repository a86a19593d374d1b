"""`tamis attack`: the gains of several kinds of attackers from a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from tamis.catalogue.methods import DP, SHIFT
from tamis.cli.options import command, given_ladders
from tamis.cli.table_source import TableSource
from tamis.cli.terminal import (
    console,
    escape,
    print_json,
    print_understood,
    rich_table,
    show_progress,
)
from tamis.errors import CannotMeet, InputError
from tamis.figures import percent

if TYPE_CHECKING:
    from tamis.attack.inference import Alter
    from tamis.attack.run import Attacks
    from tamis.attack.scene import AttackScore
    from tamis.coarsen.ladder import Ladder
    from tamis.require.attacker import Attacker
    from tamis.table import Table


@command("attack")
@click.argument("release")
def attack(
    source: TableSource,
    release: str,
    control: str | None,
    secret: str | None,
    known: tuple[str, ...] | None,
    errors: tuple[float, ...],
    people: int,
    shadows: int,
    threats: tuple[Attacker, ...],
    ladder: tuple[str, ...],
    ladders: dict[str, Any] | None,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Measure what attackers gain from a release.

    TABLE is the original and RELEASE a published folder or a file. Each attacker is compared with
    guessing and with what it learns in the same way about people who are not in the release.
    """
    from tamis.attack.run import attack_release
    from tamis.attack.sources import in_its_groups, in_its_ladders

    original = source.read_wide(need_roles=False)
    if not (quiet or as_json):
        print_understood(original)
    others = None if control is None else source.read_like(original, control, check=False)
    made = given_ladders(source, ladder, ladders)
    given = _attack_input(original, source, release, known, made)
    if others is not None:
        others = in_its_ladders(others, given.release, {} if given.stated else made)
        others = in_its_groups(others, given.release, given.stated)
        others = given.beside_all_rows(others)
    with show_progress(not (quiet or as_json)) as say:
        found = attack_release(
            given.original,
            given.release,
            control=others,
            secret=secret,
            known=given.known,
            knowing=given.knowing(threats),
            errors=errors,
            alter=given.alter,
            most=people,
            random_state=seed,
            progress=say,
        )
        if given.manifest.get("budget") is not None:
            say("drawing the rows again", 0, 1)
            found = _with_shadow(found, original, given.manifest, Path(release), shadows, seed)
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found, original.unit)


class AttackInput(NamedTuple):
    """The original recoded like the release, the release, and how it was made."""

    original: Table
    release: Table
    alter: Alter | None
    stated: dict[str, dict[str, Any]]
    """The ladders of the release."""
    manifest: dict[str, Any]
    """The manifest of the release; empty for a file."""
    known: tuple[str, ...] | None
    """The columns that attackers know, if named, and those made of them."""
    in_terms: Callable[[Sequence[str]], tuple[str, ...]]
    """Maps columns of the original to those of the release made of them."""

    def beside_all_rows(self, others: Table) -> Table:
        """A control group with summaries of all rows of a person, where the release links rows."""
        from dataclasses import replace

        import polars as pl

        from tamis.learn.whole_people import all_rows_of_people

        names = {*self.release.frame.columns, *self.original.frame.columns}
        more = [s for s in all_rows_of_people(others.frame, others.people) if s.name in names]
        return replace(others, frame=pl.DataFrame([*others.frame.get_columns(), *more]))

    def knowing(self, threats: Sequence[Attacker]) -> dict[str, tuple[str, ...]]:
        """The columns that each attacker knows; attackers named now override the manifest's."""
        from tamis.learn.whole_people import of_all_rows

        entries = [e for e in self.manifest.get("promises", ()) if e["key"] == "k_anonymity"]
        stated = {e["attacker"]: tuple(e["columns"]) for e in entries if "attacker" in e}
        of_people = self.original.frame.columns
        stated = {n: (*known, *of_all_rows(known, of_people)) for n, known in stated.items()}
        every = stated | {each.name: self.in_terms(each.knows) for each in threats}
        there = set(self.release.frame.columns)
        return {name: known for name, known in every.items() if there & {*known}}


def _attack_input(
    original: Table,
    source: TableSource,
    release: str,
    known: tuple[str, ...] | None,
    ladders: Mapping[str, Ladder],
) -> AttackInput:
    from tamis.attack.sources import (
        altered_by,
        in_its_groups,
        in_its_ladders,
        in_its_terms,
        known_in_its_terms,
        published_table,
        shown_together,
        stated_forms,
        those_inside,
    )
    from tamis.learn.whole_people import of_all_rows

    if Path(release).is_dir():
        from tamis.verification.layout import NAME, read_json

        manifest = read_json(Path(release) / NAME)
        table = published_table(Path(release), manifest)
        alter = altered_by(manifest["method"]) or altered_by(_as_moved(manifest))
        ks, stated = _ks(manifest["promises"]), stated_forms(manifest)
        suppressed = manifest.get("suppressed") is not None
    else:
        table, alter, ks, stated = source.read_like(original, release, check=False), None, (5,), {}
        manifest, suppressed = {}, False
    encoding = source.rules().binary
    terms = in_its_terms(original, table, encoding, ks)
    # The manifest of a folder states the forms that were made; a file has only the ladders given.
    terms = in_its_ladders(terms, table, {} if stated else ladders)
    terms = in_its_groups(terms, table, stated)
    there = those_inside(terms, table) if suppressed else terms

    there, table = shown_together(there, table)

    def in_terms(names: Sequence[str]) -> tuple[str, ...]:
        known = known_in_its_terms(tuple(names), original, table, encoding, ks)
        return (*known, *of_all_rows(known, there.frame.columns))

    known = None if known is None else in_terms(known)
    return AttackInput(there, table, alter, stated, manifest, known, in_terms)


def _as_moved(manifest: dict[str, Any]) -> dict[str, Any]:
    """The method that moved the dates of a release before the search, if any did."""
    moved = manifest.get("moved", {"days": 0, "columns": []})
    coarse = {column["name"] for column in manifest["columns"] if "coarser" in column}
    columns = [name for name in moved["columns"] if name not in coarse]
    if not columns:
        return {}
    return {"name": SHIFT.name, "parameters": {"days": moved["days"], "columns": columns}}


def _with_shadow(
    found: Attacks,
    original: Table,
    manifest: dict[str, Any],
    folder: Path,
    runs: int,
    seed: int,
) -> Attacks:
    """The attacks, with a shadow attack or a note on why there is none."""
    from dataclasses import replace

    from tamis.attack.membership import shadow_of_release
    from tamis.verification.layout import PRIVATE, RECIPE, read_json

    kept = folder / PRIVATE / RECIPE
    try:
        settings = read_json(kept)["settings"]["methods"][DP.name] if kept.is_file() else {}
        score = shadow_of_release(original, manifest, settings, runs=runs, random_state=seed)
    except InputError as error:
        return replace(found, notes=(*found.notes, f"no shadow attack was tried: {error}"))
    except (KeyError, TypeError, AttributeError) as error:
        raise CannotMeet(
            f"the manifest or recipe in {folder} is damaged ({type(error).__name__}); run tamis "
            "verify"
        ) from None
    return replace(found, scores=(*found.scores, score))


def _ks(promises: list[dict[str, Any]]) -> tuple[int, ...]:
    """Values of k that may have been asked for: the promised ones, their halves and quarters."""
    promised = [entry["at_least"] for entry in promises] or [5]
    return tuple(max(1, k // times) for k in promised for times in (1, 2, 4))


def _print(found: Attacks, unit: str) -> None:
    out = console()
    for line in _headlines(found, unit):
        out.print(line, markup=False)
    table = rich_table(
        "attacker", "right", "guessing", "gain", "others", "leak", "tried",
        numbers=("right", "guessing", "gain", "others", "leak", "tried"),
    )  # fmt: skip
    for each in found.scores:
        table.add_row(*_row(each))
    out.print(table)
    out.print(
        "gain: over guessing; others: right about people who are not in the release; leak: gain "
        "over them, which is what the release gives away.",
        markup=False,
    )
    for line in _shadow_lines(found):
        out.print(line, markup=False)
    for note in found.notes:
        console(stderr=True).print(f"note: {note}", markup=False, soft_wrap=True)


def _shadow_lines(found: Attacks) -> list[str]:
    """The result of a shadow attack and what epsilon allows, in words."""
    drawn = [each for each in found.scores if "epsilon_at_least" in each.details]
    return [
        f"With and without one person, drawn rows are told apart {percent(each.success.value)} of "
        f"the time; epsilon = {each.details['epsilon']:g} allows {percent(each.details['allowed'])}"
        + ("." if each.details["within"] else ": MORE THAN IS PROMISED.")
        for each in drawn
    ]


def _row(each: AttackScore) -> tuple[str, ...]:
    leak, success = each.leak, each.success
    within = f" ({percent(success.low or 0.0)} to {percent(success.high or 0.0)})"
    return (
        escape(each.attacker),
        percent(success.value) + within,
        percent(each.guess),
        percent(each.gain.value),
        "" if each.control is None else percent(each.control.value),
        "" if leak is None else percent(leak.value),
        f"{each.people:,}",
    )


def _headlines(found: Attacks, unit: str) -> list[str]:
    """The number of 100 people that the strongest attacker of each kind reaches, in words."""
    from tamis.attack.run import ATTEMPTS

    lines = []
    for attempt in ATTEMPTS:
        each = found.strongest(attempt.kind) if attempt.headline else None
        if each is not None:
            n, guess = (round(100 * share) for share in (each.success.value, each.guess))
            lines.append(f"Of 100 {unit}, {attempt.headline.format(n=n)} (by guessing {guess}).")
    return lines
