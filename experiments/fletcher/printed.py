"""What Fletcher and Islam print: rules, datasets and correlations."""

from __future__ import annotations

from dataclasses import dataclass

# Table 1 prints "206134 >" and "116388 >", where only "<" can be meant.
TABLE_1_RULES = """\
psi0: 206134 < fnlwgt <= 346177 and capital-gain <= 4737 and age > 40.5 and capital-loss <= 1836.5 and hours-per-week > 52.5 -> class=<=50K
psi1: 244440.5 < fnlwgt <= 249542 and capital-gain <= 4737 and age <= 40.5 -> class=<=50K
psi2: fnlwgt <= 206134 and capital-gain > 5316.5 -> class=>50K
psi3: 116388 < fnlwgt <= 200855.5 and capital-gain <= 5316.5 and capital-loss <= 1198 and hours-per-week <= 53.5 -> class=<=50K
"""  # noqa: E501
TABLE_1_SHARES = {
    "psi0": ("0.57", "0.43"),
    "psi1": ("0.92", "0.08"),
    "psi2": ("0.05", "0.95"),
    "psi3": ("0.81", "0.19"),
}
FIGURE_3 = {
    ("psi3", "rows at 0 %"): ("8000", 500.0),
    ("psi3", "rows at 30 %"): ("3000", 250.0),
    ("psi2", "rows at 30 %"): ("4000", 400.0),
    ("psi2", "share of <=50K at 30 %"): ("0.68", 0.02),
}

TABLE_4_MEASURES = ("Rule Accuracy", "RSD", "RLD", "Prediction Accuracy", "AUC", "F-measure")
TABLE_4 = {
    "x": ("0.00", "0.00", "0.00", "0.67", "0.67", "0.80"),
    "z": ("0.50", "0.08", "0.34", "0.67", "0.50", "0.67"),
    "Change": ("0.50", "0.08", "0.34", "0.00", "0.17", "0.13"),
}
FIGURE_5 = {
    ("Rule Accuracy", 0.8): "almost all rows",
    ("Rule Accuracy", 0.1): "almost all rows",
    ("Prediction Accuracy", 0.02): "no loss since 0.8",
    ("RSD", 0.04): "no change since 0.8",
}
"""What the text says of the curves, by measure and privacy budget."""


@dataclass(frozen=True)
class Shape:
    """A row of Table 5."""

    records: str
    continuous: str
    discrete: str
    labels: str
    majority: str


_SHAPES = """\
Banknotes 1372 4 0 2 55
Vehicle 846 18 0 4 26
RedWine 1599 11 0 6 43
Spambase 4601 57 0 2 60
Wilt 4839 5 0 2 95
WallSensor 5456 4 0 4 40
PageBlocks 5473 10 0 5 90
OptDigits 5620 62 0 10 10
PenWritten 10992 16 0 10 10
GammaTele 19014 10 0 2 65
Shuttle 58000 9 0 7 79
Credit 653 6 9 2 55
Parkinsons 1040 28 1 2 50
Yeast 1484 7 1 10 31
Cardio 2126 21 1 3 78
Adult 30162 6 5 2 75
Bank 45211 7 9 2 88
"""
TABLE_5 = {line.split()[0]: Shape(*line.split()[1:]) for line in _SHAPES.splitlines()}
RULES = ("11", "37")
"""The fewest and the most rules of a dataset."""

MEASURES = ("Rule Accuracy", "RLD", "RSD", "Prediction Accuracy", "AUC", "F-measure")
# For each noise the upper triangle by rows: r and p.
TABLE_6 = {
    "UN": """\
-0.77 0.00 -0.83 0.00 0.36 0.00 0.34 0.00 0.26 0.00
0.58 0.00 -0.32 0.00 -0.23 0.01 -0.09 0.33
-0.21 0.02 -0.35 0.00 -0.28 0.00
0.77 0.00 0.47 0.00
0.91 0.00
""",
    "GN": """\
-0.86 0.00 -0.77 0.00 0.19 0.04 0.20 0.02 0.21 0.02
0.44 0.00 -0.04 0.67 -0.08 0.35 -0.09 0.34
-0.13 0.14 -0.27 0.00 -0.26 0.00
0.72 0.00 0.50 0.00
0.93 0.00
""",
}


def pairs(noise: str) -> dict[tuple[str, str], tuple[str, str]]:
    """The printed r and p of every two measures.

    >>> pairs("UN")["AUC", "F-measure"]
    ('0.91', '0.00')
    """
    found = {}
    for i, line in enumerate(TABLE_6[noise].splitlines()):
        numbers = line.split()
        for j in range(len(numbers) // 2):
            found[MEASURES[i], MEASURES[i + 1 + j]] = (numbers[2 * j], numbers[2 * j + 1])
    return found
