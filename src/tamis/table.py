"""The records that everything else passes around: `Roles` and `Table`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import InputError, listed, listed_as, plural
from tamis.notebook import html_table, in_short, quoted

if TYPE_CHECKING:
    from typing import Self

Kind = Literal["number", "nominal", "date"]


@dataclass(frozen=True)
class Roles:
    """What each column is for.

    Parameters
    ----------
    target : str, optional
        The column that a recipient will learn to predict.
    sensitive : str, optional
        The column that must stay hard to guess; by default the target.
    quasi : tuple of str, optional
        Columns an attacker may know; by default all features.
    identifiers : tuple of str
        Columns that name a person; never released, never analysed.
    dropped : tuple of str
        Columns to ignore and never release.
    plain : tuple of str
        Ordinary features that the data holder has looked at: released even if they look like
        keys, see `tamis.read.keys`.
    person : tuple of str, optional
        Identifiers that together distinguish people; an empty tuple means that every row is a
        different person. By default inferred from the identifiers, see `Table.people`.

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

    def __post_init__(self) -> None:
        for name in ("quasi", "identifiers", "dropped", "plain", "person"):
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

    def _refuse_two_roles(self) -> None:
        taken: dict[str, str] = {}
        sensitive = self.sensitive if self.sensitive != self.target else None
        for role, columns in (
            ("target", [self.target]),
            ("sensitive", [sensitive]),
            ("quasi-identifier", self.quasi or ()),
            ("identifier", self.identifiers),
            ("dropped", self.dropped),
            ("feature", self.plain),
        ):
            for column in columns:
                if column is None:
                    continue
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
        """All columns that have a role, in the order of the roles."""
        single = [c for c in (self.target, self.sensitive) if c is not None]
        return list(dict.fromkeys([*single, *(self.quasi or ()), *self.identifiers, *self.dropped]))


@dataclass(frozen=True, eq=False)
class Table:
    """A polars frame and the role of each column. Never mutated.

    Dropped columns are not in the frame; identifiers still are, so that a release can
    be checked for them, but they are never features. Values are stored in one form: zero has no
    sign, NaN is missing, and an `Enum` has only the categories that occur.

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
    """How many rows without a label were left out when it was read."""

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
        """The target column; an error if none was named."""
        if self.roles.target is None:
            raise InputError("this needs a target column; name it with target=... or --target COL")
        return self.roles.target

    @property
    def sensitive(self) -> str | None:
        """The sensitive column; the target if none was named."""
        return self.roles.sensitive or self.roles.target

    @cached_property
    def features(self) -> tuple[str, ...]:
        """The columns that may be released as features, in the order of the table."""
        held = {self.roles.target, self.roles.sensitive, *self.roles.identifiers}
        return tuple(c for c in self.frame.columns if c not in held)

    @property
    def quasi(self) -> tuple[str, ...]:
        """The columns an attacker may know: those named, or else all features."""
        return self.features if self.roles.quasi is None else self.roles.quasi

    @cached_property
    def people(self) -> NDArray[np.int64] | None:
        """The number of the person each row is about; `None` if every row is a different person.

        People are distinguished by `Roles.person`, or else by all identifiers together. An
        identifier that determines another (a hospital stay determines the patient) is finer than a
        person and is ignored; so is a constant one, unless all are constant. Rows without
        identifiers count as one person's, since nothing shows that they are not.

        >>> stays = pl.DataFrame({"stay": [1, 2, 3], "patient": ["a", "a", "b"], "ill": [0, 1, 1]})
        >>> Table(stays, Roles(target="ill", identifiers=("stay", "patient"))).people.tolist()
        [0, 0, 1]
        """
        if not self._person_codes:
            return None
        people = _joined(self._person_codes.values())
        return None if people.max(initial=-1) + 1 == self.rows else people

    @property
    def told_apart_by(self) -> tuple[str, ...]:
        """The identifiers that distinguish people; empty if none do.

        >>> stays = pl.DataFrame({"stay": [1, 2, 3], "patient": ["a", "a", "b"], "ill": [0, 1, 1]})
        >>> Table(stays, Roles(target="ill", identifiers=("stay", "patient"))).told_apart_by
        ('patient',)
        """
        return tuple(self._person_codes)

    @cached_property
    def _person_codes(self) -> dict[str, NDArray[np.int64]]:
        person = self.roles.person
        naming = self.roles.identifiers if person is None else person
        codes = {c: _codes(self.frame.get_column(c)) for c in naming}
        return _coarsest(codes) if person is None else codes

    @property
    def everybody(self) -> int:
        """The number of people; the number of rows if each row is a person."""
        return self.rows if self.people is None else int(self.people.max()) + 1

    @property
    def unit(self) -> Literal["people", "rows"]:
        """What counts refer to: "people" if the roles say who the rows are about, else "rows"."""
        return "people" if self.roles.identifiers or self.roles.person is not None else "rows"

    def only(self, columns: Iterable[str]) -> pl.DataFrame:
        """Select columns by exact name; polars would take ``"^a.*$"`` or ``"*"`` for patterns.

        >>> Table(pl.DataFrame({"*": [1], "b": [2]})).only(["*"]).columns
        ['*']
        """
        return only(self.frame, columns)

    def kind(self, column: str) -> Kind:
        """`"number"`, `"date"` (also with a time of day) or `"nominal"`."""
        return kind_of(self.frame.get_column(column).dtype)

    def role(self, column: str) -> str:
        """What a column is for, in words.

        >>> Table(pl.DataFrame({"age": [31], "ill": ["no"]}), Roles(target="ill")).role("ill")
        'target'
        """
        if column in self.roles.identifiers:
            return "identifier"
        named = {"target": self.roles.target, "sensitive": self.roles.sensitive}
        words = ", ".join(word for word, name in named.items() if name == column)
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
    """What a column of this type contains.

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
    """A frame of some columns, which has its rows even where no column is left.

    >>> frame_of_columns([], 3).shape
    (3, 0)
    """
    return pl.DataFrame(columns) if columns else pl.DataFrame(height=height)


def bare(column: pl.Series) -> pl.Series:
    """The series without its name: most methods of a series take ``"^a.*$"`` for a pattern."""
    return column.alias("")


def one_form(frame: pl.DataFrame, *, texts: bool = False) -> pl.DataFrame:
    """The same values, each stored in one way: what counts as equal must leave as equal.

    Zero has no sign, NaN is missing, an `Enum` has no categories but those that occur; with
    `texts`, categories are texts.

    >>> one_form(pl.DataFrame({"x": [-0.0, 0.0, float("nan")]}))["x"].to_list()
    [0.0, 0.0, None]
    """
    columns = [_one_form(bare(s), texts).alias(s.name) for s in frame.get_columns()]
    return frame_of_columns(columns, frame.height)


def _one_form(column: pl.Series, texts: bool) -> pl.Series:
    if column.dtype.is_float():
        # Not by adding 0.0: polars leaves such a sum out.
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


def _codes(column: pl.Series) -> NDArray[np.int64]:
    """Numbers from 0, equal where the cells are equal; missing cells count as equal."""
    column = bare(column)
    if column.dtype.is_float():
        column = column.fill_nan(None)
    elif not column.dtype.is_integer():
        column = column.cast(pl.String)
    ranks = column.rank("dense")  # starting at 1
    codes: NDArray[np.int64] = ranks.fill_null(0).to_numpy().astype(np.int64)
    return codes if ranks.null_count() else codes - 1


def _joined(codes: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Numbers from 0, equal where all the codes are equal."""
    joined, *others = codes
    for each in others:
        pairs = joined * (each.max(initial=0) + 1) + each
        joined = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
    return joined


def _coarsest(codes: dict[str, NDArray[np.int64]]) -> dict[str, NDArray[np.int64]]:
    """The codes, except constant ones and those that are finer than others."""
    kept = {name: each for name, each in codes.items() if each.max(initial=0) > 0}
    if not kept:  # all identifiers are constant
        return codes
    for name in list(kept):
        if any(_determines(kept[name], other) for key, other in kept.items() if key != name):
            del kept[name]
    return kept


def _determines(fine: NDArray[np.int64], coarse: NDArray[np.int64]) -> bool:
    alone = int(fine.max()) + 1 == len(fine)
    return alone or int(_joined([fine, coarse]).max()) == int(fine.max())
