"""Whether nominal values have an order, so that only neighbours among them are merged.

An order is declared (an Enum, such as a schema's ``education = ["primary", "secondary"]`` makes of
a column), or seen: every value begins with a number (``18-24``, ``5th-6th``, ``10 to 49 people``,
``2. often``), or is a word of one of the scales below. A word that all values share is not looked
at (``Stage II``, ``low income``), but a name before a number is no order (``Region 3``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

_NO_PLACE = {
    *("", "unknown", "other", "others", "missing", "na", "n/a", "none stated", "not stated"),
    *("not known", "don't know", "refused", "unspecified", "not applicable", "not in universe"),
    *("prefer not to say", "prefer not to answer", "no answer", "do not know", "dk", "nan", "null"),
}
_NOTHING = {"none", "nobody", "nothing", "never", "zero"}
"""What comes before every number."""
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
"""Words after which a number is a place in an order, not a name."""
FEWEST = 3
"""Two values have no order that could be broken."""

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
# A grade is the first of a value such as "7th-8th".
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
    """The values in their order; `None` where they have none that is known.

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
    """The place of each value, as it stands or without the word that all share."""
    found = _numbers(values) or _of_scale(values)
    if found is not None:
        return found
    words = [value.lower().split() for value in values]
    for shared, rest in ((0, slice(1, None)), (-1, slice(-1))):
        if len({each[shared] for each in words if each}) == 1 and min(map(len, words)) > 1:
            bare = [" ".join(each[rest]) for each in words]
            counted = words[0][shared] in _COUNTED
            return (_numbers(bare, alone=True) if counted else None) or _of_scale(bare)
    return None


def _numbers(values: Sequence[str], *, alone: bool = False) -> list[float] | None:
    """By the number that each begins with; codes, digits alone, have no order unless `alone`."""
    found = [_leading(value.strip()) for value in values]
    places = [place for place in found if place is not None]
    if len(places) < len(values) or len(set(places)) < len(places):
        return None
    named = [value.strip() for value in values if value.strip().lower() not in _NOTHING]
    plain = all(re.fullmatch(r"\d+", value) for value in named)
    return None if plain and not alone else places


def _leading(text: str) -> float | None:
    """The number that a text begins with, just below or above it where a word says so."""
    if text.lower() in _NOTHING:
        return -float("inf")
    for words, step in ((_BELOW, -0.5), (_ABOVE, 0.5)):
        if (word := words.match(text)) and (number := _NUMBER.match(text, word.end())):
            return _float(number[1]) + step
    number = _NUMBER.match(text)
    # "3b" and "4 Main Street" are names; a band goes on with a sign, a word of a band, or ends.
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
    """A value as the scales have it: grades by their first number, small letters, no signs."""
    text = re.sub(r"[.,_-]+", " ", value.strip().lower())
    text = re.sub(r"\s+", " ", text).strip()
    text = text.replace("'s", "s")
    grade = re.match(r"(\d+)(?:st|nd|rd|th)\b", text)
    return f"grade {grade[1]}" if grade else text
