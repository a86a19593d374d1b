"""What the parts of a manifest say against each other, though each has the right shape.

Real rows have no privacy budget and synthetic ones no people, columns are in the order of their
names, and nothing is stated twice: another order, or a second entry, could tell something else.
"""

from __future__ import annotations

from typing import Any

from tamis.catalogue.methods import RECORDED
from tamis.errors import listed
from tamis.verification.layout import NAME
from tamis.verification.shape import NEIGHBOURS

OF_PEOPLE_ALONE = ("held_back", "suppressed", "close_look", "exposure", "diversity", "presence")
"""What is said of released rows of people, and never of synthetic ones."""


def contradiction(content: dict[str, Any]) -> str:
    """What parts of a manifest of the right shape say against each other, in words."""
    found = (
        _of_method(content),
        _of_columns(content["columns"]),
        _of_lists(content),
        _of_budget(content) if "budget" in content else "",
    )
    return next(filter(None, found), "")


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
    """Columns are in the order of their names, each before its bounds, and the target is last."""
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
    targets = [c["name"] for c in columns if c["role"] == "target"]
    expected = [n for name in sorted(features) for n in (name, *features[name])] + targets
    if [column["name"] for column in columns] != expected:
        return "the columns are not in the order of their names, the target last"
    return ""


def _of_lists(content: dict[str, Any]) -> str:
    entries = [*content["promises"], *content.get("diversity", ())]
    about = [*entries, *([content["presence"]] if "presence" in content else ())]
    if any(entry["columns"] != sorted({*entry["columns"]}) for entry in about):
        return "the columns of a promise are not in the order of their names, each once"
    keys = [entry["key"] for entry in entries], [entry["key"] for entry in content["measured"]]
    if any(len({*each}) < len(each) for each in keys):
        return f"{NAME} states something twice"
    engine = content.get("engine")
    if engine is not None and engine["counted"]["rows"] != content["file"]["rows"]:
        return "the engine is said to have counted another number of rows than there are"
    return ""


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
