"""Made tables with one column `x` that is about people, or an ordinary one that resembles it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from tests.read.made_identifiers import of

FAMILY_HEADERS = (
    "last_name", "lastName", "lname", "surname", "nom_de_famille", "Nachname", "Familienname",
    "apellido", "apellidos", "cognome", "sobrenome", "apelido", "achternaam", "efternamn",
    "etternavn", "efternavn", "sukunimi", "nazwisko", "příjmení", "vezetéknév", "soyad\u0131",
    "priezvisko", "Kundenname", "Name des Patienten", "фамилия", "επώνυμο", "姓名", "성명",
    "prezime", "pavardė", "uzvārds", "perekonnanimi", "last", "nom", "name",
)  # fmt: skip
GIVEN_HEADERS = (
    "first_name", "firstName", "fname", "forename", "given_name", "prénom", "Vorname", "nombre",
    "nome", "voornaam", "förnamn", "fornavn", "etunimi", "imię", "jméno", "keresztnév", "prenume",
    "eesnimi", "first",
)  # fmt: skip
ID_HEADERS = (
    "usubjid", "subjid", "patid", "pid", "caseid", "case_no", "hhid", "hid", "respid", "MemberID_t",
    "mrn", "PatientID", "subject", "cust_no", "clientNumber", "user_id", "household_id", "SEQN",
    "studyid", "person_nr", "ssn",
)  # fmt: skip
_STARTS = [
    "Ab",
    "Bel",
    "Car",
    "Dor",
    "Ev",
    "Fal",
    "Gor",
    "Hal",
    "Iv",
    "Jan",
    "Kol",
    "Lam",
    "Mor",
    "Nov",
    "Or",
    "Pet",
    "Ros",
    "Sal",
    "Tor",
    "Vas",
]
_MIDDLES = of("an el in or ur es av it om ad er il")
_ENDS = of("ek son ova sky man ini ez ic berg sen ton ard")


def family_names(rows: int, rng: np.random.Generator) -> list[str]:
    """Names of which some are common and most occur once, as surnames do."""
    known = [s + m + e for s in _STARTS for m in _MIDDLES for e in _ENDS]
    rng.shuffle(known)
    share = 1 / (np.arange(len(known)) + 30)
    return list(rng.choice(known, rows, p=share / share.sum()))


def given_names(rows: int, rng: np.random.Generator) -> list[str]:
    """The same, with fewer names that are more common."""
    known = [s + m for s in _STARTS for m in _MIDDLES]
    rng.shuffle(known)
    share = 1 / (np.arange(len(known)) + 5)
    return list(rng.choice(known, rows, p=share / share.sum()))


def visits(rng: np.random.Generator, people: int = 400) -> pl.DataFrame:
    """Patients with one to five visits each, in any order."""
    who = rng.permutation(np.repeat(np.arange(people), rng.integers(1, 6, people)))
    sex, born = rng.integers(0, 2, people), rng.integers(1930, 2005, people)
    site = rng.integers(0, 9, people)
    rows = len(who)
    return pl.DataFrame(
        {
            "patient": rng.permutation(people)[who] + 5_000,
            "sex": np.where(sex, "f", "m")[who],
            "born": born[who],
            "site": site[who],
            "dose": rng.integers(1, 40, rows),
            "ill": rng.choice(["no", "yes"], rows),
        }
    )


def _with(column: object, rng: np.random.Generator, rows: int) -> pl.DataFrame:
    beside = {"ward": rng.choice(["A", "B", "C"], rows), "age": rng.integers(18, 90, rows)}
    return pl.DataFrame({"x": column, **beside})


Made = Callable[[int], pl.DataFrame]
"""A table for a seed."""


def _made(
    make: Callable[[np.random.Generator, int], object], rows: int = 900
) -> Callable[[int], pl.DataFrame]:
    def table(seed: int) -> pl.DataFrame:
        rng = np.random.default_rng(seed)
        return _with(make(rng, rows), rng, rows)

    return table


def _street(rng: np.random.Generator, rows: int) -> list[str]:
    roads = of("Old Mill Church Station Park North")
    kinds = ["Close", "Crescent", "Terrace", "Gardens"]
    return [
        f"{rng.choice(roads)}{rng.choice(_ENDS)} {rng.choice(kinds)} {rng.integers(1, 200)}"
        for _ in range(rows)
    ]


def _notes(rng: np.random.Generator, rows: int) -> list[str]:
    words = [
        "pain",
        "slept",
        "came",
        "again",
        "better",
        "worse",
        "left",
        "knee",
        "after",
        "fall",
        "asked",
        "doctor",
        "said",
        "home",
    ]
    return [" ".join(rng.choice(words, rng.integers(5, 8))) for _ in range(rows)]


COMMON = of(
    "Mary James Maria Ahmed Peter Hannah Lars Ingrid Jean Sophie Giulia Mehmet Fatima Anna Paul "
    "Laura David Sarah Thomas Julia Martin Claire"
)


def _both(rng: np.random.Generator, rows: int) -> list[str]:
    return [f"{a} {b}" for a, b in zip(given_names(rows, rng), family_names(rows, rng))]


def _stays(seed: int) -> pl.DataFrame:
    return visits(np.random.default_rng(seed)).rename({"patient": "x"})


PEOPLE_COLUMNS: dict[str, Made] = {
    "family names": _made(lambda rng, n: family_names(n, rng)),
    "in small letters": _made(lambda rng, n: [x.lower() for x in family_names(n, rng)]),
    "in capitals": _made(lambda rng, n: [x.upper() for x in family_names(n, rng)]),
    "two names": _made(_both),
    "common given names": _made(lambda rng, n: rng.choice(COMMON, n)),
    "addresses": _made(_street),
    "free text": _made(_notes),
    "an id by its form": _stays,
    "an id by its form, in file order": lambda seed: _stays(seed).sort("x"),
    "an id of letters and digits": lambda seed: _stays(seed).with_columns(x=pl.format("S-{}", "x")),
}  # fmt: skip


def _towns(rng: np.random.Generator, rows: int) -> list[str]:
    known = [s + "ville" for s in _STARTS] + [s + "ton" for s in _STARTS]
    share = 1 / (np.arange(len(known)) + 1)
    return list(rng.choice(known, rows, p=share / share.sum()))


def _postcodes(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    county = rng.integers(0, 40, 300)
    at = rng.integers(0, 300, 1500)
    frame = _with((10_000 + 37 * np.arange(300))[at], rng, 1500)
    return frame.with_columns(county=county[at], state=county[at] // 8)


def _codes(rng: np.random.Generator, rows: int) -> list[str]:
    return [
        f"{'ABCDEFGH'[a]}{b:02d}"
        for a, b in zip(rng.integers(0, 8, rows), rng.integers(0, 40, rows))
    ]


ORDINARY_COLUMNS: dict[str, Made] = {
    "towns": _made(_towns),
    "jobs": _made(lambda rng, n: rng.choice(of("cook judge farmer teacher nurse pilot"), n)),
    "codes of diseases": _made(_codes, 3_000),
    "postcodes with county and state": _postcodes,
    "ages": _made(lambda rng, n: rng.integers(18, 90, n)),
    "incomes": _made(lambda rng, n: (rng.lognormal(10, 0.5, n) / 100).round() * 100, 4_000),
    "laboratory values": _made(lambda rng, n: rng.normal(40, 4, n)),
    "months": _made(lambda rng, n: rng.choice(of("January February March April May June"), n)),
    "grades": _made(lambda rng, n: rng.choice(["very good", "good", "fair", "poor"], n)),
    "intervals": _made(lambda rng, n: [f"{10 * i} to {10 * i + 9}" for i in rng.integers(0, 9, n)]),
    "counts": _made(lambda rng, n: rng.poisson(60, n)),
    "truth values": _made(lambda rng, n: rng.random(n) < 0.4),
}  # fmt: skip
