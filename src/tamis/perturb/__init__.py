"""Releases that alter values; here is what they share: what is passed in, and the way back.

::

    noise                cells drawn anew with a given chance: uniform, Gaussian, PRAM
    shifted_dates        dates of a person moved by one random number of days
    microaggregation     rows as the middle of a group of k; swaps of near ranks
    flip                 cells of a 0/1 table flipped until k rows are identical
    suppression          cells blanked until k rows are alike
    kernels              rows grouped by k that are near each other
    suppression_kernels  which cells to blank
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from secrets import randbits
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import InputError, listed, listed_as
from tamis.people import People
from tamis.read import polars_frame
from tamis.read.frames import native_kind
from tamis.table import Roles, Table, content_order, number_people, only


@dataclass(frozen=True, eq=False)
class InputFrame:
    """What was passed in: its frame, its features, and the way back to its own kind."""

    frame: pl.DataFrame
    features: tuple[str, ...]
    back: Callable[[pl.DataFrame], Any]
    library: str | None = None
    """Whose frame it was; `None` for a `Table` or an array."""
    labels: tuple[str, ...] = ()
    """The target and the sensitive column, which may be written beside the features."""
    whose: People | None = None
    """Those of a `Table`; by default each row is a person."""

    @property
    def people(self) -> People:
        """The person of each row."""
        return People.named(self.whose, self.frame.height)

    @property
    def order(self) -> NDArray[np.int64]:
        """The rows by what a file may show of them, and then by their people.

        A method that takes rows one after another takes them so: else what it does to rows that
        tie would tell which of them came first in the original. People are numbered by their rows
        as well, since their identifiers have an order, too.
        """
        shown = only(self.frame, [*self.features, *self.labels])
        return content_order(shown, number_people(shown, self.people).codes)

    def answer(self, new: pl.DataFrame, asked: str | None) -> Any:
        """An altered frame as its own kind, or as one of the library that was asked for."""
        if self.library is None or asked is None:
            return self.back(new)
        return Table(new, library=asked).native()


def input_frame(data: Any) -> InputFrame:
    """A `Table`, a pandas, polars or pyarrow frame, or an array, as a polars frame.

    >>> input_frame(np.array([[1, 2], [3, 4]])).frame.columns
    ['x0', 'x1']
    """
    if isinstance(data, Table):
        return InputFrame(
            data.frame,
            data.features,
            lambda frame: replace(data, frame=frame),
            labels=_labels(data),
            whose=data.people,
        )
    if isinstance(data, list) or (hasattr(data, "__array__") and not hasattr(data, "columns")):
        return _array(np.asarray(data))
    frame = polars_frame(data)
    if not frame.width or not frame.height:
        raise InputError(f"the table has no {'rows' if frame.width else 'columns'}")
    whole = Table(frame, Roles(), native_kind(data))
    return InputFrame(
        frame, whole.features, lambda new: replace(whole, frame=new).native(), whole.library
    )


def _labels(table: Table) -> tuple[str, ...]:
    labels = dict.fromkeys((table.roles.target, table.roles.sensitive))
    return tuple(c for c in labels if c is not None and c not in table.features)


def _array(values: Any) -> InputFrame:
    if np.iscomplexobj(values):
        raise InputError("Complex data not supported: a cell is a real number or a text")
    if values.ndim != 2:
        raise InputError(
            f"a table has two dimensions, got {values.ndim}. Reshape your data to rows and columns"
        )
    if 0 in values.shape:
        what = "feature(s)" if values.shape[0] else "sample(s)"
        raise InputError(f"0 {what} (shape={values.shape}) while a minimum of 1 is required.")
    names = [f"x{i}" for i in range(values.shape[1])]
    frame = polars_frame(
        pl.DataFrame({name: values[:, i].tolist() for i, name in enumerate(names)}, strict=False)
    )

    def back(new: pl.DataFrame) -> Any:
        return new.to_numpy().astype(values.dtype)

    return InputFrame(frame, tuple(names), back)


RandomState = int | np.random.Generator | None
"""What draws come from: `None` is a new secret of the system's, which nothing can repeat."""
SECRET_BITS = 128
"""As many as nobody can try: a seed of 32 bits is found from six altered cells in minutes."""


def random_source(random_state: RandomState) -> np.random.Generator:
    """What to draw alterations from; whoever can repeat the draws can undo what they did.

    >>> random_source(7).random() == random_source(7).random()
    True
    >>> random_source(None).random() == random_source(None).random()
    False
    """
    if random_state is None:
        return secret_source(randbits(SECRET_BITS))
    return np.random.default_rng(random_state)


def secret_source(secret: int) -> np.random.Generator:
    """Draws that a secret determines and that do not give it away.

    Of the usual generator, PCG64, the state was computed from its numbers (Bouillaguet, Martinez
    and Sauvage 2020); Philox runs a counter through a cipher with a key of 128 bits.
    """
    return np.random.Generator(np.random.Philox(secret))


def drawn_for(secret: str | None, what: str) -> np.random.Generator:
    """Draws for one purpose, a stream of its own that the secret determines; `None`: anew."""
    if secret is None:
        return random_source(None)
    own = hashlib.sha256(f"{secret} {what}".encode()).digest()
    return secret_source(int.from_bytes(own[: SECRET_BITS // 8]))


def with_fractions(data: Any) -> Any:
    """Arrays of whole numbers as fractions, which may be means or missing; others as they are.

    >>> with_fractions([[1, 2]]).tolist()
    [[1.0, 2.0]]
    """
    if not isinstance(data, np.ndarray | list):
        return data
    values = np.asarray(data)
    return values.astype(float) if np.issubdtype(values.dtype, np.integer) else values


def columns_to_alter(
    data: InputFrame, columns: Sequence[str] | None, usual: Sequence[str] | None = None
) -> list[str]:
    """The columns that were named; if none, the usual ones, or all features.

    >>> columns_to_alter(input_frame(np.array([[1, 2], [3, 4]])), ["x1"])
    ['x1']
    """
    if columns is None:
        columns = data.features if usual is None else usual
    if isinstance(columns, str):
        raise InputError("columns must be a list of column names, got a single text")
    if unknown := [c for c in columns if c not in data.frame.columns]:
        raise InputError(
            f"no {listed_as('column', unknown)} to alter; the columns are "
            f"{listed(data.frame.columns, most=30)}"
        )
    if not columns:
        raise InputError("columns is empty; name at least one that this method can alter")
    return list(columns)
