"""The records that everything else passes around: `Roles` and `Table`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from tamis.errors import InputError, listed

if TYPE_CHECKING:
    from typing import Self

Kind = Literal["number", "nominal"]


@dataclass(frozen=True)
class Roles:
    """What each column is for.

    Parameters
    ----------
    target : str, optional
        The column that a recipient will learn to predict.
    sensitive : str, optional
        The column that must stay hard to guess. `None`: the target.
    quasi : tuple of str, optional
        Columns an attacker may know. `None`: all features.
    identifiers : tuple of str
        Columns that name a person; never released, never analysed.
    dropped : tuple of str
        Columns to forget.

    Examples
    --------
    >>> Roles(target="income", quasi=("age", "sex"))
    Roles(target='income', sensitive=None, quasi=('age', 'sex'), identifiers=(), dropped=())
    """

    target: str | None = None
    sensitive: str | None = None
    quasi: tuple[str, ...] | None = None
    identifiers: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("quasi", "identifiers", "dropped"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise InputError(f"roles: {name} is a list of column names, got one text")
            if value is not None:
                object.__setattr__(self, name, tuple(value))
        self._refuse_two_roles()

    def _refuse_two_roles(self) -> None:
        taken: dict[str, str] = {}
        sensitive = self.sensitive if self.sensitive != self.target else None
        for role, columns in (
            ("target", [self.target]),
            ("sensitive", [sensitive]),
            ("quasi-identifier", self.quasi or ()),
            ("identifier", self.identifiers),
            ("dropped", self.dropped),
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

    def named(self) -> list[str]:
        """Every column that has a role, in the order of the roles."""
        single = [c for c in (self.target, self.sensitive) if c is not None]
        return list(dict.fromkeys([*single, *(self.quasi or ()), *self.identifiers, *self.dropped]))


@dataclass(frozen=True, eq=False)
class Table:
    """A polars frame and what each column is for. Never mutated.

    Dropped columns are gone from the frame; identifiers are still in it, so that a release can
    be checked for them, but they are never features.

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

    def __post_init__(self) -> None:
        unknown = [c for c in self.roles.named() if c not in self.frame.columns]
        unknown = [c for c in unknown if c not in self.roles.dropped]
        if unknown:
            raise InputError(
                f"no column {listed(unknown)} in the table; its columns are "
                f"{listed(self.frame.columns, most=30)}"
            )
        object.__setattr__(self, "frame", self.frame.drop(self.roles.dropped, strict=False))

    @property
    def rows(self) -> int:
        return self.frame.height

    @property
    def target(self) -> str:
        """The target column; an error where none was named."""
        if self.roles.target is None:
            raise InputError("this needs a target column; name it with target=... or --target COL")
        return self.roles.target

    @property
    def sensitive(self) -> str | None:
        """The sensitive column; the target where none was named."""
        return self.roles.sensitive or self.roles.target

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that may be released as features, in the order of the table."""
        held = {self.roles.target, self.roles.sensitive, *self.roles.identifiers}
        return tuple(c for c in self.frame.columns if c not in held)

    @property
    def quasi(self) -> tuple[str, ...]:
        """The columns an attacker may know: as named, else all features."""
        return self.features if self.roles.quasi is None else self.roles.quasi

    def only(self, columns: Iterable[str]) -> pl.DataFrame:
        """Some columns by their exact names; polars would take ``"^a.*$"`` or ``"*"`` for patterns.

        >>> Table(pl.DataFrame({"*": [1], "b": [2]})).only(["*"]).columns
        ['*']
        """
        return pl.DataFrame([self.frame.get_column(name) for name in columns])

    def kind(self, column: str) -> Kind:
        """`"number"` or `"nominal"`."""
        return "number" if self.frame.schema[column].is_numeric() else "nominal"

    def native(self) -> Any:
        """The frame in the library it came from: what went in as pandas comes out as pandas."""
        if self.library == "pandas":
            return self.frame.to_pandas()
        return self.frame.to_arrow() if self.library == "pyarrow" else self.frame

    def with_roles(self, **changes: Any) -> Self:
        """The same rows with other roles."""
        return replace(self, roles=replace(self.roles, **changes))

    def select(self, features: Iterable[str]) -> Self:
        """The same rows with these features only, beside target, sensitive and identifiers."""
        keep = set(features)
        unknown = [c for c in keep if c not in self.features]
        if unknown:
            raise InputError(
                f"no feature {listed(sorted(unknown))}; the features are "
                f"{listed(self.features, most=30)}"
            )
        gone = [c for c in self.features if c not in keep]
        quasi = self.roles.quasi
        roles = replace(self.roles, quasi=None if quasi is None else _without(quasi, gone))
        return replace(self, frame=self.frame.drop(gone), roles=roles)


def _without(columns: Sequence[str], gone: Sequence[str]) -> tuple[str, ...]:
    return tuple(c for c in columns if c not in set(gone))
