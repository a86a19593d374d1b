"""The numbers that Zhang et al. (2017) print, as fractions.

A cell of Tables 4 to 6 is an AUC and, beside it, the number of selected features, or for RF the
share of flipped cells.
"""

from __future__ import annotations

KS = (5, 8, 11)
EPSILONS = (0.5, 1.0, 1.5, 2.0)

ENTITY, ADULT, EMAIL = "Entity disambiguation", "Adult", "Email"

STATISTICS: dict[str, tuple[int, int, int, int, float]] = {
    ADULT: (32561, 19, 24720, 7841, 0.279),
    ENTITY: (148, 552, 74, 74, 0.097),
    EMAIL: (1099, 24604, 618, 481, 0.009),
}
"""Table 3: rows, features, rows of the positive and of the negative class, share of ones."""

MAXIMAL, HAMDIST, DISTCNT = "Maximal", "HamDist", "DistCnt"
CM, RF = "CM Greedy", "RF"
EQUAL_HAMDIST, EQUAL_DISTCNT = "k-anonymity HamDist", "k-anonymity DistCnt"
FULL = "Full feature set"

METHODS = (MAXIMAL, HAMDIST, DISTCNT, CM, RF, EQUAL_HAMDIST, EQUAL_DISTCNT)
"""The rows of Tables 4 to 6 that depend on k."""

AUCS: dict[str, dict[str, tuple[float, float, float]]] = {
    ENTITY: {
        MAXIMAL: (0.82, 0.81, 0.79),
        HAMDIST: (0.88, 0.88, 0.81),
        DISTCNT: (0.81, 0.81, 0.80),
        CM: (0.68, 0.68, 0.68),
        RF: (0.75, 0.73, 0.72),
        EQUAL_HAMDIST: (0.55, 0.55, 0.55),
        EQUAL_DISTCNT: (0.79, 0.79, 0.77),
    },
    ADULT: {
        MAXIMAL: (0.74, 0.74, 0.75),
        HAMDIST: (0.77, 0.77, 0.76),
        DISTCNT: (0.78, 0.78, 0.76),
        CM: (0.71, 0.71, 0.71),
        RF: (0.80, 0.80, 0.80),
        EQUAL_HAMDIST: (0.72, 0.72, 0.72),
        EQUAL_DISTCNT: (0.73, 0.70, 0.70),
    },
    EMAIL: {
        MAXIMAL: (0.94, 0.92, 0.90),
        HAMDIST: (0.91, 0.91, 0.91),
        DISTCNT: (0.95, 0.93, 0.93),
        CM: (0.86, 0.86, 0.86),
        RF: (0.87, 0.86, 0.87),
        EQUAL_HAMDIST: (0.84, 0.84, 0.84),
        EQUAL_DISTCNT: (0.81, 0.81, 0.81),
    },
}
"""AUC at each of `KS`: Table 4 (entities), Table 5 (Adult), Table 6 (e-mail)."""

SIZES: dict[str, dict[str, tuple[float, float, float]]] = {
    ENTITY: {
        MAXIMAL: (61, 43, 32),
        HAMDIST: (27, 24, 16),
        DISTCNT: (11, 11, 10),
        CM: (2, 2, 2),
        RF: (0.1199, 0.1403, 0.1649),
        EQUAL_HAMDIST: (3, 2, 2),
        EQUAL_DISTCNT: (3, 3, 2),
    },
    ADULT: {
        MAXIMAL: (8, 8, 7),
        HAMDIST: (9, 9, 8),
        DISTCNT: (10, 10, 8),
        CM: (5, 5, 5),
        RF: (0.0060, 0.0100, 0.0144),
        EQUAL_HAMDIST: (8, 8, 8),
        EQUAL_DISTCNT: (8, 6, 6),
    },
    EMAIL: {
        MAXIMAL: (121, 66, 58),
        HAMDIST: (11, 11, 11),
        DISTCNT: (11, 7, 7),
        CM: (3, 3, 3),
        RF: (0.0130, 0.0173, 0.0203),
        EQUAL_HAMDIST: (4, 4, 4),
        EQUAL_DISTCNT: (4, 4, 4),
    },
}
"""Selected features at each of `KS`; for RF the share of cells that were flipped."""

FLIP_SPREADS: dict[str, tuple[float, float, float]] = {
    ENTITY: (0.02, 0.03, 0.02),
    ADULT: (0.02, 0.03, 0.02),
    EMAIL: (0.02, 0.01, 0.03),
}
"""The standard deviation of RF's AUC over ten runs."""

FULL_AUCS = {ENTITY: 0.87, ADULT: 0.82, EMAIL: 0.95}

PRIVATE_AUCS: dict[tuple[str, str, float], float] = {
    ("laplace", ENTITY, 1.0): 0.51,
    ("exponential", ENTITY, 1.0): 0.51,
}
"""The only heights of Figure 1's bars that the text gives as numbers."""

TABLE_OF = {ENTITY: "Table 4, on substitute rows", ADULT: "Table 5", EMAIL: "Table 6"}
