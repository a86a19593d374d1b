"""What Jafer, Matwin and Sokolova (2017) print, and how its abbreviations are read."""

from __future__ import annotations

from dataclasses import dataclass

Weights = tuple[float, float, float]
"""Of performance, privacy and size."""


@dataclass(frozen=True)
class Hidden:
    """A row of Table 1 or 2: the number of pregnancies is what must stay hard to guess."""

    letter: str
    features: str
    performance: str
    p_value: str
    pbi: str | None


TABLE_1 = (
    Hidden("A", "plas mass pres skin age pedi", "75.26", "0.044", "0.97"),
    Hidden("B", "plas mass pres skin age", "75.52", "0.009", "1.29"),
    Hidden("C", "plas mass pres skin", "73.83", "0.931", "-3.08"),
    Hidden("D", "plas mass pres", "74.35", "0.599", "-3.08"),
    Hidden("E", "plas mass", "74.48", "0.525", "-2.75"),
    Hidden("F", "plas", "73.04", "0.626", "-2.75"),
)
TABLE_2 = (
    Hidden("G", "skin insu pres mass pedi plas", "73.96", "0.8544", "-3.24"),
    Hidden("put back", "skin insu pres mass pedi", "66.15", "0.0015", None),
    Hidden("H", "skin insu pres mass plas", "73.57", "0.9318", "-3.08"),
    Hidden("I", "skin insu pres plas", "72.91", "0.6115", "-3.08"),
    Hidden("J", "skin insu plas", "73.30", "0.7542", "-3.08"),
    Hidden("K", "skin plas", "73.30", "0.7542", "-3.08"),
)
PERFORMANCE_RANKING = "plas mass pres skin age pedi insu"
PRIVACY_RANKING = "skin insu pres mass pedi plas age"
BASELINE = "73.70"
WRAPPER = Hidden("wrapper", "plas pres mass age", "75.78", "", "2.43")
IDEAL = "C D E G H"


@dataclass(frozen=True)
class Ranked:
    """A row of Tables 4 to 6: size, breach and performance, their ranks, and three scores."""

    features: str
    size: tuple[str, str]
    pbi: tuple[str, str]
    performance: tuple[str, str]
    scores: tuple[str, str, str]
    combination: str = "A"
    """Which of the three ideals a row has (Table 3)."""


COMBINATIONS = "ABCDEFGH"
"""Table 3: whether a row has the best performance, the least breach and the fewest features."""
COMBINED = {
    "plas mass preg skin pedi age pres": "E",
    "plas": "B",
    "insu pres age pedi skin preg plas": "C",
}
"""Table 4: the rows that are not A."""


def _ranked(features: str, *cells: str) -> Ranked:
    (size, num, pbi, prv, performance, prf), scores = cells[:6], cells[6:]
    return Ranked(
        features,
        (size, num),
        (pbi, prv),
        (performance, prf),
        (scores[0], scores[1], scores[2]),
        COMBINED.get(features, "A"),
    )


_ROWS = """\
baseline|8|1|0|7|73.835|8|5.328|6|6
plas mass preg skin pedi age pres|7|2|1.409|1|74.875|14|5.661|7.75|3.8
plas mass preg skin pedi age|6|4|1.231|2|74.744|13|6.327|8|4.6
plas mass preg skin pedi|5|6|0.889|3|74.491|12|6.993|8.25|5.4
plas mass preg skin|4|8|0.711|5|74.359|9|7.326|7.75|6.4
plas mass preg|3|10|0.711|5|74.359|9|7.992|8.25|6.8
plas mass|2|12|0.882|4|74.486|11|8.991|9.5|7
plas|1|14|-1.072|10|73.043|4|9.324|8|9.6
insu pres age pedi skin preg plas|7|2|-1.942|14|72.401|1|5.661|4.5|9
insu pres age pedi skin plas|6|4|-0.708|8|73.312|7|6.327|6.5|7
insu pres age pedi plas|5|6|-1.238|12|72.920|3|6.993|6|9
insu pres age plas|4|8|-1.241|13|72.919|2|7.659|6.25|9.8
insu pres plas|3|10|-0.893|9|73.175|6|8.325|7.75|8.6
insu plas|2|12|-1.072|10|73.043|4|8.658|7.5|9.2
"""
TABLES_4_TO_6 = tuple(_ranked(*line.split("|")) for line in _ROWS.splitlines())

THREE_WEIGHTS: dict[str, Weights] = {
    "w1 = w2 = w3": (0.333, 0.333, 0.333),
    "w1 = 2 w2": (0.5, 0.25, 0.25),
    "w2 = 3 w1": (0.2, 0.6, 0.2),
}
FIGURE_9 = ("plas", "plas mass", "insu pres age plas")
FIGURE_10 = ("plas", "plas mass pedi preg", "plas")
FIGURE_10_TIE = ("9.8", "plas; pedi plas; pedi plas skin")

ADULT = {
    "AG": "age",
    "WO": "workclass",
    "FW": "fnlwgt",
    "ED": "education",
    "EN": "education-num",
    "MS": "marital-status",
    "OC": "occupation",
    "RE": "relationship",
    "RC": "race",
    "SX": "sex",
    "CG": "capital-gain",
    "CL": "capital-loss",
    "HW": "hours-per-week",
    "NC": "native-country",
}
_LONG = "CG CL EN RE WO MS RC NC ED FW OC"
TABLE_7: tuple[tuple[Weights, str, str], ...] = (
    ((0.6, 0.2, 0.2), "CG CL EN AG RE HW", "15.4"),
    ((0.6, 0.15, 0.25), "CG CL EN AG RE HW", "16.5"),
    ((0.15, 0.3, 0.55), "CG CL EN RE", "15.5"),
    ((0.15, 0.75, 0.1), _LONG, "16.7"),
    ((0.1, 0.8, 0.1), _LONG, "15.75"),
)
FIGURE_11_SECOND = ((0.15, 0.3, 0.55), "CG CL EN AG RE")
FIGURE_12 = ((0.6, 0.15, 0.25), "CG RE MS OC ED EN AG HW SX NC WO RC")

# "DI" and "SAIA" of the print are read as D1 and SAlA.
DIABETES = {
    "NI": "number_inpatient",
    "NE": "number_emergency",
    "ND": "number_diagnoses",
    "DDID": "discharge_disposition_id",
    "ASID": "admission_source_id",
    "D1": "diag_1",
    "D2": "diag_2",
    "D3": "diag_3",
    "Age": "age",
    "Gen": "gender",
    "ME": "metformin",
    "Insu": "insulin",
    "Glim": "glimepiride",
    "DiaMed": "diabetesMed",
}
FIGURE_13_BEST = ((0.25, 0.5, 0.25), "NI DDID D1 D3 Age ME ASID Insu")
FIGURE_13_WORST = ((0.25, 0.5, 0.25), "NI DDID Age ME ASID Insu")
FIGURE_14 = ((0.6, 0.15, 0.25), "NI D1 NE D2 DDID ND Glim Age Gen DiaMed D3")

LIVER = {
    "AG": "Age",
    "Gender": "Gender",
    "TB": "TB",
    "DB": "DB",
    "AAP": "Alkphos",
    "SAlA": "Sgpt",
    "SAsA": "Sgot",
    "TP": "TP",
    "ALB": "ALB",
    "A/G": "A_G",
}
FIGURE_15 = (((0.8, 0.1, 0.1), "AG TP SAlA"), ((0.6, 0.15, 0.25), "AG TP SAlA"))
FIGURE_16 = (((0.8, 0.1, 0.1), "AAP SAlA Gender AG ALB TP DB"),)
