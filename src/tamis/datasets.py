"""Tables generated from a seed, with known dependencies.

`patients` is a mixed hospital table; `stays` is the same with names and with patients who came more
than once; `behaviour` is a sparse log of page visits. As they are generated, they can be shipped,
shown and checked against the facts stated below.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from tamis.binary.records import BinaryTable
from tamis.table import Roles, Table

_JOBS = ("farm", "factory", "office", "school", "care", "none")
_WARDS = ("surgery", "medicine", "maternity", "emergency")


def patients(rows: int = 3000, random_state: int = 0) -> Table:
    """Generate a plausible table of hospital stays.

    Facts that the tests rely on:

    - ``patient`` names each row: an identifier.
    - ``zip`` (text with leading zeros, 60 places of very unequal size), ``birth_year`` and
      ``sex`` together single people out, as they do in reality.
    - ``hiv`` is sensitive, about one in twelve. It is revealed by ``viral_load_test`` (nearly
      always done with hiv, rarely without) and, more weakly, by ``cd4_count`` (low with hiv,
      missing unless measured). No other column depends on it.
    - ``readmitted`` is the target, about one in three. It depends on ``stay_days``, ``visits``
      and ``albumin``, weakly on age, and on nothing else: given these, it does not depend on hiv.
    - ``job`` depends on age and sex; ``ward`` on the stay. ``blood_group`` is pure noise.
    - ``albumin`` is missing in about one row in ten, ``job`` in one in twenty, at random.

    Parameters
    ----------
    rows : int
    random_state : int

    Returns
    -------
    Table
        With its target, sensitive column, quasi-identifiers and identifier named.

    Examples
    --------
    >>> table = patients(rows=200)
    >>> table.target, table.sensitive, table.quasi
    ('readmitted', 'hiv', ('zip', 'birth_year', 'sex', 'job'))
    """
    rng = np.random.default_rng(random_state)
    age = np.clip(rng.gamma(9, 6.5, rows), 18, 97).astype(int)
    woman = rng.random(rows) < 0.53
    hiv = rng.random(rows) < 0.08
    stay = 1 + rng.poisson(1 + 0.05 * age)
    visits = rng.negative_binomial(1.2, 0.3, rows)
    albumin = np.round(rng.normal(40 - 0.05 * age, 4.0), 1)
    tested = rng.random(rows) < np.where(hiv, 0.92, 0.03)
    cd4 = np.round(np.where(hiv, rng.normal(430, 160, rows), rng.normal(890, 200, rows)))
    odds = -1.9 + 0.25 * (stay - 4) + 0.35 * visits - 0.12 * (albumin - 38) + 0.012 * (age - 58)
    again = rng.random(rows) < expit(odds)
    frame = pl.DataFrame(
        {
            "patient": [f"P{number:06d}" for number in rng.permutation(rows) + 1],
            "zip": _places(rng, rows),
            "birth_year": 2025 - age,
            "sex": np.where(woman, "female", "male"),
            "job": _sometimes_missing(rng, _jobs(rng, age, woman), 0.05),
            "ward": np.asarray(_WARDS)[(stay + rng.integers(0, 3, rows)) % 4],
            "stay_days": stay,
            "visits": visits,
            "albumin": _sometimes_missing(rng, albumin, 0.10),
            "blood_group": rng.choice(["O", "A", "B", "AB"], rows, p=[0.45, 0.4, 0.1, 0.05]),
            "viral_load_test": np.where(tested, "yes", "no"),
            "cd4_count": _where(tested | (rng.random(rows) < 0.3), np.clip(cd4, 20, None)),
            "hiv": np.where(hiv, "positive", "negative"),
            "readmitted": np.where(again, "yes", "no"),
        }
    )
    roles = Roles(
        target="readmitted",
        sensitive="hiv",
        quasi=("zip", "birth_year", "sex", "job"),
        identifiers=("patient",),
        plain=("cd4_count",),  # hardly repeats if there are few patients
    )
    return Table(frame, roles)


AGAIN = 0.2
"""Share of stays whose patient has another stay."""
_GIVEN = (
    "Ada", "Ben", "Clara", "David", "Elena", "Felix", "Greta", "Hugo", "Ines", "Jonas", "Karin",
    "Leo", "Marta", "Nils", "Olga", "Paul", "Rosa", "Simon", "Tanja", "Viktor",
)  # fmt: skip
_FAMILY = (
    "Alder", "Brandt", "Costa", "Dvorak", "Eriksen", "Fischer", "Garnier", "Horvat", "Ivanov",
    "Jansen", "Keller", "Lindqvist", "Moreau", "Novak", "Olsen", "Petrov", "Quist", "Rossi",
    "Santos", "Tamm", "Urban", "Vidal", "Weber", "Yilmaz", "Zeller",
)  # fmt: skip
_OF_PEOPLE = ("patient", "name", "zip", "birth_year", "sex", "job", "blood_group")


def stays(rows: int = 3000, random_state: int = 0) -> Table:
    """Generate `patients` with names, and with patients who came more than once.

    Facts that the tests rely on, besides those of `patients`:

    - ``patient`` repeats: one stay in five belongs to a patient who has another one.
    - ``name`` says who someone is, and two patients may have one name.
    - Within the rows of a patient ``zip``, ``birth_year``, ``sex``, ``job``, ``blood_group`` and
      ``hiv`` are the same.

    Parameters
    ----------
    rows : int
    random_state : int

    Returns
    -------
    Table
        With its target, sensitive column, quasi-identifiers and identifiers named.

    Examples
    --------
    >>> table = stays(rows=200)
    >>> table.person_columns, table.everybody < table.rows
    (('patient',), True)
    """
    alone = patients(rows, random_state)
    rng = np.random.default_rng((random_state, 1))
    names = [f"{rng.choice(_GIVEN)} {rng.choice(_FAMILY)}" for _ in range(rows)]
    place = alone.frame.columns.index("patient") + 1
    frame = alone.frame.insert_column(place, pl.Series("name", names))
    # Neighbours by hiv, sex and age are nearly the same person, so columns that depend on these
    # still do after both rows become one patient's.
    order = frame.with_row_index("at").sort("hiv", "sex", "birth_year", "at")["at"].to_numpy()
    first = np.arange(rows)
    labels = frame.select("hiv", "sex").to_struct("both").gather(order)
    joined = (rng.random(rows - 1) < AGAIN) & (labels.head(-1) == labels.tail(-1)).to_numpy()
    for i in np.flatnonzero(joined):
        first[order[i + 1]] = first[order[i]]
    whose = frame.select(_OF_PEOPLE)[first]
    table = frame.with_columns(whose.get_columns())
    return Table(table, replace(alone.roles, identifiers=("patient", "name")))


def _places(rng: np.random.Generator, rows: int) -> list[str]:
    share = 1 / np.arange(1, 61)
    place = rng.choice(60, rows, p=share / share.sum())
    return [f"0{1000 + 70 * p}" for p in place]


def _jobs(
    rng: np.random.Generator, age: NDArray[np.int_], woman: NDArray[np.bool_]
) -> NDArray[np.str_]:
    job = rng.choice(_JOBS, len(age), p=[0.1, 0.2, 0.3, 0.1, 0.15, 0.15])
    job[woman & (rng.random(len(age)) < 0.2)] = "care"
    job[(age > 66) & (rng.random(len(age)) < 0.9)] = "none"
    return job


def _sometimes_missing(
    rng: np.random.Generator, values: NDArray[np.generic], share: float
) -> pl.Series:
    return _where(rng.random(len(values)) >= share, values)


def _where(known: NDArray[np.bool_], values: NDArray[np.generic]) -> pl.Series:
    return pl.select(pl.when(pl.Series(known)).then(pl.Series(values))).to_series()


def behaviour(rows: int = 2000, features: int = 400, random_state: int = 0) -> BinaryTable:
    """Generate a sparse log of behaviour: who visited which page.

    Facts that the tests rely on:

    - Column ``page 1`` is visited most; the share of visitors falls like 1 / rank, so most pages
      are rare and many occur in fewer than five rows.
    - The label ``buyer`` or ``other`` (about one in three buys) raises the odds of the pages 2,
      5, 9, 14, 20 and 30 threefold and lowers those of 3, 8 and 15 threefold. Every other page
      is independent of it.

    Parameters
    ----------
    rows, features : int
    random_state : int

    Returns
    -------
    BinaryTable

    Examples
    --------
    >>> log = behaviour(rows=100, features=50)
    >>> log.matrix.shape, log.features[0]
    ((100, 50), 'page 1')
    """
    rng = np.random.default_rng(random_state)
    buyer = rng.random(rows) < 0.35
    share = np.clip(0.6 / np.arange(1, features + 1), None, 0.5)
    odds = np.zeros(features)
    odds[[p - 1 for p in (2, 5, 9, 14, 20, 30) if p <= features]] = np.log(3)
    odds[[p - 1 for p in (3, 8, 15) if p <= features]] = -np.log(3)
    logit = np.log(share / (1 - share))
    chance = expit(logit + np.outer(buyer, odds))
    visits = rng.random((rows, features)) < chance
    names = tuple(f"page {i}" for i in range(1, features + 1))
    labels = np.where(buyer, "buyer", "other")
    matrix = sparse.csr_array(visits.astype(np.uint8))
    return BinaryTable(matrix, names, labels, target="buys")
