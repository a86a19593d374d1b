"""`tamis judge`: the utility and the disclosure risk of releases made elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tamis.cli.options import command, given_ladders
from tamis.cli.rules import load_rules
from tamis.cli.table_source import TableSource
from tamis.cli.terminal import (
    console,
    escape,
    print_json,
    print_understood,
    rich_table,
    show_progress,
)
from tamis.errors import InputError

if TYPE_CHECKING:
    from tamis.judgement.alignment import Foreign
    from tamis.judgement.generator import Generator
    from tamis.judgement.judgement import Judged
    from tamis.table import Table


@command("judge")
@click.argument("released", nargs=-1, metavar="RELEASED...")
def judge(
    source: TableSource,
    released: tuple[str, ...],
    output: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Judge releases of a table that were made elsewhere.

    TABLE is the original; each RELEASED is a file, or a published folder. Columns are found by
    name; coarser values such as [40, 50), 40-49, 4*, <= 30 are read from their labels. Rows may be
    in any order, and fewer: what is not a row of the original is judged as drawn.
    """
    from tamis.files import written
    from tamis.judgement.judgement import judge as judged

    original = source.read_wide(need_roles=False)
    if not (quiet or as_json):
        print_understood(original)
    names = _names(options["rename"])
    control = options["control"]
    rules = options["rules_file"]
    with show_progress(not (quiet or as_json)) as progress:
        found = judged(
            original,
            [_foreign(source, original, path, names, released) for path in released],
            control=None if control is None else source.read_like(original, control, check=False),
            ladders=given_ladders(source, options["ladder"], options["ladders"]),
            encoding=source.rules().binary,
            secret=options["secret"],
            known=options["known"],
            rules=None if rules is None else load_rules(rules, original.target),
            generator=_generator(options),
            shadows=options["shadows"],
            epsilon=options["epsilon"],
            propose=_settings(options),
            most=options["people"],
            random_state=options["seed"],
            progress=progress,
        )
    if output is not None:
        from tamis.judgement.page import write_page

        with written(output) as draft:
            draft.write_text(write_page(found), encoding="utf-8")
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)
        if output is not None and not quiet:
            console(stderr=True).print(f"Wrote {output}.", markup=False)


def _names(given: Sequence[str]) -> dict[str, str]:
    """New column names by old ones."""
    names = {}
    for each in given:
        old, equals, new = each.partition("=")
        if not (old and equals and new):
            raise InputError("--rename takes OLD=NEW, such as --rename Alter=age")
        if old in names:
            raise InputError(f"--rename names {old!r} twice")
        names[old] = new
    return names


def _foreign(
    source: TableSource, original: Table, path: str, names: dict[str, str], every: Sequence[str]
) -> Foreign:
    """One released table, with the column names of the original."""
    from tamis.judgement.alignment import Foreign, renamed
    from tamis.publication.read_back import published_folder, read_published

    name = path if len({Path(p).name for p in every}) < len(every) else Path(path).name
    if (folder := published_folder(path)) is not None:
        return Foreign(name, *read_published(folder, original))
    table = source.read_like(original, path, check=False)
    mine = {old: new for old, new in names.items() if len(every) == 1 or old in table.frame.columns}
    back = renamed(table, mine)
    if mine:  # texts that look like numbers stay texts under their new names, too
        texts = {old for old, new in mine.items() if new in original.frame.columns}
        kinds = [old for old in texts if original.kind(names[old]) == "nominal"]
        back = renamed(source.read_like(original, path, check=False, as_text=kinds), mine)
    return Foreign(name, back)


def _generator(options: dict[str, Any]) -> Generator | None:
    if options["generator"] is None:
        return None
    from tamis.judgement.generator import Generator

    return Generator(options["generator"], options["timeout"])


def _settings(options: dict[str, Any]) -> Any:
    if not options["propose"]:
        return None
    from tamis.settings import Settings

    return Settings(k=options["k"], seed=options["seed"])


def _print(found: Judged) -> None:
    from tamis.attack.closest_rows import CLOSEST_WORDS
    from tamis.judgement.page import HEADS, line_of_judgement, line_of_proposal, whose_words

    out = console()
    table = rich_table(*HEADS, numbers=HEADS[1:])
    for each in found.releases:
        table.add_row(*map(escape, line_of_judgement(each)))
    for row in found.proposed:
        table.add_row(*map(escape, line_of_proposal(row)))
    out.print(table)
    for each in found.releases:
        out.print(f"{each.name}: {whose_words(each)}", markup=False)
        if each.retention is not None:
            out.print(f"  {each.retention.headline()}.", markup=False)
        for score in each.attacks.scores:
            if "epsilon_at_least" in score.details:
                least, runs = score.details["epsilon_at_least"], score.details["runs"]
                out.print(
                    f"  Drawn {runs} times with and without one person: epsilon is at least "
                    f"{least:.2g}.",
                    markup=False,
                )
        for note in (*each.notes, *each.attacks.notes):
            console(stderr=True).print(f"note: {each.name}: {note}", markup=False, soft_wrap=True)
    out.print(CLOSEST_WORDS, markup=False)
