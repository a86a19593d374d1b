"""`Coarsener`: learn the levels of columns on one table and apply them to others, in memory or not.

Behind an engine, labels are joined to the rows. The engine counts the distinct values of a column;
each is labelled here, by the code that generalises tables in memory; and the engine joins the
labels to its rows. Only distinct values are transferred.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import narwhals as nw
import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tamis.coarsen.intervals import Cuts
from tamis.coarsen.ladder import Ladder
from tamis.coarsen.ladder_sources import ladder_from
from tamis.coarsen.search import coarsened
from tamis.coarsen.value_groups import CommonValues, ValueGroups, listed_text, plain_text
from tamis.errors import InputError, listed, plural
from tamis.read import polars_frame
from tamis.read.frames import asked_library, native_kind
from tamis.release import Coarsening
from tamis.require import options_of_groups, requirements
from tamis.require.counts import BetaKind
from tamis.require.diversity import DiversityKind
from tamis.rows.counts import ROWS, count_cells
from tamis.rows.engines import Frame
from tamis.rows.large_table import LargeTable
from tamis.table import Roles, Table


class Coarsener(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Generalise columns until every equivalence class meets the requirements.

    `fit` searches for the best level of each column. `transform` generalises any table to these
    levels; values that the fitted table did not have go up their ladder until a level covers them.

    Parameters
    ----------
    k : int
        The fewest people in a class.
    l : int, optional
        The least diversity of sensitive values in a class.
    t : float, optional
        The largest distance between the sensitive values of a class and those of the whole table.
    l_kind, c : {"distinct", "entropy", "recursive"}, float
        How `l` counts sensitive values, and the factor for `recursive`.
    alpha, beta, beta_kind, delta_disclosure : optional
        Limits on the shares of sensitive values in a class, compared with all rows; see
        `tamis.risk.diversity.likeness`.
    max_risk, max_average_risk : float, optional
        The largest chance of finding a person's row, and the largest mean of it.
    known_rows : int, optional
        Also leave k people for an attacker who knows up to this many rows of a person.
    delta_presence : (float, float), optional
        The range allowed for the chance that someone of the population passed to `fit` is in the
        table.
    columns : sequence of str, optional
        The columns to generalise: those that an attacker may know. By default the quasi-identifiers
        of a `Table`, or all columns of a frame.
    ladders : mapping of column to Ladder or to a description, optional
        The forms of columns, such as ``{"age": {"width": [5, 10], "top": 90}}``; those not given
        are made from the column.
    metric : str
        What to minimise: loss, discernability, aecs, precision, height, entropy.
    max_suppressed : float
        The largest share of the rows that may be suppressed, see `kept_`.

    Attributes
    ----------
    levels_ : dict of column to int
        0 means the exact values.
    ladders_ : dict of column to Ladder
    score_, bound_ : float
        By the metric; no levels have a lower score than the bound.
    kept_ : array of bool
        Which rows of the fitted table may be released. A transformer never drops rows: drop the
        others yourself before you publish anything.

    See Also
    --------
    tamis.coarsen.search.coarsened : the generalised table, without suppressed rows.

    Examples
    --------
    >>> people = pl.DataFrame({"age": [31, 33, 47, 48], "job": ["cook", "cook", "cook", "judge"]})
    >>> coarsener = Coarsener(k=2, ladders={"age": {"width": [10]}}).fit(people)
    >>> coarsener.levels_
    {'age': 1, 'job': 1}
    >>> coarsener.transform(pl.DataFrame({"age": [64], "job": ["cook"]}))["age"].to_list()
    ['[60, 70)']
    """

    def __init__(
        self,
        k: int = 5,
        *,
        l: int | None = None,  # noqa: E741 - the field's name for it
        t: float | None = None,
        l_kind: DiversityKind = "distinct",
        c: float = 3.0,
        alpha: float | None = None,
        beta: float | None = None,
        beta_kind: BetaKind = "basic",
        delta_disclosure: float | None = None,
        max_risk: float | None = None,
        max_average_risk: float | None = None,
        known_rows: int | None = None,
        delta_presence: Sequence[float] | None = None,
        columns: Sequence[str] | None = None,
        ladders: Mapping[str, Ladder | Mapping[str, Any]] | None = None,
        metric: str = "loss",
        max_suppressed: float = 0.0,
    ) -> None:
        self.k = k
        self.l = l
        self.t = t
        self.l_kind = l_kind
        self.c = c
        self.alpha = alpha
        self.beta = beta
        self.beta_kind = beta_kind
        self.delta_disclosure = delta_disclosure
        self.max_risk = max_risk
        self.max_average_risk = max_average_risk
        self.known_rows = known_rows
        self.delta_presence = delta_presence
        self.columns = columns
        self.ladders = ladders
        self.metric = metric
        self.max_suppressed = max_suppressed

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive: Any = None,
        people: Any = None,
        population: Any = None,
    ) -> Self:
        """Find the best levels.

        Parameters
        ----------
        X : Table or pandas, polars or pyarrow frame
        y : ignored
        sensitive : array, optional
            The sensitive value of each row, for `l` and `t`; by default the sensitive column of a
            `Table`.
        people : array, optional
            The person that each row is about; by default as a `Table` says, else each row is one.
        population : Table or frame, optional
            The people that the table is a sample of, for `delta_presence`.
        """
        table = _as_table(X)
        self.feature_names_in_ = np.array(table.frame.columns, dtype=object)
        self.n_features_in_ = table.frame.width
        asked = _with_arrays(self._with_quasi(table), sensitive, people)
        found = coarsened(
            asked,
            {
                column: form if isinstance(form, Ladder) else ladder_from(column, form)
                for column, form in (self.ladders or {}).items()
            },
            requirements(**{name: getattr(self, name) for name in _ASKED}),
            metric=self.metric,
            max_suppressed=self.max_suppressed,
            population=population,
            delta_presence=self.delta_presence,
        )
        self.levels_ = dict(found.levels or {})
        self.ladders_ = dict(found.ladders)
        self.score_, self.bound_, self.kept_ = found.score, found.bound, found.kept
        return self

    def transform(self, X: Any) -> Any:
        """Generalise the columns of a table to their levels; returns the kind of table given."""
        check_is_fitted(self)
        table = _as_table(X)
        if missing := [c for c in self.levels_ if c not in table.frame.columns]:
            raise InputError(
                f"no column {listed(missing)} to make coarser; pass the columns it was fitted on"
            )
        coarse = [
            self.ladders_[c].apply(table.frame.get_column(c), level)
            for c, level in self.levels_.items()
        ]
        result = replace(table, frame=table.frame.with_columns(coarse))
        if isinstance(X, Table):
            return result
        return replace(result, library=asked_library(self) or table.library).native()

    def _with_quasi(self, table: Table) -> Table:
        if self.columns is None:
            return table
        if isinstance(self.columns, str):
            raise InputError("columns must be a list of column names, got a single text")
        return table.with_roles(quasi=tuple(self.columns))


_ASKED = tuple(name for name in options_of_groups() if name != "t_distance")
_SENSITIVE, _PERSON = "\x00sensitive", "\x00person"
"""Column names for arrays passed to `fit`; no file has a name with a null character."""


def _as_table(data: Any) -> Table:
    return (
        data if isinstance(data, Table) else Table(polars_frame(data), Roles(), native_kind(data))
    )


def _with_arrays(table: Table, sensitive: Any, people: Any) -> Table:
    """Add the arrays passed to `fit` to the table, as columns with their roles."""
    quasi, frame, roles = table.quasi, table.frame, table.roles
    for name, values in ((_SENSITIVE, sensitive), (_PERSON, people)):
        if values is None:
            continue
        column = pl.Series(name, np.asarray(values).tolist())
        if column.len() != table.rows:
            raise InputError(
                f"{name[1:]} needs one value per row: {plural(table.rows, 'row')}, got "
                f"{column.len()}"
            )
        frame = frame.with_columns(column)
    if sensitive is not None:
        roles = replace(roles, sensitive=_SENSITIVE, quasi=quasi)
    if people is not None:
        roles = replace(
            roles, identifiers=(*roles.identifiers, _PERSON), person=(_PERSON,), quasi=quasi
        )
    return replace(table, frame=frame, roles=roles)


VALUE, LABEL = "value", "label"


@dataclass(frozen=True, eq=False)
class CoarseColumn:
    """One column of a table behind an engine in a coarser form."""

    name: str
    form: Coarsening
    mapping: Frame
    """Columns `value` and `label`: each distinct value of the table, except missing."""
    labels: pl.Series
    """The labels that occur."""
    named: Mapping[str, list[str]]
    """For forms that have groups, the values of at least k people under each label."""
    names_few: bool
    """Whether the form names a value that fewer than k people have."""

    @property
    def ladder(self) -> Ladder:
        return Ladder.from_dict(self.name, self.form.ladder)


class _Piece(NamedTuple):
    """A batch of distinct values with their labels; which have k people, which the form names."""

    cells: pl.Series
    """The values in the engine's own type, on which the labels are joined."""
    values: pl.Series
    labels: pl.Series
    many: pl.Series
    named: pl.Series

    def groups(self) -> Iterator[tuple[str, str]]:
        """Label and value, for each value that k people have."""
        frame = pl.DataFrame({LABEL: self.labels, VALUE: plain_text(self.values)})
        yield from frame.filter(self.many).iter_rows()


def coarse_column(large: LargeTable, name: str, form: Coarsening, k: int) -> CoarseColumn:
    """Label every distinct value of a column, batch by batch; note which may be named."""
    ladder = Ladder.from_dict(name, form.ladder)
    grouped = isinstance(ladder.form, ValueGroups | CommonValues)
    groups: dict[str, list[str]] = {}
    few: list[bool] = []

    def mapped() -> Iterator[pl.DataFrame]:
        for part in _parts(large, ladder, form.level, k):
            groups.update({label: [] for label in part.labels.unique() if label not in groups})
            for label, value in part.groups() if grouped else ():
                groups[label].append(value)
            few.append(bool((part.named & ~part.many).any()))
            yield pl.DataFrame({VALUE: part.cells, LABEL: part.labels})

    mapping = large.engine.keep(mapped())  # consumes the batches, which fills `groups` and `few`
    named = {label: sorted(groups[label]) for label in sorted(groups)}
    return CoarseColumn(name, form, mapping, pl.Series(list(named)), named, any(few))


def _parts(large: LargeTable, ladder: Ladder, level: int, k: int) -> Iterator[_Piece]:
    name = ladder.column
    (column,) = large.columns([name])
    counted = count_cells(large.frame, [column, *large.who])
    # Counting the pairs of value and person by value gives people instead of rows.
    if large.who:
        counted = count_cells(counted, [column])
    present = counted.filter(~nw.col(column).is_null())
    kind = plain_kind(large.shape.frame.schema[name])
    for batch in large.engine.batches(present):
        values = batch[column].cast(kind)
        labels = ladder.apply(values, level)
        many, named = batch[ROWS] >= k, _named(values, ladder, level)
        yield _Piece(batch[column], values, labels, many, named)


def _named(values: pl.Series, ladder: Ladder, level: int) -> pl.Series:
    """Which values a level of a ladder names: those in its groups, and numbers equal to a cut.

    Cuts of whole numbers do not count: they must be whole, whether anybody has that value or not.
    """
    form = ladder.form
    if isinstance(form, Cuts) and not (form.dated or form.whole):
        return values.cast(pl.Float64).is_in(list(form.cuts[level - 1]))
    texts: Iterable[str] = ()
    if isinstance(form, ValueGroups):
        texts = [line[0] for line in form.lines]
    elif isinstance(form, CommonValues):
        texts = form.kept[level - 1]
    return plain_text(values).is_in(listed_text(list(texts), values.dtype).implode())


def plain_kind(kind: pl.DataType) -> pl.DataType:
    """The type in which a column is written: text for categories."""
    return pl.String() if isinstance(kind, pl.Categorical | pl.Enum) else kind


def with_labels(frame: Frame, column: str, coarse: CoarseColumn) -> Frame:
    """Replace the values of a column by their labels, in rows or in counted cells.

    Missing values match nothing in a join, so they stay missing.
    """
    names = frame.collect_schema().names()
    joined = frame.join(coarse.mapping, how="left", left_on=column, right_on=VALUE)
    return joined.drop(column).rename({LABEL: column}).select(*names)


def with_coarse_columns(large: LargeTable, columns: Iterable[CoarseColumn]) -> LargeTable:
    """A table behind an engine with some columns generalised: texts, or numbers of fewer digits."""
    frame, schema = large.frame, dict(large.shape.frame.schema)
    for coarse in columns:
        frame = large.engine.near(frame)
        (column,) = large.columns([coarse.name])
        frame = with_labels(frame, column, coarse)
        numbers = coarse.labels.dtype.is_numeric()
        schema[coarse.name] = coarse.labels.dtype if numbers else pl.String()
    shape = replace(large.shape, frame=pl.DataFrame(schema=schema))
    return replace(large, frame=frame, shape=shape)
