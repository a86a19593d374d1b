"""How exposed a table is as it stands: every risk measure from one grouping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from tamis.risk.closeness import closeness
from tamis.risk.columns import ColumnEffect, column_effects
from tamis.risk.diversity import LDiversity, diversity
from tamis.risk.grouping import ClassSize
from tamis.risk.reidentification import THRESHOLD, Reidentification, matched
from tamis.risk.scope import scope
from tamis.risk.spread import spread
from tamis.table import Table


@dataclass(frozen=True)
class Exposure:
    """The risk of a table over its quasi-identifiers, in plain figures.

    `l_diversity` and `t_closeness` are `None` where there is no sensitive column;
    `columns` has the riskiest column first. Where a person has several rows, `people` is smaller
    than `rows` and every figure counts people: `unique_people` are those who have a row that
    nobody else's row equals, `unique_share` is their share, `unique_rows` are these rows. `unit`
    is the word for a count, see `Table.unit`.
    """

    rows: int
    quasi: tuple[str, ...]
    sensitive: str | None
    k_anonymity: int
    unique_rows: int
    unique_share: float
    classes: int
    class_sizes: tuple[ClassSize, ...]
    reidentification: Reidentification
    l_diversity: LDiversity | None
    t_closeness: float | None
    columns: tuple[ColumnEffect, ...]
    people: int
    unique_people: int
    unit: Literal["people", "rows"]

    def to_dict(self) -> dict[str, Any]:
        """The same figures as plain dictionaries and lists, ready for JSON."""
        figures = asdict(self)
        return {k: list(v) if isinstance(v, tuple) else v for k, v in figures.items()}


def exposure(
    data: Any,
    *,
    quasi: Sequence[str] | None = None,
    sensitive: str | None = None,
    population: Any = None,
    threshold: float = THRESHOLD,
    people: Any = None,
) -> Exposure:
    """Measure how exposed a table is.

    Parameters
    ----------
    data : Table or pandas, polars or pyarrow frame
        The table as it would be released.
    quasi : sequence of str, optional
        The columns an attacker may know. `None`: those of the table's roles, by default all
        features; of a bare frame, all columns but the sensitive one.
    sensitive : str, optional
        The column that must stay hard to guess. `None`: that of the table's roles, if any.
    population, threshold
        As in `reidentification`.
    people : array, optional
        Whose row each row is, by name or number. `None`: as the table's identifiers show, see
        `Table.people`; of a bare frame, each row is a person.

    Returns
    -------
    Exposure

    Examples
    --------
    >>> import polars as pl
    >>> from tamis import Roles, Table
    >>> frame = pl.DataFrame({"age": [30, 30, 40, None], "ill": ["no", "yes", "no", "no"]})
    >>> found = exposure(Table(frame, Roles(target="ill")))
    >>> found.k_anonymity, found.unique_rows, found.unique_share
    (1, 2, 0.5)
    >>> found.to_dict()["l_diversity"]["distinct"]
    1
    """
    asked = scope(data, quasi, sensitive, people)
    counts = None
    grouping = asked.grouped()
    if asked.sensitive is not None:
        counts = spread(grouping, asked.sensitive_column)
    return Exposure(
        rows=grouping.rows,
        quasi=asked.quasi,
        sensitive=asked.sensitive,
        k_anonymity=grouping.k_anonymity,
        unique_rows=grouping.unique_rows,
        unique_share=grouping.unique_people / grouping.everybody,
        classes=len(grouping.sizes),
        class_sizes=grouping.class_sizes,
        reidentification=matched(asked, grouping, population, threshold),
        l_diversity=None if counts is None else diversity(counts),
        t_closeness=None if counts is None else closeness(counts),
        columns=column_effects(grouping),
        people=grouping.everybody,
        unique_people=grouping.unique_people,
        unit=_unit(data, people),
    )


def _unit(data: Any, people: Any) -> Literal["people", "rows"]:
    if people is not None:
        return "people"
    return data.unit if isinstance(data, Table) else "rows"
