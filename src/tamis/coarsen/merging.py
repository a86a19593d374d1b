"""Which groups of a column to merge: those that lose least about the target and reveal least.

The summed residuals of a group, squared and divided by its curvature, are what one Newton step for
that group would gain (Rao's score test, as in `learn.score_test`). Two merged groups can take only
one step together; the difference is what merging them costs about a label.

Any two groups differ somewhat by chance. A difference within chance counts as none, or the groups
would depend on which rows were drawn. Of merges that cost nothing, those of the smallest groups
come first, and round cuts stay longest, so that other rows give the same groups.

Where nominal values have an order, only neighbours are merged. The order is declared (an Enum, such
as a schema's ``education = ["primary", "secondary"]`` makes of a column) or recognised: every value
begins with a number (``18-24``, ``5th-6th``, ``10 to 49 people``, ``2. often``), or is a word of
one of the scales below. A word that all values share is ignored (``Stage II``, ``low income``), but
numbers after a name give no order (``Region 3``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from tamis.arrays import Floats
from tamis.learn.coded_table import Codes
from tamis.learn.score_test import bits_of, residuals

LEAST_BEND = 0.25
"""Floor of the curvature that slopes are divided by: p (1 - p) of one row at p = 1/2."""
ERRORS = 2.0
"""Standard errors above the mean that a difference may reach and still count as chance."""


@dataclass(frozen=True, eq=False)
class Residuals:
    """Residuals of a model's predictions of a label, and what a bit about that label is worth.

    Parameters
    ----------
    residual, curvature : arrays of float, rows by classes
        The label (1 or 0) minus its probability p; and p (1 - p).
    worth : float
        Worth of one bit per row: above 0 for what should be kept, below 0 for what should not be
        told.

    Examples
    --------
    >>> Residuals.of(np.array([[0.5, 0.5]]), np.array([1]), worth=1.0).residual.tolist()
    [[-0.5, 0.5]]
    """

    residual: Floats
    curvature: Floats
    worth: float

    @classmethod
    def of(
        cls, probabilities: Floats, label: NDArray[np.integer[Any]], *, worth: float
    ) -> Residuals:
        """From out-of-sample probabilities and the true labels."""
        return cls(*residuals(probabilities, label), worth)

    def sums(self, codes: Codes, leaves: int) -> tuple[Floats, Floats]:
        """Summed residuals and curvatures of each leaf, leaves by classes, without code 0."""
        return _sums(codes, leaves, self.residual), _sums(codes, leaves, self.curvature)

    @property
    def scale(self) -> float:
        """What a unit of slope**2 / bend is worth, in the units of `worth`."""
        rows, classes = self.residual.shape
        return float(bits_of(self.worth, max(rows, 1), classes))


def merged_groups(
    codes: Codes,
    leaves: int,
    evidence: Sequence[Residuals],
    sizes: Sequence[int],
    *,
    ordered: bool,
    roundness: Sequence[int] = (),
    apart: bool = False,
    rows: ArrayLike | None = None,
) -> dict[int, tuple[int, ...]]:
    """Merge the leaves of a column greedily; return the groups at the sizes asked for.

    Parameters
    ----------
    codes : array of uint8
        The leaf of each row of the evidence, from 1; 0 is a missing value.
    leaves : int
        The number of leaves.
    evidence : sequence of Residuals
        One for each label that counts, on the same rows.
    sizes : sequence of int
        The numbers of groups wanted; those not below the number of leaves are ignored.
    ordered : bool
        Whether only neighbours may be merged.
    roundness : sequence of int
        For ordered leaves, the digits of the cut below each but the first; cuts with fewer digits
        stay longer.
    apart : bool
        Whether the first leaf is never merged, as it has no place in the order.
    rows : array of int, optional
        The number of rows with each leaf; where nothing is lost, the smallest groups are merged
        first. Counts of the whole table make these ties independent of the rows that the evidence
        was drawn from. By default, counts of the evidence.

    Returns
    -------
    dict of int to tuple of int
        For each number of groups, the group of each leaf, numbered in the order of first leaves.

    Examples
    --------
    >>> label = np.array([0, 0, 1, 1, 0, 1] * 20)
    >>> codes = np.array([1, 1, 2, 2, 3, 4] * 20, dtype=np.uint8)
    >>> about = Residuals.of(np.full((120, 2), 0.5), label, worth=1.0)
    >>> merged_groups(codes, 4, [about], [2], ordered=False)
    {2: (0, 1, 0, 1)}
    """
    counts = np.bincount(codes, minlength=leaves + 1)[1:] if rows is None else np.asarray(rows)
    state = _Merging(codes, counts, evidence, ordered, roundness, apart)
    found = {}
    for groups in sorted({size for size in sizes if 1 + apart <= size < leaves}, reverse=True):
        while state.groups > groups:
            state.merge()
        found[groups] = state.numbered()
    return found


class _Merging:
    """State of the merges: the groups so far, their sums, and the cost of merging each pair."""

    def __init__(
        self,
        codes: Codes,
        rows: NDArray[np.integer[Any]],
        evidence: Sequence[Residuals],
        ordered: bool,
        roundness: Sequence[int] = (),
        apart: bool = False,
    ) -> None:
        leaves = len(rows)
        self.group_of = np.arange(leaves)
        self.groups = leaves
        self.scales = [label.scale for label in evidence]
        self.chance = [by_chance(label.residual.shape[1]) for label in evidence]
        self.sums = [label.sums(codes, leaves) for label in evidence]
        self.rows = rows.astype(np.float64)
        # Across a round cut rows count for more, up to twice as much, so that it is merged later.
        self.weight = 1 + 1 / np.array([1, *roundness]) if roundness else np.ones(leaves)
        self.ordered, self.apart = ordered, apart
        self.cost = np.full((leaves, leaves), np.inf)
        for group in range(leaves):
            self._renew(group)

    def merge(self) -> None:
        """Merge the cheapest pair into the group with the smaller number.

        Among equal costs the pair with the fewest weighted rows wins, then the first.
        """
        ones, others = np.nonzero(np.triu(self.cost <= self.cost.min(), 1))
        sizes = (self.rows[ones] + self.rows[others]) * self.weight[others]
        place = int(sizes.argmin())
        one, other = int(ones[place]), int(others[place])
        self.group_of[self.group_of == other] = one
        self.groups -= 1
        self.rows[one] += self.rows[other]
        for slope, bend in self.sums:
            slope[one] += slope[other]
            bend[one] += bend[other]
        self.cost[other, :] = self.cost[:, other] = np.inf
        self._renew(one)

    def _renew(self, group: int) -> None:
        """Recompute the cost of merging this group with any other."""
        partners = self._partners(group)
        cost = np.zeros(len(partners))
        for scale, chance, (slope, bend) in zip(self.scales, self.chance, self.sums):
            theirs, bends = slope[partners], bend[partners]
            apart = _gain(theirs, bends) + _gain(slope[group], bend[group])
            lost = apart - _gain(theirs + slope[group], bends + bend[group])
            # Only what exceeds chance counts; a negative scale makes merging a gain.
            cost += scale * np.maximum(lost - chance, 0.0)
        self.cost[group, :] = self.cost[:, group] = np.inf
        self.cost[group, partners] = self.cost[partners, group] = cost

    def _partners(self, group: int) -> NDArray[np.intp]:
        """The groups that this one may be merged with; a group is named by its first leaf."""
        heads = np.unique(self.group_of)[int(self.apart) :]
        if self.apart and group == 0:
            return heads[:0]
        if not self.ordered:
            return np.asarray(heads[heads != group])
        place = int(np.searchsorted(heads, group))
        return np.asarray(heads[[p for p in (place - 1, place + 1) if 0 <= p < len(heads)]])

    def numbered(self) -> tuple[int, ...]:
        """The group of each leaf, numbered without gaps."""
        return tuple(np.unique(self.group_of, return_inverse=True)[1].tolist())


def by_chance(classes: int) -> float:
    """Upper limit of what merging two groups of the same distribution loses by chance.

    Over c classes the loss is c / (c - 1) times a chi-squared variable with c - 1 degrees of
    freedom; the limit is its mean plus `ERRORS` standard deviations.

    >>> round(by_chance(2), 2)
    7.66
    """
    free = max(classes - 1, 1)
    return classes / free * (free + ERRORS * sqrt(2 * free))


def _gain(slope: Floats, bend: Floats) -> Floats:
    return np.asarray((slope**2 / np.maximum(bend, LEAST_BEND)).sum(axis=-1))


def _sums(codes: Codes, leaves: int, values: Floats) -> Floats:
    sums = [np.bincount(codes, weights=column, minlength=leaves + 1) for column in values.T]
    return np.asarray(np.stack(sums, axis=1)[1:], dtype=np.float64)


_NO_PLACE = {
    *("", "unknown", "other", "others", "missing", "na", "n/a", "none stated", "not stated"),
    *("not known", "don't know", "refused", "unspecified", "not applicable", "not in universe"),
    *("prefer not to say", "prefer not to answer", "no answer", "do not know", "dk", "nan", "null"),
}
_NOTHING = {"none", "nobody", "nothing", "never", "zero"}
"""Words that come before every number."""
_COUNTED = {
    *("age", "aged", "ages", "band", "class", "decile", "degree", "grade", "level", "phase"),
    *(
        "asa",
        "ecog",
        "nyha",
        "quartile",
        "quintile",
        "rank",
        "score",
        "stage",
        "step",
        "tier",
        "year",
    ),
}
"""Words after which a number is a rank, not a name."""
FEWEST = 3
"""Fewest values with an order; two are always neighbours."""

_SCALES = (
    "none|very low|low|lower|medium low|medium|middle|moderate|average|medium high|high|higher|"
    "very high|extreme",
    "none|minimal|slight|mild|moderate|severe|very severe|critical",
    "tiny|extra small|very small|small|medium|middle|large|big|very large|extra large|huge",
    "xxs|xs|s|m|l|xl|xxl|xxxl",
    "never|almost never|rarely|seldom|occasionally|sometimes|often|frequently|usually|very often|"
    "almost always|always",
    "very poor|poor|fair|average|satisfactory|good|very good|excellent|outstanding",
    "strongly disagree|disagree|somewhat disagree|neutral|neither|undecided|somewhat agree|agree|"
    "strongly agree",
    "very dissatisfied|dissatisfied|neutral|satisfied|very satisfied",
    "newborn|neonate|baby|infant|toddler|child|teen|teenager|adolescent|youth|young|young adult|"
    "adult|middle aged|senior|old|elderly",
    "i|ii|iii|iv|v|vi|vii|viii|ix|x",
    "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth",
    "january|february|march|april|may|june|july|august|september|october|november|december",
    "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec",
    "monday|tuesday|wednesday|thursday|friday|saturday|sunday",
    "mon|tue|wed|thu|fri|sat|sun",
    "light|moderate|heavy|very heavy",
    "underweight|normal|normal weight|overweight|obese|severely obese",
    "not at all|slightly|a little|somewhat|moderately|very|very much|extremely",
    "hourly|daily|weekly|fortnightly|monthly|quarterly|yearly|never",
    "nie|fast nie|selten|gelegentlich|manchmal|oft|häufig|meistens|fast immer|immer",
    "sehr niedrig|niedrig|mittel|hoch|sehr hoch",
    "sehr schlecht|schlecht|mäßig|mittel|befriedigend|gut|sehr gut",
    "jamais|presque jamais|rarement|parfois|souvent|presque toujours|toujours",
    "très faible|faible|moyen|moyenne|élevé|élevée|très élevé",
    "nunca|casi nunca|rara vez|a veces|a menudo|casi siempre|siempre",
    "muy bajo|bajo|medio|alto|muy alto",
    "aldrig|sällan|sjældent|sjelden|ibland|nogle gange|noen ganger|ofta|ofte|alltid|altid",
    "nooit|zelden|soms|regelmatig|vaak|meestal|altijd",
    "mai|raramente|talvolta|qualche volta|spesso|sempre",
    "nunca|raramente|às vezes|frequentemente|sempre",
    "nigdy|rzadko|czasami|często|zawsze",
    "very unlikely|unlikely|neutral|possible|likely|very likely|almost certain",
    "strongly oppose|oppose|neither|neutral|support|strongly support",
    "strongly disapprove|disapprove|neither|neutral|approve|strongly approve",
    "negligible|minor|moderate|major|extreme|catastrophic",
    "freezing|very cold|cold|cool|mild|warm|hot|very hot",
    "benign|borderline|malignant",
    "never smoker|ex smoker|light smoker|moderate smoker|heavy smoker",
    "none|trace|1+|2+|3+|4+",
    "negative|trace|1+|2+|3+|4+",
    "tis|t0|t1|t2|t3|t4",
    "n0|n1|n2|n3",
    "q1|q2|q3|q4",
    "a1|a2|b1|b2|c1|c2",
    "private|corporal|sergeant|lieutenant|captain|major|colonel|general",
)
# Ranks of schooling, each with its spellings. "7th-8th" counts as its first grade, see `_word`.
_SCHOOL = (
    "none|no schooling|no education|no formal education|illiterate|children|less than 1st grade",
    "preschool|kindergarten|pre school|early childhood|early childhood education|"
    "less than primary|less than primary education|some primary|incomplete primary",
    "grade 0|grade 1|grade 2|grade 3|grade 4|basic 4y|primary|primary school|"
    "primary education|elementary|elementary school",
    "grade 5|grade 6|basic 6y",
    "grade 7|grade 8|middle school|lower secondary|lower secondary education|some secondary",
    "grade 9|basic 9y",
    "grade 10",
    "grade 11",
    "grade 12|some high school|less than high school",
    "hs-grad|high school|high school graduate|high school diploma|secondary|secondary school|"
    "upper secondary|upper secondary education|ged|secondary education",
    "post-secondary non-tertiary|post-secondary non-tertiary education",
    "some-college|some college|some college but no degree|some university|post secondary|"
    "short-cycle tertiary|short-cycle tertiary education",
    "assoc-voc|associates degree-occup /vocational|vocational|trade school|professional course",
    "assoc-acdm|associates degree-academic program|associate|associates|associate degree|"
    "university|tertiary|tertiary education",
    "bachelors|bachelor|bachelor degree|bachelors degree|bachelors or equivalent|"
    "bachelors degree(ba ab bs)|undergraduate|college|college degree|graduate|university degree",
    "masters|master|master degree|masters degree|masters or equivalent|"
    "masters degree(ma ms meng med msw mba)|postgraduate|graduate school|graduate degree",
    "prof-school|prof school degree (md dds dvm llb jd)|professional degree",
    "doctorate|phd|doctorate degree|doctorate degree(phd edd)|doctoral|doctoral or equivalent",
)
_RANKS = [*(scale.split("|") for scale in _SCALES), _SCHOOL]
_PLACES = [
    {word.replace("-", " "): i for i, words in enumerate(ranks) for word in words.split("|")}
    for ranks in _RANKS
]
_BELOW = re.compile(r"(?:<|under|below|less than|up to|fewer than)\s*", re.IGNORECASE)
_ABOVE = re.compile(r"(?:>=?|over|above|more than|at least)\s*", re.IGNORECASE)
_NUMBER = re.compile(r"[\[(]?[$€£]?\s*(-?\d[\d,' ]*(?:\.\d+)?)")


def order_of(column: pl.Series, values: Sequence[str]) -> list[str] | None:
    """Sort the values by their order; `None` where no order is recognised.

    >>> order_of(pl.Series(dtype=pl.String), ["10+", "under 5", "5-9"])
    ['under 5', '5-9', '10+']
    >>> order_of(pl.Series(dtype=pl.String), ["Masters", "HS-grad", "7th-8th", "Bachelors"])
    ['7th-8th', 'HS-grad', 'Bachelors', 'Masters']
    >>> order_of(pl.Series(dtype=pl.String), ["red", "green", "blue"])

    Values such as "unknown" have no place and are left out.

    >>> order_of(pl.Series(dtype=pl.String), ["tertiary", "unknown", "primary", "secondary"])
    ['primary', 'secondary', 'tertiary']
    """
    if isinstance(column.dtype, pl.Enum):
        listed = column.dtype.categories.to_list()
        return sorted(values, key=listed.index)
    values = [value for value in values if value.strip(" .?-").lower() not in _NO_PLACE]
    if len(values) < FEWEST:
        return None
    places = _places(values)
    if places is None:
        return None
    return [value for _, value in sorted(zip(places, values))]


def _places(values: Sequence[str]) -> list[float] | None:
    """Rank of each value, as it stands or without a first or last word that all share."""
    places = _numbers(values) or _of_scale(values)
    if places is not None:
        return places
    words = [value.lower().split() for value in values]
    for shared, rest in ((0, slice(1, None)), (-1, slice(-1))):
        if len({parts[shared] for parts in words if parts}) == 1 and min(map(len, words)) > 1:
            bare = [" ".join(parts[rest]) for parts in words]
            counted = words[0][shared] in _COUNTED
            return (_numbers(bare, alone=True) if counted else None) or _of_scale(bare)
    return None


def _numbers(values: Sequence[str], *, alone: bool = False) -> list[float] | None:
    """Ranks by leading numbers; values of digits alone are codes, without order unless `alone`."""
    numbers = [_leading(value.strip()) for value in values]
    places = [place for place in numbers if place is not None]
    if len(places) < len(values) or len(set(places)) < len(places):
        return None
    named = [value.strip() for value in values if value.strip().lower() not in _NOTHING]
    plain = all(re.fullmatch(r"\d+", value) for value in named)
    return None if plain and not alone else places


def _leading(text: str) -> float | None:
    """The number that a text begins with, a half less or more after "under", "over" and the like.

    The half puts "under 5" before "5-9" and ">= 5" after "5".
    """
    if text.lower() in _NOTHING:
        return -float("inf")
    for words, step in ((_BELOW, -0.5), (_ABOVE, 0.5)):
        if (word := words.match(text)) and (number := _NUMBER.match(text, word.end())):
            return _float(number[1]) + step
    number = _NUMBER.match(text)
    # "3b" and "4 Main Street" are names. After the number of a band comes a sign, a word such as
    # "to" or "years", or nothing.
    ends = (
        number
        and re.match(
            r"\s*($|[-–+%/<>=]|[.)]\s|to\b|or\b|and\b|(year|month|week|day|hour)s?\b|people\b|k\b|"  # noqa: RUF001
            r"€|\$|(st|nd|rd|th)\b)",
            text[number.end() :],
            re.IGNORECASE,
        )
    )
    return _float(number[1]) if number and ends else None


def _float(digits: str) -> float:
    return float(re.sub(r"[,' ]", "", digits))


def _of_scale(values: Sequence[str]) -> list[float] | None:
    words = [_word(value) for value in values]
    for places in _PLACES:
        if all(word in places for word in words):
            return [float(places[word]) for word in words]
    return None


def _word(value: str) -> str:
    """Normalise a value to the spelling of the scales: lower case, no signs, first grade."""
    text = re.sub(r"[.,_-]+", " ", value.strip().lower())
    text = re.sub(r"\s+", " ", text).strip()
    text = text.replace("'s", "s")
    grade = re.match(r"(\d+)(?:st|nd|rd|th)\b", text)
    return f"grade {grade[1]}" if grade else text
