"""Sparse 0/1 records: who has what.

A `BinaryTable` is a scipy CSR matrix with column names and one label per row. It is read from a
sparse file (`tamis.read_binary`), or made from a table whose features are already 0/1 (`from_wide`)
or from any table by an encoding (`binarise`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.cuts import K, quantile_cuts
from tamis.errors import InputError, listed_as, plural
from tamis.notebook import in_short, quoted, share_words
from tamis.people import People
from tamis.table import Table, bare

if TYPE_CHECKING:
    from typing import Self

    from scipy import sparse

QUANTILES = 4
"""Default number of intervals into which a numeric column is cut."""


@dataclass(frozen=True)
class Cut:
    """How one column becomes 0/1 columns: by cuts, by quantiles, or one value against the rest.

    With none of the three, each value becomes a column; numbers and dates with more than
    `QUANTILES` values become intervals.
    """

    cuts: tuple[float, ...] | None = None
    quantiles: int | None = None
    value: Any = None

    def __post_init__(self) -> None:
        if sum(x is not None for x in (self.cuts, self.quantiles, self.value)) > 1:
            raise InputError("give only one of cuts, quantiles and value")
        if self.cuts is not None and not self._rises():
            raise InputError("cuts must be finite numbers in ascending order, each once")
        if self.quantiles is not None and (
            not isinstance(self.quantiles, int) or self.quantiles < 2
        ):
            raise InputError(
                f"quantiles must be a whole number of at least 2, got {self.quantiles}"
            )

    def _rises(self) -> bool:
        cuts = list(self.cuts or ())
        return cuts == sorted(set(cuts)) and bool(np.isfinite(cuts).all())


@dataclass(frozen=True, eq=False)
class BinaryTable:
    """0/1 records: `matrix` has a row for each entity and a column for each feature.

    `people` has the person of each row, by default another one for each; `unit` is what counts
    refer to, see `Table.unit`. `secrets` are the values of the sensitive column, which is not in
    the matrix, and `sensitive` is its name. `unlabelled` is the number of entities that were left
    out on reading because they have no label. `sources` maps features that were made from a column
    of another name to that column.

    Examples
    --------
    >>> table = from_matrix([[1, 0], [1, 1]], ["bread", "milk"], labels=["a", "b"])
    >>> table.rows, table.features, table.matrix.nnz
    (2, ('bread', 'milk'), 3)
    """

    matrix: sparse.csr_array
    features: tuple[str, ...]
    labels: NDArray[np.str_] | None = None
    target: str = "label"
    people: People = None  # type: ignore[assignment]  # each row is a person
    unit: Literal["people", "rows"] = "rows"
    sensitive: str | None = None
    secrets: NDArray[np.str_] | None = None
    unlabelled: int = 0
    sources: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.people is None:
            object.__setattr__(self, "people", People.of_rows(self.rows))

    @property
    def rows(self) -> int:
        return int(self.matrix.shape[0])

    def __repr__(self) -> str:
        cells = max(1, self.rows * len(self.features))
        return in_short(
            self,
            plural(self.rows, "row"),
            plural(len(self.features), "feature"),
            f"{share_words(self.matrix.nnz / cells)} ones",
            None if self.labels is None else f"target {quoted(self.target)}",
            self.sensitive and f"sensitive {quoted(self.sensitive)}",
        )

    def select(self, columns: Sequence[int]) -> Self:
        """The same rows with only these columns, by number."""
        names = tuple(self.features[c] for c in columns)
        return replace(self, matrix=self.matrix[:, list(columns)], features=names)

    def without(self, names: Iterable[str]) -> Self:
        """The same rows without some features."""
        left = set(names)
        if unknown := sorted(left - set(self.features)):
            raise InputError(f"the records have no {listed_as('feature', unknown)}")
        return self.select([i for i, name in enumerate(self.features) if name not in left])

    def with_sensitive(self, name: str) -> Self:
        """The same records with one feature turned into the sensitive column, never released.

        >>> table = from_matrix([[1, 0], [1, 1]], ["bread", "milk"]).with_sensitive("milk")
        >>> table.features, table.secrets.tolist()
        (('bread',), ['not milk', 'milk'])
        """
        rest = self.without([name])
        has = self.matrix[:, [self.features.index(name)]].toarray()[:, 0] > 0
        return replace(rest, sensitive=name, secrets=np.where(has, name, f"not {name}"))

    def frame(self) -> pl.DataFrame:
        """A wide frame of 0/1 columns, then the sensitive column, and the label last."""
        beside = {self.sensitive: self.secrets, self.target: self.labels}
        extra = {name: v for name, v in beside.items() if name is not None and v is not None}
        if taken := [name for name in extra if name in self.features]:
            raise InputError(
                f"{listed_as('feature', taken, 'has', 'have')} the name of the label; rename it"
            )
        dense = self.matrix.toarray(order="F")
        columns: dict[str, Any] = {name: dense[:, i] for i, name in enumerate(self.features)}
        return pl.DataFrame({**columns, **extra})

    def table(self, columns: Sequence[int] | None = None) -> Table:
        """The features, or some of them by number, as a dense table with its roles."""
        chosen = self if columns is None else self.select(columns)
        return Table(chosen.frame(), unlabelled=self.unlabelled).with_roles(
            target=None if self.labels is None else self.target,
            sensitive=self.sensitive,
            person=() if self.unit == "people" else None,
        )


def from_matrix(
    matrix: Any,
    features: Sequence[str] | None = None,
    labels: Sequence[Any] | None = None,
    target: str = "label",
) -> BinaryTable:
    """0/1 records from a dense or scipy sparse matrix, with names and labels."""
    from tamis.binary.matrix import sparse_rows

    csr = sparse_rows(matrix)
    rows, columns = csr.shape
    names = tuple(f"x{i}" for i in range(columns)) if features is None else tuple(features)
    if len(names) != columns:
        raise InputError(f"expected {plural(columns, 'name')}, one per column, got {len(names)}")
    if len(set(names)) < columns:
        raise InputError("two columns of the 0/1 table have the same name")
    texts = None if labels is None else np.asarray([str(label) for label in labels])
    if texts is not None and len(texts) != rows:
        raise InputError(f"expected {plural(rows, 'label')}, one per row, got {len(texts)}")
    return BinaryTable(_ones(csr), names, texts, target)


def _ones(csr: sparse.csr_array) -> sparse.csr_array:
    """The same pattern, stored as ones of one byte with sorted indices."""
    from scipy import sparse

    # The indices are copied, since sorting changes them in place.
    pattern = (np.ones(csr.nnz, np.uint8), csr.indices.copy(), csr.indptr)
    ones = sparse.csr_array(pattern, shape=csr.shape)
    ones.sort_indices()
    return ones


def is_binary(table: Table) -> bool:
    """Whether every feature is already 0/1, without missing cells."""
    columns = [table.frame[c] for c in table.features]
    return bool(columns) and all(is_zero_one(column) for column in columns)


def is_zero_one(column: pl.Series) -> bool:
    """Whether every cell of a column is 0 or 1, and none is missing.

    >>> is_zero_one(pl.Series([0, 1, 1])), is_zero_one(pl.Series([0, None, 1]))
    (True, False)
    """
    column = bare(column)
    if column.null_count():
        return False
    if column.dtype == pl.Boolean:
        return True
    return column.dtype.is_numeric() and bool(((column == 0) | (column == 1)).all())


def from_wide(table: Table) -> BinaryTable:
    """0/1 records from a table whose features are already 0/1 columns."""
    if not is_binary(table):
        odd = [c for c in table.features if not is_zero_one(table.frame[c])]
        raise InputError(
            f"{listed_as('column', odd, 'is', 'are')} not 0/1 in every row; say in a schema how to "
            "turn such columns into 0/1 ([binary])"
        )
    columns = [_column(table.frame[c].cast(pl.Boolean)) for c in table.features]
    return _assemble(columns, list(table.features), table)


def binarise(table: Table, how: Mapping[str, Cut] | None = None, *, k: int = K) -> BinaryTable:
    """Turn a table into 0/1 columns, with names that say what each column means.

    Parameters
    ----------
    table : Table
    how : mapping of column to `Cut`, optional
        The columns to encode; others are left out. By default every feature is encoded: text by
        its values, numbers by quartiles, numbers with few values by these.
    k : int
        The fewest people in each interval made by quantiles; their ends are round numbers, see
        `tamis.cuts`.

    Notes
    -----
    A missing cell has none of the features of its column: nothing is known about that person.

    Examples
    --------
    >>> table = Table(pl.DataFrame({"age": [20, 30, 50], "sex": ["f", "m", "f"]}))
    >>> binarise(table, {"age": Cut(cuts=(25, 35)), "sex": Cut(value="f")}).features
    ('age <= 25', 'age in (25, 35]', 'age > 35', 'sex = f')
    """
    if how is None:
        how = dict.fromkeys(table.features, Cut())
    unknown = [c for c in how if c not in table.features]
    if unknown:
        raise InputError(f"the table has no {listed_as('feature', unknown)} to turn into 0/1")
    names: list[str] = []
    columns: list[NDArray[np.bool_]] = []
    sources: dict[str, str] = {}
    for column, cut in how.items():
        for name, ones in _encoded(table.frame[column], cut, k, table.people):
            names.append(name)
            columns.append(_column(ones))
            sources[name] = column
    return replace(_assemble(columns, names, table), sources=sources)


def _encoded(column: pl.Series, cut: Cut, k: int, people: People) -> list[tuple[str, pl.Series]]:
    number = column.dtype.is_numeric()
    if cut.value is not None:
        return [_against_rest(column, cut.value)]
    if (cut.cuts or cut.quantiles) and not number:
        raise InputError(
            f"column {column.name!r} is text, so it cannot be cut into intervals; use its values, "
            "or one value"
        )
    if cut.cuts is not None:
        return _intervals(column, list(cut.cuts))
    # Where there are no more values than intervals, intervals would only merge values.
    if number and (cut.quantiles or bare(column).drop_nulls().n_unique() > QUANTILES):
        return _intervals(column, _quantiles(column, cut, k, people))
    values = bare(column).drop_nulls().unique().sort()
    if column.dtype in (pl.Date, pl.Datetime) and len(values) > QUANTILES:
        return _periods(column)
    return [(f"{column.name} = {_shown(v)}", column == v) for v in values]


def _periods(column: pl.Series) -> list[tuple[str, pl.Series]]:
    """0/1 columns for the years of dates, or for the months if all are in one year."""
    dates = bare(column)
    unit = "%Y" if dates.dt.year().drop_nulls().n_unique() > 1 else "%Y-%m"
    periods = dates.dt.strftime(unit)
    known = periods.drop_nulls().unique().sort()
    return [(f"{column.name} in {period}", periods == period) for period in known]


def _against_rest(column: pl.Series, value: Any) -> tuple[str, pl.Series]:
    texts = column.cast(pl.String) if isinstance(value, str) else column
    ones = texts == value
    if not ones.any():
        raise InputError(
            f"no row of column {column.name!r} has the value that the schema chooses; check its "
            "spelling"
        )
    return f"{column.name} = {_shown(value)}", ones


def _quantiles(column: pl.Series, cut: Cut, k: int, people: People) -> list[float]:
    present = bare(column).is_not_null().to_numpy()
    cells = bare(column).drop_nulls().to_numpy()
    return quantile_cuts(cells, cut.quantiles or QUANTILES, k=k, people=people[present])


def _intervals(column: pl.Series, cuts: list[float]) -> list[tuple[str, pl.Series]]:
    """0/1 columns for half-open intervals that end at the cuts and include them."""
    if not cuts:
        return []
    parts = [(f"{column.name} <= {_shown(cuts[0])}", column <= cuts[0])]
    for low, high in pairwise(cuts):
        inside = (column > low) & (column <= high)
        parts.append((f"{column.name} in ({_shown(low)}, {_shown(high)}]", inside))
    return [*parts, (f"{column.name} > {_shown(cuts[-1])}", column > cuts[-1])]


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    # Twelve digits hide the rounding of a float, such as 0.30000000000000004.
    return format(value, ".12g") if isinstance(value, int | float) else str(value)


def _column(ones: pl.Series) -> NDArray[np.bool_]:
    # A missing cell lacks every feature of its column.
    return bare(ones).fill_null(False).to_numpy().astype(bool)


def _assemble(columns: list[NDArray[np.bool_]], names: list[str], table: Table) -> BinaryTable:
    from scipy import sparse

    if not columns:
        raise InputError(
            "there is no column left to turn into 0/1; name some in the schema ([binary])"
        )
    dense = sparse.csc_array(np.column_stack(columns))
    target = table.roles.target
    labels = None if target is None else table.frame[target].cast(pl.String).to_list()
    records = from_matrix(dense, names, labels, target or "label")
    return replace(records, people=table.people, unit=table.unit)
