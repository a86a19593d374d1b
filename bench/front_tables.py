"""Real tables with a target and a secret for the bench of kept and told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@dataclass(frozen=True)
class Setup:
    """A frame without missing labels, what is learnt, what is secret, what attackers know."""

    frame: pl.DataFrame
    target: str
    secret: str
    quasi: tuple[str, ...]

    @property
    def features(self) -> list[str]:
        return [c for c in self.frame.columns if c not in (self.target, self.secret)]


def read(name: str) -> pl.DataFrame:
    return pl.read_csv(DATA / f"{name}.csv.gz", null_values=["?", ""], infer_schema_length=None)


def setup(frame: pl.DataFrame, target: str, secret: str, *quasi: str) -> Setup:
    kept = frame.drop_nulls([target, secret])
    return Setup(kept, target, secret, tuple(c for c in quasi if c != secret))


ADULT_QUASI = ("age", "race", "native-country", "marital-status", "relationship")
BANK_QUASI = ("age", "job", "marital", "education")


def adult(secret: str) -> Setup:
    frame = read("adult_train").drop_nulls().drop("fnlwgt", "education")
    quasi = ADULT_QUASI if secret == "sex" else (*ADULT_QUASI, "sex")
    return setup(frame, "class", secret, *quasi)


def bank(secret: str) -> Setup:
    return setup(read("bank_marketing"), "y", secret, *BANK_QUASI)


def credit() -> Setup:
    frame = read("credit_approval").drop_nulls()
    return setup(frame, "class", "A1", "A2", "A4", "A5", "A6", "A7")


def diabetes() -> Setup:
    """The first stay of each patient; diagnoses cut to two signs."""
    frame = read("diabetes130").sort("encounter_id").unique("patient_nbr", keep="first")
    frame = frame.sort("encounter_id").drop("encounter_id", "patient_nbr", "weight")
    frame = frame.with_columns(pl.col(r"^diag_.$").cast(pl.String).str.slice(0, 2))
    constant = [c for c in frame.columns if frame[c].n_unique() == 1]
    return setup(frame.drop(constant), "readmitted", "race", "gender", "age")


def liver() -> Setup:
    return setup(read("ilpd").drop_nulls(), "Selector", "Gender", "Age")


def pima() -> Setup:
    """Whether a woman had more than three pregnancies is secret; her age is known."""
    frame = read("pima")
    first = frame.columns[0]
    frame = frame.with_columns((pl.col(first) > 3).cast(pl.String).alias(first))
    age = next(c for c in frame.columns if c.lower().startswith("age"))
    return setup(frame, "class", first, age)


def mushroom() -> Setup:
    return setup(read("mushroom"), "class", "habitat", "cap-shape", "cap-color")


def cardiotocography() -> Setup:
    frame = read("cardiotocography").drop("CLASS")
    frame = frame.with_columns((pl.col("LB") > 133).cast(pl.String).alias("LB"))
    return setup(frame, "NSP", "LB")


def wine() -> Setup:
    frame = read("winequality_red")
    column = next(c for c in frame.columns if c.startswith("alcohol"))
    frame = frame.with_columns(
        (pl.col(column) > 10.2).cast(pl.String).alias(column), pl.col("quality") > 5
    )
    return setup(frame, "quality", column)


SETUPS: dict[str, Callable[[], Setup]] = {
    "adult_sex": lambda: adult("sex"),
    "adult_race": lambda: adult("race"),
    "adult_marital": lambda: adult("marital-status"),
    "bank_default": lambda: bank("default"),
    "bank_marital": lambda: bank("marital"),
    "credit": credit,
    "diab": diabetes,
    "ilpd": liver,
    "pima": pima,
    "mushroom": mushroom,
    "cardio": cardiotocography,
    "wine": wine,
}
