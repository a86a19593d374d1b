"""Methods that alter values, and what they share: the input, the way back to its kind, the draws.

::

    noise                cells redrawn with a given probability: uniform, Gaussian, PRAM
    shifted_dates        dates of a person moved by one random number of days
    microaggregation     rows replaced by the centre of a group of k; rank swapping
    flip                 cells of a 0/1 table flipped until k rows are identical
    suppression          cells blanked until k rows are alike
    kernels              clusters of at least k similar rows
    suppression_kernels  the choice of cells to blank
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
    """The input as a frame, with its features and a function that converts back to its kind."""

    frame: pl.DataFrame
    features: tuple[str, ...]
    back: Callable[[pl.DataFrame], Any]
    library: str | None = None
    """The library of the frame; `None` for a `Table` or an array."""
    labels: tuple[str, ...] = ()
    """The target and the sensitive column, which may be released beside the features."""
    whose: People | None = None
    """The people of a `Table`; by default each row is a person."""

    @property
    def people(self) -> People:
        """The person of each row."""
        return People.named(self.whose, self.frame.height)

    @property
    def order(self) -> NDArray[np.int64]:
        """The rows sorted by the content that may be released, then by person.

        Methods that process rows in turn use this order. Otherwise the result for tied rows would
        reveal which of them came first in the original. People are numbered by the content of their
        rows as well, since the order of identifiers could reveal something, too.
        """
        shown = only(self.frame, [*self.features, *self.labels])
        return content_order(shown, number_people(shown, self.people).codes)

    def answer(self, new: pl.DataFrame, asked: str | None) -> Any:
        """An altered frame as the kind of the input, or as a frame of the library asked for."""
        if self.library is None or asked is None:
            return self.back(new)
        return Table(new, library=asked).native()


def input_frame(data: Any) -> InputFrame:
    """Read a `Table`, a pandas, polars or pyarrow frame, or an array.

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
"""The source of draws; `None` is a fresh secret from the operating system, never repeatable."""
SECRET_BITS = 128
"""Too many to try them all; a seed of 32 bits is found from six altered cells in minutes."""


def random_source(random_state: RandomState) -> np.random.Generator:
    """The generator for alterations; anyone who can repeat its draws can undo the alterations.

    >>> random_source(7).random() == random_source(7).random()
    True
    >>> random_source(None).random() == random_source(None).random()
    False
    """
    if random_state is None:
        return secret_source(randbits(SECRET_BITS))
    return np.random.default_rng(random_state)


def secret_source(secret: int) -> np.random.Generator:
    """A generator determined by a secret that its draws do not reveal.

    The state of NumPy's default generator, PCG64, has been computed from its output (Bouillaguet,
    Martinez and Sauvage 2020); Philox runs a counter through a cipher with a key of 128 bits.
    """
    return np.random.Generator(np.random.Philox(secret))


def drawn_for(secret: str | None, what: str) -> np.random.Generator:
    """A generator for one purpose, derived from the secret; with `None` a fresh one."""
    if secret is None:
        return random_source(None)
    own = hashlib.sha256(f"{secret} {what}".encode()).digest()
    return secret_source(int.from_bytes(own[: SECRET_BITS // 8]))


def with_fractions(data: Any) -> Any:
    """Integer arrays as floats, which can hold means and missing values; other data as they are.

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
    """The columns that were named, checked; by default the `usual` ones, else all features.

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
