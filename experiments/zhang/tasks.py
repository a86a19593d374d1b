"""The three tables of Zhang et al. (2017), as 0/1 rows with two classes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from experiments.data import Data
from experiments.zhang.printed import ADULT, EMAIL, ENTITY
from tamis.binary.records import BinaryTable, binarise, from_wide
from tamis.read import read_binary, read_table
from tamis.read.schema import load_schema

FILES = {
    ENTITY: "aminer_ed_148x552.csv.gz",
    ADULT: "adult_train.csv.gz",
    EMAIL: "pu1_body_binary.txt.gz",
}
SCHEMAS = Path(__file__).parents[1] / "schemas"
ADULT_SCHEMA = SCHEMAS / "adult.toml"
LEAD_SCHEMA = SCHEMAS / "adult_lead.toml"
"""Values and cuts that were found by searching for the printed numbers."""


@dataclass(frozen=True, eq=False)
class Task:
    """A 0/1 table, which of its rows are of the positive class, and how it is named."""

    name: str
    X: sparse.csr_array
    y: NDArray[np.bool_]
    features: tuple[str, ...]

    @property
    def density(self) -> float:
        """The share of cells that are one."""
        return float(self.X.nnz / np.prod(self.X.shape))


def entity(data: Data) -> Task:
    """Substitute rows: the paper's own matrix was never published."""
    path = data.path(FILES[ENTITY])
    table = from_wide(read_table(path, target="class", identifier=["name"]))
    return _task(ENTITY, table, "multi")


def adult(data: Data, encoding: Path = ADULT_SCHEMA) -> Task:
    """The training half of the census, encoded as a schema says."""
    schema = load_schema(encoding)
    table = read_table(data.path(FILES[ADULT]), schema=schema)
    return _task(ADULT, binarise(table, schema.binary), "<=50K")


def email(data: Data) -> Task:
    """PU1: the tokens of each message's body."""
    return _task(EMAIL, read_binary(data.path(FILES[EMAIL]), format="svm"), "+1")


TASKS = {ENTITY: entity, ADULT: adult, EMAIL: email}


def _task(name: str, table: BinaryTable, positive: str) -> Task:
    assert table.labels is not None
    return Task(name, table.matrix, table.labels == positive, table.features)
