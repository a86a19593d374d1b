"""`Roles` and `Table`: the records of a table that everything else passes around."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import InputError, listed, listed_as, plural
from tamis.notebook import html_table, in_short, quoted
from tamis.people import (
    People,
    PersonCandidate,
    candidates_of,
    coarsest,
    deciding,
    is_code,
    join_codes,
    value_codes,
)

if TYPE_CHECKING:
    from typing import Self

Kind = Literal["number", "nominal", "date"]
Unit = Literal["people", "rows"]
"""What is counted."""


Code = int | float | str


class ColumnText(NamedTuple):
    """A column's metadata in a statistical file: its question, and the code of each label."""

    question: str = ""
    codes: Mapping[str, Code] = {}


Dictionary = Mapping[str, ColumnText]
"""Metadata of a statistical file's columns, by name."""


@dataclass(frozen=True)
class Roles:
    """The role of each column.

    Parameters
    ----------
    target : str, optional
        The column that a recipient will learn to predict.
    sensitive : str or sequence of str, optional
        The column that must stay hard to guess; by default the target. If several are given, this
        keeps the first; the others become `also_sensitive`.
    quasi : tuple of str, optional
        Quasi-identifiers: columns that an attacker may know; by default all features.
    identifiers : tuple of str
        Columns that name a person; never released, never analysed.
    dropped : tuple of str
        Columns to ignore and never release.
    plain : tuple of str
        Features that the data holder has approved: they may be released even if they look like
        identifiers or like copies of the target, see `tamis.read.keys` and `tamis.read.copies`, and
        may be quasi-identifiers as well. One of several sensitive columns may be named here, too:
        it may then be released, and is judged by what it tells of the others.
    person : tuple of str, optional
        Identifiers that together distinguish people; an empty tuple means that every row is a
        different person. By default inferred from the identifiers, see `Table.people`.
    weight : str, optional
        The column of sampling weights: how many people of the population each row stands for. Never
        released, unless it is also named as `plain`.
    also_sensitive : tuple of str
        Further columns that must stay hard to guess.
    exact_identifiers : bool
        Whether identifiers that differ only in capital letters, blanks or Unicode forms are
        different people; by default they are one person, the cautious way to count.
    link : str, optional
        The released column whose numbers link the rows of each person; people are then compared by
        all of their rows, see `tamis.risk.grouping.seen_together`.

    Examples
    --------
    >>> roles = Roles(target="income", quasi=("age", "sex"), identifiers=("ssn",))
    >>> roles.named()
    ['income', 'age', 'sex', 'ssn']
    """

    target: str | None = None
    sensitive: str | None = None
    quasi: tuple[str, ...] | None = None
    identifiers: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    person: tuple[str, ...] | None = None
    exact_identifiers: bool = False
    weight: str | None = None
    also_sensitive: tuple[str, ...] = ()
    link: str | None = None

    def __post_init__(self) -> None:
        self._split_sensitive()
        for name in ("quasi", "identifiers", "dropped", "plain", "person", "also_sensitive"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise InputError(f"roles: {name} must be a list of column names, got a string")
            if value is not None:
                object.__setattr__(self, name, tuple(value))
        self._refuse_two_roles()
        if strange := [c for c in self.person or () if c not in self.identifiers]:
            raise InputError(
                f"{listed_as('column', strange, 'is', 'are')} declared to distinguish people, so "
                "each must be an identifier; pass it to --identifier as well"
            )

    def _split_sensitive(self) -> None:
        """Split a list of sensitive columns into `sensitive` and `also_sensitive`."""
        given: Any = self.sensitive
        if given is None or isinstance(given, str):
            return
        # Told is not measured for the target, nor for secrets that may be released, so these
        # come first only if there is no other.
        shown = {self.target, *self.plain}
        first, *others = sorted(given, key=lambda name: name in shown) or [None]
        object.__setattr__(self, "sensitive", first)
        object.__setattr__(self, "also_sensitive", (*others, *self.also_sensitive))

    def _refuse_two_roles(self) -> None:
        taken: dict[str, str] = {}
        secrets = [self.sensitive, *self.also_sensitive]
        if twice := sorted({c for c in secrets if c is not None and secrets.count(c) > 1}):
            raise InputError(f"{listed_as('sensitive column', twice)} is named twice; name it once")
        if self.sensitive is not None and self.sensitive in self.plain:
            raise InputError(
                f"sensitive column {self.sensitive!r} is a feature as well, so it may be released, "
                "and there is no other secret to judge releases by; name another one, or leave "
                "one of the two roles out"
            )
        for role, columns in (
            ("target", [self.target]),
            ("sensitive", [c for c in secrets if c != self.target]),
            ("quasi-identifier", self.quasi or ()),
            ("identifier", self.identifiers),
            ("dropped", self.dropped),
            ("feature", self.plain),
            ("weight", [None if self.weight in self.plain else self.weight]),
        ):
            for column in columns:
                if column is None:
                    continue
                if role == "feature" and taken.get(column) in ("quasi-identifier", "sensitive"):
                    continue  # approved features may also be quasi-identifiers or secrets
                if column in taken:
                    raise InputError(
                        f"column {column!r} has two roles, {taken[column]} and {role}; "
                        "give each column one role"
                    )
                taken[column] = role

    def __repr__(self) -> str:
        many = (("quasi-identifier", self.quasi), ("identifier", self.identifiers))
        return in_short(
            self,
            self.target and f"target {quoted(self.target)}",
            self.sensitive and f"sensitive {quoted(self.sensitive)}",
            *(plural(len(names), noun) for noun, names in many if names),
            plural(len(self.dropped), "dropped column") if self.dropped else None,
        )

    def named(self) -> list[str]:
        """All columns with a role, in the order of the roles."""
        each = (self.target, self.sensitive, *self.also_sensitive, self.weight)
        single = [c for c in each if c is not None]
        return list(dict.fromkeys([*single, *(self.quasi or ()), *self.identifiers, *self.dropped]))


class TargetBins(NamedTuple):
    """The classes that a numeric target was cut into: inclusive upper ends, and labels."""

    cuts: tuple[float, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Table:
    """A polars frame and the role of each column. Never mutated.

    Dropped columns are not in the frame. Identifiers are, so that a release can be checked for
    them, but they are never features. Values are in canonical form: zero has no sign, NaN is
    missing, and an `Enum` has only the categories that occur.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [31, 47], "job": ["cook", "judge"], "ill": ["no", "yes"]})
    >>> table = Table(frame, Roles(target="ill"))
    >>> table.features
    ('age', 'job')
    >>> table.kind("job")
    'nominal'
    """

    frame: pl.DataFrame
    roles: Roles = field(default_factory=Roles)
    library: str = "polars"
    unlabelled: int = 0
    """Number of rows without a label that were left out on reading."""
    dictionary: Dictionary = field(default_factory=dict)
    """Questions and codes of labels, from a statistical file."""
    target_bins: TargetBins | None = None
    """The classes that a numeric target was cut into."""

    def __post_init__(self) -> None:
        unknown = [c for c in self.roles.named() if c not in self.frame.columns]
        unknown = [c for c in unknown if c not in self.roles.dropped]
        if unknown:
            raise InputError(
                f"no {listed_as('column', unknown)} in the table; its columns are "
                f"{listed(self.frame.columns, most=30)}"
            )
        kept = [c for c in self.frame.columns if c not in self.roles.dropped]
        object.__setattr__(self, "frame", one_form(only(self.frame, kept)))

    @property
    def rows(self) -> int:
        return self.frame.height

    @property
    def target(self) -> str:
        """The target column; raise if none was named."""
        if self.roles.target is None:
            raise InputError("this needs a target column; name it with target=... or --target COL")
        return self.roles.target

    @property
    def sensitive(self) -> str | None:
        """The sensitive column; the target if none was named."""
        return self.roles.sensitive or self.roles.target

    @property
    def secrets(self) -> tuple[str, ...]:
        """All sensitive columns, the main one first; the target if none was named."""
        return () if self.sensitive is None else (self.sensitive, *self.roles.also_sensitive)

    @property
    def released_secrets(self) -> tuple[str, ...]:
        """The sensitive columns that the data holder approved for release."""
        return tuple(c for c in self.roles.also_sensitive if c in self.roles.plain)

    @property
    def secret_words(self) -> str:
        """The sensitive columns in words, without the target if there are others.

        >>> frame = pl.DataFrame({"ill": [1], "flu": [0], "cold": [1]})
        >>> Table(frame).with_roles(target="ill", sensitive=["ill", "flu", "cold"]).secret_words
        'flu or cold'
        """
        shown = {self.roles.target, *self.released_secrets}
        hidden = [c for c in self.secrets if c not in shown]
        return " or ".join(hidden or self.secrets)

    @cached_property
    def features(self) -> tuple[str, ...]:
        """Columns that may be released as features, in the order of the table."""
        held = {self.roles.target, *self.roles.also_sensitive, self.roles.sensitive}
        held = held - {*self.released_secrets} | {*self.held_back}
        return tuple(c for c in self.frame.columns if c not in held)

    @property
    def held_back(self) -> tuple[str, ...]:
        """Columns that are never released: identifiers, and a weight unless it is `plain`."""
        weight = self.roles.weight
        hidden = () if weight is None or weight in self.roles.plain else (weight,)
        return (*self.roles.identifiers, *hidden)

    @property
    def quasi(self) -> tuple[str, ...]:
        """Columns that an attacker may know: those named, else all features except secrets."""
        if self.roles.quasi is not None:
            return self.roles.quasi
        secret = self.released_secrets
        return tuple(c for c in self.features if c not in secret) if secret else self.features

    @cached_property
    def people(self) -> People:
        """The person of each row.

        People are distinguished by `Roles.person`, else by the identifiers that may determine it,
        see `tamis.people.deciding`: a number rather than a name, a patient rather than a stay. Of
        these, one that determines another is finer than a person and is ignored; the others count
        together. Rows with missing identifiers are one person's, since nothing shows otherwise, and
        so are identifiers that differ only in spelling (`one_spelling`), unless
        `Roles.exact_identifiers`.

        >>> stays = pl.DataFrame({"stay": [1, 2, 3], "patient": ["a", "a", "b"], "ill": [0, 1, 1]})
        >>> Table(stays, Roles(target="ill", identifiers=("stay", "patient"))).people.codes.tolist()
        [0, 0, 1]
        """
        if not self._person_codes:
            return People.of_rows(self.rows)
        people = People.of(join_codes(self._person_codes.values()))
        return people if self.roles.link is None else people.linked()

    @property
    def person_columns(self) -> tuple[str, ...]:
        """The identifiers that distinguish people; empty if none do.

        >>> stays = pl.DataFrame({"stay": [1, 2, 3], "patient": ["a", "a", "b"], "ill": [0, 1, 1]})
        >>> Table(stays, Roles(target="ill", identifiers=("stay", "patient"))).person_columns
        ('patient',)
        """
        return tuple(self._person_codes)

    @cached_property
    def _person_codes(self) -> dict[str, NDArray[np.int64]]:
        if self.roles.person is not None:
            return {c: self._identifier_codes[c] for c in self.roles.person}
        return coarsest({c: self._identifier_codes[c] for c in self._deciding})

    @cached_property
    def _identifier_codes(self) -> dict[str, NDArray[np.int64]]:
        columns = {c: self.frame.get_column(c) for c in self.roles.identifiers}
        exact = self.roles.exact_identifiers
        return {c: value_codes(s if exact else one_spelling(s)) for c, s in columns.items()}

    @property
    def _deciding(self) -> list[str]:
        columns = {c: self.frame.get_column(c) for c in self.roles.identifiers}
        distinct = {c: int(n.max(initial=-1)) + 1 for c, n in self._identifier_codes.items()}
        return deciding(columns, distinct)

    @cached_property
    def person_candidates(self) -> tuple[PersonCandidate, ...]:
        """The people that each identifier would give, the finest first.

        >>> stays = pl.DataFrame({"stay": [1, 2, 3], "patient": ["a", "a", "b"], "ill": [0, 1, 1]})
        >>> table = Table(stays, Roles(target="ill", identifiers=("stay", "patient")))
        >>> for candidate in table.person_candidates:
        ...     print(candidate.words())
        by 'stay' 3 people with one row each
        by 'patient' 2 people with 1.5 rows each
        """
        return tuple(candidates_of(self._identifier_codes))

    @property
    def open_candidates(self) -> tuple[PersonCandidate, ...]:
        """Candidates that only the holder can decide between; empty if stated or clear."""
        if self.roles.person is not None:
            return ()
        codes = {c: self._identifier_codes[c] for c in self._deciding}
        numbers = [c for c in codes if is_code(self.frame.get_column(c))]
        candidates = candidates_of(codes)
        differ = len({each.people for each in candidates}) > 1
        return tuple(candidates) if len(numbers) > 1 and differ else ()

    def respelt(self) -> dict[str, int]:
        """Number of spellings of each person column that were merged with another one.

        >>> twice = pl.DataFrame({"who": ["p1", "P1 ", "p2", "p2"], "ill": [0, 1, 1, 0]})
        >>> Table(twice, Roles(target="ill", identifiers=("who",))).respelt()
        {'who': 1}
        """
        columns = {c: bare(self.frame.get_column(c)) for c in self.person_columns}
        merged = {
            c: cells.n_unique() - one_spelling(cells).n_unique() for c, cells in columns.items()
        }
        return {} if self.roles.exact_identifiers else {c: n for c, n in merged.items() if n}

    @property
    def everybody(self) -> int:
        """Number of people; of rows, if each row is a person."""
        return self.people.count

    @property
    def unit(self) -> Unit:
        """What is counted: "people" if the roles identify people, else "rows"."""
        return "people" if self.roles.identifiers or self.roles.person is not None else "rows"

    def only(self, columns: Iterable[str]) -> pl.DataFrame:
        """Select columns by exact name; polars reads ``"^a.*$"`` or ``"*"`` as patterns.

        >>> Table(pl.DataFrame({"*": [1], "b": [2]})).only(["*"]).columns
        ['*']
        """
        return only(self.frame, columns)

    def kind(self, column: str) -> Kind:
        """`"number"`, `"date"` (also with a time of day) or `"nominal"`."""
        return kind_of(self.frame.get_column(column).dtype)

    def role(self, column: str) -> str:
        """The role of a column, in words.

        >>> Table(pl.DataFrame({"age": [31], "ill": ["no"]}), Roles(target="ill")).role("ill")
        'target'
        """
        if column in self.roles.identifiers:
            return "identifier"
        if column == self.roles.weight:
            return "weight"
        named = {"target": self.roles.target, "sensitive": self.roles.sensitive}
        words = ", ".join(word for word, name in named.items() if name == column)
        words = "sensitive" if column in self.roles.also_sensitive and not words else words
        return words or ("quasi-identifier" if column in self.quasi else "feature")

    def __repr__(self) -> str:
        roles = self.roles
        return in_short(
            self,
            plural(self.rows, "row"),
            plural(len(self.features), "feature"),
            roles.target and f"target {quoted(roles.target)}",
            roles.sensitive and f"sensitive {quoted(roles.sensitive)}",
        )

    def _repr_html_(self) -> str:
        lines = (
            [c, self.role(c), self.kind(c), self.frame.get_column(c).null_count()]
            for c in self.frame.columns
        )
        title = f"Table: {plural(self.rows, 'row')}, {plural(self.frame.width, 'column')}"
        return html_table(title, ["column", "role", "kind", "missing"], lines)

    def native(self) -> Any:
        """The frame in its original library: what came in as pandas goes out as pandas."""
        if self.library == "pandas":
            return self.frame.to_pandas()
        return self.frame.to_arrow() if self.library == "pyarrow" else self.frame

    def with_roles(self, **changes: Any) -> Self:
        """The same rows with other roles."""
        return replace(self, roles=replace(self.roles, **changes))

    def select(self, features: Iterable[str]) -> Self:
        """The same rows with only these features, plus target, sensitive and identifiers."""
        keep = set(features)
        unknown = [c for c in keep if c not in self.features]
        if unknown:
            raise InputError(
                f"no {listed_as('feature', sorted(unknown))}; the features are "
                f"{listed(self.features, most=30)}"
            )
        gone = set(self.features) - keep
        roles, quasi = self.roles, self.roles.quasi
        if quasi is not None:
            roles = replace(roles, quasi=tuple(c for c in quasi if c not in gone))
        held = [c for c in self.frame.columns if c not in gone]
        return replace(self, frame=self.only(held), roles=roles)


def kind_of(dtype: pl.DataType) -> Kind:
    """The kind of values of a column type.

    >>> kind_of(pl.Int8()), kind_of(pl.Datetime()), kind_of(pl.Boolean())
    ('number', 'date', 'nominal')
    """
    if dtype in (pl.Date, pl.Datetime, pl.Time):
        return "date"
    return "number" if dtype.is_numeric() else "nominal"


def only(frame: pl.DataFrame, columns: Iterable[str]) -> pl.DataFrame:
    """Select columns of a frame by exact name."""
    return frame_of_columns([frame.get_column(name) for name in columns], frame.height)


def frame_of_columns(columns: Sequence[pl.Series], height: int) -> pl.DataFrame:
    """A frame of some columns that keeps its number of rows even without columns.

    >>> frame_of_columns([], 3).shape
    (3, 0)
    """
    return pl.DataFrame(columns) if columns else pl.DataFrame(height=height)


def bare(column: pl.Series) -> pl.Series:
    """The series without its name: most methods of a series read ``"^a.*$"`` as a pattern."""
    return column.alias("")


def one_form(frame: pl.DataFrame, *, texts: bool = False) -> pl.DataFrame:
    """Values in canonical form, so that cells that count as equal are published as equal.

    Zero has no sign, NaN is missing, an `Enum` has only the categories that occur; with `texts`,
    categories become text.

    >>> one_form(pl.DataFrame({"x": [-0.0, 0.0, float("nan")]}))["x"].to_list()
    [0.0, 0.0, None]
    """
    columns = [_one_form(bare(s), texts).alias(s.name) for s in frame.get_columns()]
    return frame_of_columns(columns, frame.height)


def sort_by_content(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows in canonical form, sorted by content, as in every written table.

    >>> sort_by_content(pl.DataFrame({"x": [2, None, 10], "y": ["b", "a", "b"]})).rows()
    [(None, 'a'), (2, 'b'), (10, 'b')]
    """
    rows = one_form(frame, texts=True)
    return rows[content_order(rows)] if rows.width else rows


def content_order(frame: pl.DataFrame, *ties: NDArray[np.int64]) -> NDArray[np.int64]:
    """Row numbers sorted by content; `ties` orders equal rows.

    Ascending by the columns from left to right: missing first, text by bytes, numbers by value,
    false before true. The result depends on the set of rows alone: no seed is involved, and nothing
    is left of the original order.

    >>> content_order(pl.DataFrame({"x": ["b", "a", "b"]}), np.array([7, 0, 3])).tolist()
    [1, 2, 0]
    """
    cells = (*one_form(frame, texts=True).get_columns(), *map(pl.Series, ties))
    # Named by number, since polars reads some names as patterns.
    keys = pl.DataFrame([cell.alias(str(i)) for i, cell in enumerate(cells)])
    if not keys.width:
        return np.arange(frame.height)
    placed = keys.select(pl.arg_sort_by(keys.columns, nulls_last=False, maintain_order=True))
    order: NDArray[np.int64] = placed.to_series().to_numpy().astype(np.int64)
    return order


def number_people(rows: pl.DataFrame, people: People, *ties: NDArray[np.int64]) -> People:
    """Renumber people by content: in the order of the sorted lists of their rows.

    The original numbers follow the order of identifiers, to which a number drawn with a known seed
    could be traced back. Among people with equal rows any order will do: they look the same.

    >>> numbered = number_people(pl.DataFrame({"x": ["b", "a", "b"]}), People.of([0, 1, 1]))
    >>> numbered.codes.tolist()
    [1, 0, 0]
    """
    if people.each_row:
        return people
    order = content_order(rows, *ties)
    cells = (*one_form(rows, texts=True).get_columns(), *map(pl.Series, ties))
    placed = pl.DataFrame([cell.alias(str(i)) for i, cell in enumerate(cells)])[order]
    content = np.zeros(len(order), np.int64)
    if placed.width:
        content = placed.select(pl.struct(pl.all()).rle_id()).to_series().to_numpy()
    whose = pl.DataFrame({"whose": people.codes[order], "content": content})
    # Ties go by the given number, so that people with equal rows have the same order in every
    # call, and one step's draws refer to the same people as the next step's.
    lists = whose.group_by("whose").agg("content")
    sorted_people = lists.sort("content", "whose")["whose"].to_numpy()
    numbers = np.empty(people.radix, dtype=np.int64)
    numbers[sorted_people] = np.arange(len(sorted_people))
    return people.with_numbers(numbers[people.codes])


def _one_form(column: pl.Series, texts: bool) -> pl.Series:
    if column.dtype.is_float():
        # Adding 0.0 would not do: polars optimises such a sum away.
        zero = pl.Series([0.0], dtype=column.dtype)
        return zero.zip_with(column == 0, column).fill_nan(None)
    if texts and isinstance(column.dtype, pl.Categorical | pl.Enum):
        return column.cast(pl.String)
    return _only_used(column) if isinstance(column.dtype, pl.Enum) else column


def _only_used(column: pl.Series) -> pl.Series:
    texts = column.cast(pl.String)
    used = set(bare(texts).unique())
    categories = [c for c in column.dtype.categories if c in used]  # type: ignore[attr-defined]
    return texts.cast(pl.Enum(categories))


BLANKS = r"[\t\n\x0b\x0c\r ]+"
"""Characters that count as one blank in an ASCII identifier."""


def one_spelling(column: pl.Series) -> pl.Series:
    """Texts without differences in capitals, blanks and Unicode forms, to compare names by.

    >>> one_spelling(pl.Series(["P1 ", "p1", "\uff50\uff11", "Ann\u00a0 Lee", None])).to_list()
    ['p1', 'p1', 'p1', 'ann lee', None]
    """
    if isinstance(column.dtype, pl.Categorical | pl.Enum):
        column = column.cast(pl.String)
    if column.dtype != pl.String:
        return column
    # Format characters (Cf), such as a zero-width space, are invisible.
    texts = bare(column).str.normalize("NFKC").str.to_lowercase().str.replace_all(r"\p{Cf}", "")
    return texts.str.replace_all(r"\s+", " ").str.strip_chars().alias(column.name)
