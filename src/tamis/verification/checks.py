"""Anonymity and uniqueness in a written release, counted by other means than the search uses.

The search counts row patterns and value codes. Here anonymity by containment is computed by its
definition from one bitmap per column, and k-anonymity by grouping the cells as they are stored: two
cells are equal where their bits are. Unique rows and people are counted from the cells in the same
way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import CannotMeet, listed
from tamis.files import written
from tamis.people import People, PeopleLike
from tamis.table import Dictionary, bare, content_order, only
from tamis.table_file import format_named, read_written, write_table


def target_column(content: dict[str, Any]) -> dict[str, Any]:
    """The entry of the target among the columns of a manifest."""
    return next(column for column in content["columns"] if column["role"] == "target")


def measure(entry: Mapping[str, Any], frame: pl.DataFrame, people: PeopleLike = None) -> int:
    """The k that a written table reaches for a promise, in people where these are known."""
    columns = entry["columns"]
    if missing := [c for c in columns if c not in frame.columns]:
        raise CannotMeet(f"a promise is about column {listed(missing)}, which is not in the file")
    cells = only(frame, columns)
    if columns and entry["key"] == "containment_anonymity":
        return containment_by_bitmaps(cells, people, int(entry.get("absences") or 0))
    return equals_by_grouping(cells, people)


def equals_by_grouping(cells: pl.DataFrame, people: PeopleLike = None) -> int:
    """Size of the smallest equivalence class, in rows or people; a missing cell is a value.

    >>> equals_by_grouping(pl.DataFrame({"job": ["cook", "cook", None]}))
    1
    >>> equals_by_grouping(pl.DataFrame({"x": [0.0, -0.0]}))
    1
    >>> equals_by_grouping(pl.DataFrame({"job": ["cook"] * 3}), np.array([4, 4, 7]))
    2
    """
    whose = People.named(people, cells.height)
    bits = seen_cells(cells, whose)
    groups = bits.with_columns(whose=pl.Series(whose.codes)).group_by(bits.columns)
    return int(groups.agg(pl.col("whose").n_unique())["whose"].min())  # type: ignore[arg-type]


def write_counted(
    frame: pl.DataFrame,
    path: Path,
    count: Callable[[pl.DataFrame, People], int],
    least: int,
    what: str = "k-anonymity",
    people: PeopleLike = None,
    dictionary: Dictionary | None = None,
    before: Callable[[], None] | None = None,
) -> None:
    """Write a table under a temporary name, and rename it once `count` of the file reaches `least`.

    `least` is the promised k, where 0 skips the count; `what` names the measure in the error.
    `people` are given in the order of `frame`; `count` gets them in the order of the file. `before`
    is called when all is well, just before the file is renamed.
    """
    whose = People.named(people, frame.height)[content_order(frame)]
    with written(path) as draft:
        write_table(frame, draft, dictionary=dictionary)
        if least and (reached := count(read_written(draft, format_named(draft)), whose)) < least:
            raise CannotMeet(f"the written table has {what} {reached}, below k = {least}")
        if before is not None:
            before()


def as_stored(cells: pl.DataFrame) -> pl.DataFrame:
    """Cells that are equal only where their bits are, in columns named by number.

    polars would read a column name such as ``^a.*$`` as a pattern of names.
    """
    return pl.DataFrame([stored(bare(s)).alias(str(i)) for i, s in enumerate(cells.get_columns())])


def seen_cells(cells: pl.DataFrame, people: People) -> pl.DataFrame:
    """The cells as attackers see them: where rows are linked, with all rows of their person, too.

    Those are one text for each person, made of the rows in the order of their content, so that two
    people have the same text where all their rows are the same. Without any cells all rows are
    alike.

    >>> rows = pl.DataFrame({"job": ["cook", "judge", "judge", "cook", "judge"]})
    >>> seen_cells(rows, People.of([0, 0, 1, 1, 2]).linked())["all"].n_unique()
    2
    """
    rows = as_stored(cells) if cells.width else pl.DataFrame({"0": np.zeros(len(people), np.int64)})
    if not people.together or people.each_row:
        return rows
    # As texts with their lengths before them: no two lists of cells give the same text.
    texts = [
        pl.Series([_spelled(cell) for cell in column.to_list()], dtype=pl.String).alias(column.name)
        for column in rows.get_columns()
    ]
    spelled = pl.DataFrame([pl.Series("whose", people.codes), *texts])
    spelled = spelled.select("whose", row=pl.concat_str(pl.exclude("whose"), separator=";"))
    histories = spelled.with_columns(all=pl.col("row").sort().str.join("|").over("whose"))
    return rows.with_columns(all=histories["all"])


def _spelled(cell: bytes | int | None) -> str:
    text = "" if cell is None else cell.hex() if isinstance(cell, bytes) else str(cell)
    return f"{'-' if cell is None else len(text)}:{text}"


_BITS: dict[Any, Any] = {pl.Float16: np.uint16, pl.Float32: np.uint32, pl.Float64: np.uint64}


def stored(cells: pl.Series) -> pl.Series:
    """Cells as whole numbers or bytes: equal where they are stored alike, bit by bit.

    polars treats 0.0 and -0.0 as one value, and every NaN as another.
    """
    if cells.dtype == pl.String:
        return cells.cast(pl.Binary)
    if not cells.dtype.is_float():
        return cells.to_physical()
    bits = cells.fill_null(0).to_numpy().view(_BITS[cells.dtype.base_type()]).astype(np.uint64)
    return pl.Series(bits).zip_with(cells.is_not_null(), pl.Series([None], dtype=pl.UInt64))


def unlike_a_table(frame: pl.DataFrame) -> str:
    """What is wrong with the column types of a parquet file; empty where all are plain."""
    plain = (pl.Boolean, pl.String, pl.Date, pl.Time, pl.Datetime, pl.Duration)
    odd = [c for c, t in frame.schema.items() if not (t.is_numeric() or isinstance(t, plain))]
    if odd:
        return f"column {listed(odd)} holds neither numbers nor texts, booleans or dates"
    return ""


def hidden_in_parquet(path: Path) -> str:
    """What a parquet file reveals besides its rows and the types of its columns, in words."""
    extra = set(pl.read_parquet_metadata(path)) - {"ARROW:schema"}
    return f"the file reveals more than its rows, in {listed(sorted(extra))}" if extra else ""


def containment_by_bitmaps(
    cells: pl.DataFrame, people: PeopleLike = None, absences: int = 0
) -> int:
    """Anonymity by containment: the fewest rows, or people, that have all the ones of some row.

    Where up to `absences` zeros of a row are known, too, they are those that leave the fewest.

    Notes
    -----
    AC(D) of Zhang et al. (2017), Definitions 4 to 6, one AND per feature of each distinct row.
    Absences are searched exhaustively for each distinct row, cut short by a lower bound.

    >>> containment_by_bitmaps(pl.DataFrame({"a": ["1", "1", "1"], "b": ["1", "0", "1"]}))
    2
    """
    kinds, of_row = row_kinds(zeros_and_ones(cells))
    counts = np.bincount(of_row, minlength=len(kinds))
    order = np.argsort(of_row, kind="stable")
    who = People.named(people, len(of_row))
    whose = np.split(who.codes[order], np.cumsum(counts)[:-1])

    def crowd(some: NDArray[np.int64]) -> int:
        if who.each_row:
            return int(counts[some].sum())
        return len(np.unique(np.concatenate([whose[i] for i in some]))) if len(some) else 0

    least = who.count
    for kind, holders in zip(kinds, holders_of(kinds)):
        least = min(least, crowd(holders))
        if absences:
            lacked = np.flatnonzero(~kind)
            least = _left_out(kinds, holders, lacked, absences, crowd, least)
    return least


def _left_out(
    kinds: NDArray[np.bool_],
    alive: NDArray[np.int64],
    lacked: NDArray[np.int64],
    absences: int,
    crowd: Callable[[NDArray[np.int64]], int],
    least: int,
) -> int:
    """Fewest rows or people left once up to `absences` of the `lacked` columns are known absent.

    `alive` are the distinct rows still possible, `least` the best figure so far.
    """
    here = [(crowd(alive[kinds[alive, column]]), column) for column in lacked.tolist()]
    every = crowd(alive)
    # Columns are tried by how many they exclude, most first. A later set of columns excludes at
    # most `absences` times as many as its first one, as no column after that excludes more; so
    # `every - absences * out` is a lower bound for this column and all that follow.
    for place, (out, column) in enumerate(sorted(here, reverse=True)):
        if out == 0 or every - absences * out >= least:
            break
        rest = alive[~kinds[alive, column]]
        least = min(least, crowd(rest))
        if absences > 1:
            further = np.array([c for _, c in sorted(here, reverse=True)[place + 1 :]], np.int64)
            least = _left_out(kinds, rest, further, absences - 1, crowd, least)
    return least


def row_kinds(ones: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """The distinct rows, and the index of each row among them."""
    # Eight columns a byte: rows are compared and sorted as short byte strings.
    packed, of_row = np.unique(np.packbits(ones, axis=1), axis=0, return_inverse=True)
    kinds = np.unpackbits(packed, axis=1, count=ones.shape[1]).astype(np.bool_)
    return kinds, of_row.reshape(-1).astype(np.int64)


def holders_of(kinds: NDArray[np.bool_]) -> Iterator[NDArray[np.int64]]:
    """For each distinct row, the distinct rows that have all its ones: one AND per column.

    >>> [holders.tolist() for holders in holders_of(np.array([[False, False], [True, True]]))]
    [[0, 1], [1]]
    """
    bitmaps = np.packbits(kinds, axis=0).T.copy()
    everybody = np.packbits(np.ones(len(kinds), dtype=np.bool_))
    support = kinds.sum(axis=0)
    for kind in kinds:
        held = np.flatnonzero(kind)
        rarest_first = bitmaps[held[np.argsort(support[held], kind="stable")]]
        together = np.bitwise_and.reduce([everybody, *rarest_first], axis=0)
        # Most bytes are zero after the ANDs: only the others are unpacked, and bit i of those
        # left is bit i & 7 of the byte at filled[i >> 3].
        filled = np.flatnonzero(together)
        bits = np.flatnonzero(np.unpackbits(together[filled]))
        yield 8 * filled[bits >> 3] + (bits & 7)


def zeros_and_ones(cells: pl.DataFrame) -> NDArray[np.bool_]:
    """Cells of 0 and 1 as booleans; an error where there are others."""
    columns = {s.name: _ones(bare(s)) for s in cells.get_columns()}
    if odd := [name for name, ones in columns.items() if ones is None]:
        raise CannotMeet(
            f"anonymity by containment is promised, but column {listed(odd)} holds something "
            "other than 0 and 1"
        )
    return np.column_stack([ones for ones in columns.values() if ones is not None])


def _ones(cells: pl.Series) -> NDArray[np.bool_] | None:
    """Where a column has a 1; `None` if it holds something other than 0 and 1."""
    if cells.dtype.is_integer():  # with very many columns, casting them to texts would dominate
        known, ones = cells.is_between(0, 1), cells == 1
    else:
        texts = cells.cast(pl.String)
        known, ones = texts.is_in(["0", "1", "true", "false"]), texts.is_in(["1", "true"])
    mask: NDArray[np.bool_] = ones.to_numpy()
    return mask if known.fill_null(False).all() else None


Figures = dict[str, dict[str, int]]
Counts = tuple[Figures, int]
"""The figures of `recounted`, and the total of rows or people."""
Count = Callable[[list[str], str, bool], Counts]
"""Called with the known columns, the kind of crowd, and whether to count people, not rows."""


def wrong_exposure(count: Count, content: dict[str, Any], with_people: bool) -> str:
    """What is wrong with the exposure that a manifest states; empty where nothing is.

    Where people have several rows, the file does not say whose row is whose. Figures about rows
    are counted; figures about people are counted where these are known, and can otherwise only be
    compared with the rows.
    """
    said = content.get("exposure")
    if said is None:
        lacks = content.get("budget") is None
        return "the manifest does not say who is unique in the release" if lacks else ""
    if wrong := _wrong_words(said, content):
        return wrong
    known = said["known"]["columns"], said["known"]["kind"]
    in_rows = said.get("rows", said)
    if wrong := _unlike(in_rows, *count(*known, False)):
        return wrong
    promised = together(content["promises"])
    if content["promises"] and sorted(known[0]) != promised:
        return "unique rows are counted over different columns from those of the promise"
    if known[1] != _kind_promised(content):
        return (
            "unique rows are counted by other rows than are promised: equal ones, those equal for "
            "all attackers together, or by containment"
        )
    if said is in_rows:
        return ""
    linked = any(column["role"] == "link" for column in content["columns"])
    if not linked and (wrong := _wrong_people(said, in_rows)):  # else groups are not the same
        return wrong
    if not with_people:
        return ""
    figures, total = count(*known, True)
    return _unlike(said, _shown(figures, said["asked"]), total)


def _kind_promised(content: dict[str, Any]) -> str:
    """How exposure is counted: by containment only where nothing else is promised.

    A promise without any columns left counts as one about equal rows.
    """
    promises = content["promises"]
    alone = {entry["key"] for entry in promises} == {"containment_anonymity"}
    if len({p.get("attacker") for p in promises if p["key"] == "k_anonymity"}) > 1:
        return "together"
    return "containment" if alone and promises[0]["columns"] else "equal"


def together(promises: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns that attackers may know; the union over attackers where there are several.

    >>> together([{"key": "k_anonymity", "attacker": a, "columns": [a, "zip"]} for a in "ab"])
    ['a', 'b', 'zip']
    """
    known = promises[:1]
    if any("attacker" in entry for entry in promises):
        known = [entry for entry in promises if entry["key"] == "k_anonymity"]
    return sorted({column for entry in known for column in entry["columns"]})


def wrong_attackers(content: dict[str, Any], recipe: Mapping[str, Any]) -> str:
    """What the recipe asks against an attacker that no entry of the manifest states as strongly.

    The recipe names columns of the original; in the file, the attacker may know every column made
    of them.
    """
    shown = [(c["name"], c.get("made_of", c["name"])) for c in content["columns"]]
    features = {c["name"] for c in content["columns"] if c["role"] == "feature"}
    stated = [*content["promises"], *content.get("diversity", ()), *recipe.get("diversity", ())]
    for asked in recipe.get("attackers", ()):
        wanted = {n for n, of in shown if n in features and of in asked["columns"]}
        mine = [e for e in stated if _is_about(e, asked) and wanted == {*e["columns"]}]
        figures = {key: asked[key] for key in ASKED if key in asked}
        if not any(_keeps(entry, figures) for entry in mine):
            whose = f"attacker {asked['attacker']!r}" if "attacker" in asked else "who has no name"
            return f"{asked['key']} is asked for against {whose}, and nothing as strong is stated"
    return ""


ASKED = ("kind", "distance", "c", "at_least", "at_most", "below", "absences", "rows")
"""The keys of an entry that set its strength."""


def _is_about(entry: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """Whether an entry is about the key, attacker and sensitive column, if any, that are asked."""
    about = ("key", "attacker", "column")
    return all(entry.get(part) == asked.get(part) for part in about)


def _keeps(entry: Mapping[str, Any], figures: Mapping[str, Any]) -> bool:
    """Whether an entry is as strong as asked: equal figures, or at least as many people."""
    return all(
        entry.get(key, 0) >= figure if key == "at_least" else entry.get(key) == figure
        for key, figure in figures.items()
    )


def wrong_known(content: dict[str, Any], named: Collection[str] | None) -> str:
    """Why the promises do not cover the columns that the holder named as known to attackers.

    Whoever knows such a column knows its zeros, too, so a k-anonymity over all of them that are
    released must be promised. `named` is `None` where the holder named none.
    """
    if named is None or content.get("budget") is not None:
        return ""
    features = [column for column in content["columns"] if column["role"] == "feature"]
    shown = {c["name"] for c in features if c.get("made_of", c["name"]) in named}
    equal = [set(p["columns"]) for p in content["promises"] if p["key"] == "k_anonymity"]
    if not shown or any(shown <= columns for columns in equal):
        return ""
    return (
        f"column {listed(sorted(shown))} shows what attackers may know, but no k-anonymity over "
        "all such columns is promised"
    )


def _wrong_words(said: dict[str, Any], content: dict[str, Any]) -> str:
    """What in the unit, or in the k asked for, contradicts the promises."""
    units = {"rows", *(entry["unit"] for entry in content["promises"])}
    if said.get("unit") not in units:
        return "who is unique is counted in another unit than the promises"
    asked, least = said.get("asked"), [entry["at_least"] for entry in content["promises"]]
    if type(asked) is not int or not 1 <= asked <= min(least, default=asked):
        return "the k that was asked for is missing, or is larger than what is promised"
    return ""


def _unlike(said: dict[str, Any], counted: Mapping[str, Mapping[str, Any]], total: int) -> str:
    """The first stated figure that differs from the counted one, in words."""
    for part, figures in {**counted, "": {"total": total}}.items():
        entries = said[part] if part else said
        for name, value in figures.items():
            if entries[name] != value or type(entries[name]) is not type(value):
                words = f"{name} of {part.replace('_', ' ')}" if part else "the total"
                return f"{words} is {value}, but the manifest says {entries[name]!r}"
    return ""


def _shown(counted: Figures, k: int) -> dict[str, dict[str, Any]]:
    """Figures about people, with null for those from 1 to k - 1, which a manifest withholds."""
    shown: dict[str, dict[str, Any]] = {
        part: {
            name: value if name == "of" or not 0 < value < k else None for name, value in f.items()
        }
        for part, f in counted.items()
    }
    if shown["same_target"]["members"] is None:
        shown["same_target"]["groups"] = None
    else:
        shown["same_target"]["groups"] = counted["same_target"]["groups"]
    return shown


def _wrong_people(said: dict[str, Any], in_rows: dict[str, Any]) -> str:
    """Figures about people that exceed those about rows, which no group can have."""
    if said["known"]["columns"] != in_rows["known"]["columns"]:
        return "people and rows are counted over different columns"
    if not 0 < said["total"] < in_rows["total"]:
        return "there are not fewer people than rows"
    for part, name in (("known", "k"), ("everything", "k"), ("same_target", "members")):
        value = said[part][name]
        if value is not None and not 0 <= value <= in_rows[part][name]:
            return f"{name} of {part.replace('_', ' ')} is larger for people than for rows"
    return ""


def count_alone(
    frame: pl.DataFrame, known: list[str], kind: str, target: str, people: PeopleLike = None
) -> Counts:
    """The figures of `recounted`, and the total of rows or people."""
    figures = recounted(frame, known, kind, target, people)
    return figures, People.named(people, frame.height).count


def recounted(
    frame: pl.DataFrame,
    known: list[str],
    kind: str,
    target: str,
    people: PeopleLike = None,
) -> Figures:
    """The exposure of a table, as `tamis.analyse.crowds` defines it, in rows or people.

    >>> rows = pl.DataFrame({"job": ["cook", "cook", "judge"], "ill": ["no", "yes", "no"]})
    >>> recounted(rows, ["job"], "equal", "ill")["known"]
    {'k': 1, 'unique': 1}
    """
    if missing := [c for c in (*known, target) if c not in frame.columns]:
        raise CannotMeet(f"column {listed(missing)} is listed as known but is not in the file")
    label = frame.get_column(target)
    who = pl.Series(People.named(people, frame.height).codes)
    cells = [frame.get_column(c) for c in known]
    whose = People.named(people, frame.height)
    if kind == "containment":
        part = _of_holders(cells, label, who)
    else:
        part = _of_equals(cells, label, whose)
    same = part.filter("same")
    return {
        "known": _smallest(part),
        "everything": _smallest(_of_equals(frame.get_columns(), label, whose)),
        "same_target": {"groups": same.height, "of": part.height, "members": _members(same)},
    }


def _smallest(kinds: pl.DataFrame) -> dict[str, int]:
    least: Any = kinds["crowd"].min()
    return {"k": int(least), "unique": _members(kinds.filter(pl.col("crowd") == 1))}


def _members(kinds: pl.DataFrame) -> int:
    return kinds["members"].explode(empty_as_null=False).n_unique() if kinds.height else 0


def _of_equals(cells: list[pl.Series], label: pl.Series, people: People) -> pl.DataFrame:
    """One line for each distinct row: its members, its crowd, whether the crowd shares the label.

    Without any cells all rows are alike; linked rows still differ by how many their person has.
    """
    keys = seen_cells(pl.DataFrame([s.alias(str(i)) for i, s in enumerate(cells)]), people)
    return (
        keys.with_columns(label=label, who=pl.Series(people.codes))
        .group_by(keys.columns)
        .agg(
            members=pl.col("who"),
            crowd=pl.col("who").n_unique(),
            same=pl.col("label").n_unique() == 1,
        )
    )


def _of_holders(cells: list[pl.Series], label: pl.Series, who: pl.Series) -> pl.DataFrame:
    """Like `_of_equals`, where the crowd of a row is all who have everything that it has."""
    ones = zeros_and_ones(pl.DataFrame([s.alias(str(i)) for i, s in enumerate(cells)]))
    labels = label.cast(pl.String).rank("dense").fill_null(0).to_numpy()
    people = who.to_numpy()
    kinds, of_row = row_kinds(ones)
    rows = _places(of_row, len(kinds))
    # A crowd shares one label where the smallest and the largest of its labels are the same.
    low, high = (np.array([end(labels[r]) for r in rows]) for end in (np.min, np.max))
    sizes = np.array([len(r) for r in rows]) if who.n_unique() == len(who) else None
    lines = []
    for number, holders in enumerate(holders_of(kinds)):
        if sizes is None:
            crowd = len(np.unique(people[np.concatenate([rows[i] for i in holders])]))
        else:  # each row is a person
            crowd = int(sizes[holders].sum())
        same = bool(low[holders].min() == high[holders].max())
        lines.append((people[rows[number]].tolist(), crowd, same))
    return pl.DataFrame(lines, schema=["members", "crowd", "same"], orient="row")


def _places(of_row: NDArray[np.int64], kinds: int) -> list[NDArray[np.int64]]:
    """The row indices of each distinct row."""
    order = np.argsort(of_row, kind="stable")
    return np.split(order, np.cumsum(np.bincount(of_row, minlength=kinds))[:-1])
