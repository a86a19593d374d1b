"""The schema of a manifest: every key at every depth, their order, and the form of each value.

Anything else is refused, because a key that nobody reads can hold a person's name as well as a cell
can. Texts come from a fixed list, or are built from figures and compared elsewhere. Free are only
the names of columns and labels, which are in the file, and figures, which `verify` counts again or
lists as not counted. `docs/releasing.md` explains the keys.

Parts that fit the schema may still contradict each other: real rows have no privacy budget and
synthetic ones no people, columns are in the order of their names, and nothing is stated twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import floor, log10
from typing import Any

from tamis.catalogue.formats import DESCRIPTIONS
from tamis.catalogue.measures import MEASURES
from tamis.catalogue.methods import MODELS, RECORDED
from tamis.errors import listed
from tamis.stated import MOST_ABSENCES, OF_GROUPS_STATED, STATED
from tamis.table_file import WRITTEN
from tamis.verification.labels import READ_BINS, stated_form
from tamis.verification.layout import NAME, RELEASE, REPORT, SCHEMA, SCHEMA_VERSION
from tamis.verification.value_shapes import (
    By,
    Keyed,
    Maybe,
    Shape,
    is_count,
    is_date,
    is_finite_number,
    is_flag,
    is_fraction,
    is_hash,
    is_scalar,
    is_share,
    is_text,
    is_version,
    like,
    one_of,
)

_UNIT = one_of("people", "rows")
NEIGHBOURS = {
    ("row", "add-remove"): "two tables are neighbours when one of them has one more row",
    ("row", "substitute"): (
        "two tables are neighbours when they differ in one row, its label included; the number of "
        "rows is public"
    ),
    ("person", "add-remove"): (
        "two tables are neighbours when one of them has one more person, with all their rows"
    ),
    ("person", "substitute"): (
        "two tables are neighbours when they differ in one person, the label included; the number "
        "of people is public"
    ),
}
"""Neighbouring tables in words, by the unit and the kind of change."""
_FROM = one_of("file", "private")
_ENDS = {"low": is_fraction, "high": is_fraction}
_FIGURE = {"value": is_fraction, "interval": Maybe(_ENDS)}
_CROWD = {"k": Maybe(is_count), "unique": Maybe(is_count)}
_ENGINES = one_of("memory", "polars", "duckdb", "spark")


def _coarser(said: dict[str, Any]) -> Shape | None:
    form = stated_form(said)
    return form and {"level": is_count, **form.keys, "read": one_of(form.read)}


_COLUMN = {
    "name": is_text,
    "header": is_text,
    "kind": one_of("number", "nominal", "date"),
    "role": one_of("target", "feature", "lower bound", "upper bound", "link"),
    "stated": is_flag,
    "of?": is_text,
    "made_of?": is_text,
    "question?": is_text,
    "codes?": Keyed(lambda value: is_text(value) or is_finite_number(value)),
    "coarser?": By(_coarser),
    "bins?": {
        "cuts": [is_finite_number],
        "labels": [is_text],
        "read": one_of(READ_BINS),
    },
}
_ATTACKER = like(r"[^\W_][\w .-]{0,39}")
_PROMISE = {
    "key": one_of("k_anonymity", "containment_anonymity"),
    "attacker?": _ATTACKER,
    "claim": is_text,
    "unit": _UNIT,
    "columns": [is_text],
    "linked?": is_flag,
    "at_least": is_count,
    "absences?": lambda value: is_count(value) and 0 < value <= MOST_ABSENCES,
    "measured": is_count,
    "rows_measured": is_count,
    "recount": _FROM,
}

_PARAMETERS = {
    "count": is_count,
    "share": is_share,
    "number": is_finite_number,
    "columns": [is_text],
}


def method_parameters(name: str) -> Shape:
    """The parameters that a method publishes, with their shapes."""
    stated = RECORDED[name].stated.items()
    return {key: _PARAMETERS[of] if isinstance(of, str) else one_of(*of) for key, of in stated}


def _method(said: dict[str, Any]) -> Shape | None:
    name = said.get("name")
    if not isinstance(name, str) or name not in RECORDED:
        return None
    return {"name": is_text, "parameters": method_parameters(name)}


_REACHED = {"claim": is_text, "measured": is_finite_number, "recount": _FROM}
_FIGURES = {"at_least": is_finite_number, "rows": is_count}


def _of_people_alike(said: dict[str, Any]) -> Shape | None:
    """The shape of an entry about equivalence classes, by its key."""
    key = said.get("key")
    if not isinstance(key, str) or key not in OF_GROUPS_STATED:
        return None
    stated = STATED[key]
    about = {"column": is_text} if stated.by_group else {}
    return {
        "key": is_text,
        "attacker?": _ATTACKER,
        **about,
        "columns": [is_text],
        "unit": _UNIT,
        "linked?": is_flag,
        **{name: one_of(*choices) for name, choices in stated.choices.items()},
        **{name: _FIGURES.get(name, is_fraction) for name in stated.figures},
        **_REACHED,
    }


_EXPOSURE = {
    "unit": _UNIT,
    "asked": is_count,
    "total": is_count,
    "known": {"columns": [is_text], "kind": one_of("equal", "together", "containment"), **_CROWD},
    "everything": _CROWD,
    "same_target": {"groups": Maybe(is_count), "of": is_count, "members": Maybe(is_count)},
}
_DOMAIN = {
    "type": one_of("integer", "number", "category", "boolean"),
    "low?": is_finite_number,
    "high?": is_finite_number,
    "decimals?": Maybe(is_count),
    "values?": [is_scalar],
    "other": Maybe(is_scalar),
    "missing": is_flag,
}
_SPENT = {
    "what": like(
        "choosing [0-9]{1,6} features|counts of (all cells|the grid|the boxes)|number of rows"
        "|counts of each column( by label)?|choices and counts of (AIM|MST)"
    ),
    "epsilon": is_finite_number,
    "delta": is_finite_number,
}
_BUDGET = {
    "epsilon": is_finite_number,
    "delta": is_finite_number,
    "neighbours": one_of("add-remove", "substitute"),
    "neighbours_in_words": one_of(*NEIGHBOURS.values()),
    "unit": one_of("row", "person"),
    "spent": [_SPENT],
    "max_rows_per_person": Maybe(is_count),
    "bounds": Keyed([is_scalar]),
    "domain": Keyed(_DOMAIN),
    "bounds_from_data": [is_text],
    "guarantee": is_flag,
}
_MEASURED = {
    "key": one_of(*(name for name, measure in MEASURES.items() if measure.published)),
    "value": is_fraction,
    "low": Maybe(is_fraction),
    "high": Maybe(is_fraction),
}
_CLOSE_LOOK = {
    "accuracy": _FIGURE,
    "guessing": is_fraction,
    "auc": Maybe(_FIGURE),
    "bits": _FIGURE,
    "surest": [{"part": is_fraction, "precision": Maybe(_FIGURE), "recall": Maybe(_FIGURE)}],
    "known": Maybe(_FIGURE),
    "largest": [is_fraction],
    "group": Maybe({"people": is_count, "gain": _FIGURE}),
    "beside": {
        "name": one_of(*(model.shown for model in MODELS.values())),
        "accuracy": _FIGURE,
        "auc": Maybe(_FIGURE),
    },
}
_ENGINE = {
    "sampled": {
        "rows": is_count,
        "of": is_count,
        "by": one_of("everything", "people", "contents", "rows"),
        "for": one_of(
            "the search, the choice and every figure about models", "which columns are compared"
        ),
    },
    "counted": {
        "rows": is_count,
        "by": _ENGINES,
        "again_by": _ENGINES,
        "for": one_of("promises and exposure", "what every row has of the compared columns"),
    },
}


def _file(said: dict[str, Any]) -> Shape | None:
    format = said.get("format")
    if not isinstance(format, str) or format not in WRITTEN:
        return None
    return {
        "name": one_of(RELEASE[format]),
        "format": is_text,
        "sha256": is_hash,
        "rows": is_count,
        **{key: one_of(words) for key, words in WRITTEN[format].items()},
        **({"classes": [is_text]} if format == "svm" else {}),
    }


MANIFEST: dict[str, Shape] = {
    "schema": one_of(SCHEMA),
    "schema_version": one_of(SCHEMA_VERSION),
    "date": is_date,
    "file": By(_file),
    "columns": [_COLUMN],
    "held_back?": is_count,
    "method": By(_method),
    "moved?": {"days": is_count, "columns": [is_text]},
    "promises": [_PROMISE],
    "suppressed?": {"unit": _UNIT, "share_at_most": is_share},
    "measured": [_MEASURED],
    "close_look?": _CLOSE_LOOK,
    "not_promised": [is_text],
    "versions": dict.fromkeys(
        ("tamis", "python", "numpy", "polars", "scikit-learn", "scipy"), is_version
    ),
    "exposure?": {**_EXPOSURE, "rows?": _EXPOSURE},
    "budget?": _BUDGET,
    "diversity?": [By(_of_people_alike)],
    "engine?": _ENGINE,
    "presence?": {
        "key": one_of("delta_presence"),
        "columns": [is_text],
        "unit": _UNIT,
        "at_least": is_share,
        "at_most": is_share,
        "recount": one_of("register", "nobody"),
        "claim": is_text,
    },
    "report": {"name": one_of(REPORT), "sha256": is_hash},
    "described?": [{"name": one_of(*DESCRIPTIONS.values()), "sha256": is_hash}],
}
"""The keys of a manifest in the order in which they are written, with their shapes."""


def wrong_shape(content: Any) -> str:
    """The first departure of a manifest from its schema, in words; empty where there is none.

    >>> wrong_shape({"schema": "tamis-release", "schema_version": True})
    'manifest.json does not have the version that this tamis reads (2)'
    """
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        return f"{NAME} is not the manifest of a release"
    version = content.get("schema_version")
    if type(version) is int and 0 < version < SCHEMA_VERSION:
        return (
            f"{NAME} is of an earlier tamis (version {version}, this one reads {SCHEMA_VERSION}): "
            "verify it with the tamis that its versions name, or publish it again"
        )
    if not MANIFEST["schema_version"](version):
        return f"{NAME} does not have the version that this tamis reads ({SCHEMA_VERSION})"
    return next(_wrong(content, MANIFEST, ""), "")


def _wrong(value: Any, shape: Shape, place: str) -> Iterator[str]:
    """What is wrong inside a value that is itself a list, record or scalar as it should be."""
    if isinstance(shape, Maybe):
        if value is not None:
            yield from _wrong(value, shape.shape, place)
    elif isinstance(shape, By):
        yield from _wrong(value, shape.choose(value), place)
    elif isinstance(shape, Keyed):
        for key, part in value.items():
            yield from _wrong_part(key, part, shape.shape, place)
    elif isinstance(shape, list):
        for number, part in enumerate(value):
            yield from _wrong_part(f"[{number}]", part, shape[0], place)
    elif isinstance(shape, Mapping):
        yield from _wrong_record(value, {**shape}, place)


def _wrong_record(value: dict[str, Any], shape: dict[str, Shape], place: str) -> Iterator[str]:
    known = {key.removesuffix("?"): part for key, part in shape.items()}
    where = f" in {place}" if place else ""
    if extra := [key for key in value if key not in known]:
        yield f"{NAME} has {listed(extra)}{where}, which no manifest has"
    if lacking := [key for key in shape if not key.endswith("?") and key not in value]:
        yield f"{NAME} lacks {listed(lacking)}{where}"
    for key, part in value.items():
        yield from _wrong_part(key, part, known[key], place)
    if list(value) != [key for key in known if key in value]:
        yield f"{NAME} has its keys{where} in another order than tamis writes them"


def _wrong_part(key: str, part: Any, shape: Shape, place: str) -> Iterator[str]:
    if not _is_kind(part, shape):
        where = f" in {place}" if place else ""
        yield f"{NAME} has an invalid {key!r}{where}"
        return
    inside = f"{place}{key}" if key.startswith("[") else f"{place}.{key}" if place else key
    yield from _wrong(part, shape, inside)


def _is_kind(value: Any, shape: Shape) -> bool:
    """Whether a value is of the right kind; the content of lists and records is checked later."""
    if isinstance(shape, Maybe):
        return value is None or _is_kind(value, shape.shape)
    if isinstance(shape, By):
        return isinstance(value, dict) and shape.choose(value) is not None
    if isinstance(shape, list):
        return isinstance(value, list)
    if isinstance(shape, Keyed | Mapping):
        return isinstance(value, dict)
    return bool(shape(value))


def in_place(value: Any, shape: Shape = MANIFEST) -> Any:
    """The manifest with its keys in the order of the schema; keys unknown to the schema come last.

    >>> list(in_place({"date": "2026-01-01", "schema": "tamis-release"}))
    ['schema', 'date']
    """
    if isinstance(shape, Maybe):
        return None if value is None else in_place(value, shape.shape)
    if isinstance(shape, By):
        chosen = shape.choose(value) if isinstance(value, dict) else None
        return value if chosen is None else in_place(value, chosen)
    if isinstance(shape, list) and isinstance(value, list):
        return [in_place(part, shape[0]) for part in value]
    if isinstance(shape, Keyed) and isinstance(value, dict):
        return {key: in_place(part, shape.shape) for key, part in value.items()}
    if not isinstance(shape, Mapping) or not isinstance(value, dict):
        return value
    known = {key.removesuffix("?"): part for key, part in shape.items()}
    order = [*(key for key in known if key in value), *(key for key in value if key not in known)]
    return {key: in_place(value[key], known.get(key, is_scalar)) for key in order}


OF_PEOPLE_ALONE = (
    "held_back",
    "moved",
    "suppressed",
    "close_look",
    "exposure",
    "diversity",
    "presence",
)
"""Keys about real people, which a manifest of synthetic rows never has."""


def contradiction(content: dict[str, Any]) -> str:
    """How parts of a manifest contradict each other, in words; empty where they do not."""
    contradictions = (
        _of_method(content),
        _of_columns(content["columns"]),
        _of_lists(content),
        _of_moved(content),
        _of_budget(content) if "budget" in content else "",
    )
    return next(filter(None, contradictions), "")


def _of_method(content: dict[str, Any]) -> str:
    drawn = RECORDED[content["method"]["name"]].synthetic
    if drawn != ("budget" in content):
        return "a privacy budget is stated of rows that were not drawn, or none of such rows"
    said = [key for key in OF_PEOPLE_ALONE if key in content]
    said += [key for key in ("promises", "measured") if content[key]]
    if drawn and said:
        return f"{listed(said)} is stated of synthetic rows, which no person is behind"
    if not drawn and (
        lacking := [key for key in ("held_back", "close_look") if key not in content]
    ):
        return f"{NAME} lacks {listed(lacking)}"
    return ""


def _of_columns(columns: list[dict[str, Any]]) -> str:
    """Check roles and order: features by name, each followed by its bounds, the target last."""
    features: dict[str, list[str]] = {c["name"]: [] for c in columns if c["role"] == "feature"}
    for column in columns:
        bound = column["role"] in ("lower bound", "upper bound")
        if bound != ("of" in column) or ("coarser" in column and column["role"] != "feature"):
            return f"column {column['name']!r} is stated as something that its role is not"
        if not column["name"].startswith(column.get("made_of", "")):
            return f"column {column['name']!r} is said to be made of one of another name"
        if column["role"] != "feature" and not column["stated"]:
            return f"column {column['name']!r} has a role, and is said to have none"
        if bound and column["of"] in features:
            features[column["of"]].append(column["name"])
    targets, links = (
        [c["name"] for c in columns if c["role"] == role] for role in ("target", "link")
    )
    expected = [n for name in sorted(features) for n in (name, *features[name])] + targets
    if [column["name"] for column in columns] != links[:1] + expected:
        return "the columns are not in the order of their names, the target last"
    return ""


def _of_moved(content: dict[str, Any]) -> str:
    """Check that moved dates are features of the file, each listed once, in order."""
    if "moved" not in content:
        return ""
    features = {c["name"] for c in content["columns"] if c["role"] == "feature"}
    columns, days = content["moved"]["columns"], content["moved"]["days"]
    if not columns or columns != sorted({*columns} & features) or not days:
        return "dates are said to be moved that are no columns of the file, or by no days"
    return ""


def _of_lists(content: dict[str, Any]) -> str:
    entries = [*content["promises"], *content.get("diversity", ())]
    about = [*entries, *([content["presence"]] if "presence" in content else ())]
    if any(entry["columns"] != sorted({*entry["columns"]}) for entry in about):
        return "the columns of a promise are not in the order of their names, each once"
    linked = any(column["role"] == "link" for column in content["columns"])
    if any(entry.get("linked", False) is not linked for entry in entries):
        return "a promise is about rows of a person together, and the file is not, or not all are"
    whose = [(e["key"], e.get("attacker"), e.get("column")) for e in entries]
    for entry in content["measured"]:
        if _is_finer_than_supported(entry["value"], entry.get("low"), entry.get("high")):
            return f"{entry['key']} is stated with more digits than its interval supports"
    described = [entry["name"] for entry in content.get("described", ())]
    keys = whose, [entry["key"] for entry in content["measured"]], described
    if any(len({*names}) < len(names) for names in keys):
        return f"{NAME} states something twice"
    engine = content.get("engine")
    if engine is not None and engine["counted"]["rows"] != content["file"]["rows"]:
        return "the engine is said to have counted another number of rows than there are"
    return ""


def _is_finer_than_supported(value: float, low: float | None, high: float | None) -> bool:
    """Whether a figure or an end of its interval has more digits than its interval supports.

    Such digits say nothing about the measure and could hide something. Publishing chooses the
    digits by the width of the interval before rounding, so one more digit is allowed here.

    >>> _is_finer_than_supported(0.71, 0.63, 0.77), _is_finer_than_supported(0.7067, 0.63, 0.77)
    (False, True)
    """
    digits = 2
    if low is not None and high is not None and high > low:
        digits = max(2, 1 - floor(log10((high - low) / 4)))
    figures = (figure for figure in (value, low, high) if figure is not None)
    return any(round(figure, digits) != figure for figure in figures)


def _of_budget(content: dict[str, Any]) -> str:
    budget = content["budget"]
    names = {column["name"] for column in content["columns"]}
    if {*budget["bounds"]} != names or list(budget["bounds"]) != list(budget["domain"]):
        return "the public bounds are those of other columns than the file has"
    if budget["neighbours_in_words"] != NEIGHBOURS[budget["unit"], budget["neighbours"]]:
        return "the neighbours of the privacy budget are not those that its words describe"
    for name, declared in budget["domain"].items():
        values = declared.get("values", [False, True])
        if "low" in declared:
            values = [declared["low"], declared.get("high")]
        if budget["bounds"][name] != values:
            return f"the public bounds of {name!r} are stated in two ways"
    return ""
