"""`verify` believes no manifest: its promises, its figures and its form are checked."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tamis.catalogue.methods import RECORDED, MethodRecord
from tamis.errors import CannotMeet
from tamis.verification.verify import (
    MOST_EPSILON,
    _wrong_method,
    verify,
    wrong_identifiers,
)
from tamis.verification.written_rows import _within
from tests.verification.forged import drawn, edited

Copy = Callable[..., Path]


def test_a_promise_that_does_not_hold(copy: Copy):
    folder = copy(private=False)
    content = json.loads((folder / "manifest.json").read_text())
    columns = sorted(column["name"] for column in content["columns"])
    edited(folder, lambda m: m["promises"][0].update(columns=columns, measured=5))
    with pytest.raises(CannotMeet, match="k_anonymity is 1, below the promised 5"):
        verify(folder)
    edited(folder, lambda m: m["promises"][0].update(columns=[], measured=77))
    with pytest.raises(CannotMeet, match="k_anonymity is 500, but the manifest says 77"):
        verify(folder)
    edited(folder, lambda m: m["promises"][0].update(key="containment_anonymity", columns=columns))
    with pytest.raises(CannotMeet, match="other than 0 and 1"):
        verify(folder)
    edited(folder, lambda m: m["promises"][0].update(key="perfect_safety"))
    with pytest.raises(CannotMeet, match=r"an invalid 'key' in promises\[0\] \(manifest\)"):
        verify(folder)
    edited(folder, lambda m: m["promises"][0].update(key="k_anonymity", columns=["zip"]))
    with pytest.raises(CannotMeet, match="'zip', which is not in the file"):
        verify(folder)


@pytest.mark.parametrize(
    ("part", "name"), [("known", "k"), ("everything", "unique"), ("same_target", "members")]
)
def test_who_stands_alone_is_counted_again(copy: Copy, part: str, name: str):
    folder = copy(private=False)
    assert "exposure" in {c.name for c in verify(folder).checks}
    edited(folder, lambda m: m["exposure"][part].update({name: 123}))
    with pytest.raises(CannotMeet, match="the manifest says 123"):
        verify(folder)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"unit": "houses"}, "invalid 'unit' in exposure"),
        ({"unit": None}, "invalid 'unit' in exposure"),
        ({"asked": 0}, "k that was asked for"),
        ({"asked": 10**6}, "k that was asked for"),
        ({"asked": "5"}, "invalid 'asked' in exposure"),
    ],
)
def test_who_stands_alone_is_worded_as_the_promises_are(
    copy: Copy, change: dict[str, Any], words: str
):
    folder = copy(private=False)
    edited(folder, lambda m: m["exposure"].update(change))
    with pytest.raises(CannotMeet, match=words):
        verify(folder)


@pytest.mark.parametrize("unit", ["houses", None, 5])
def test_a_promise_counts_people_or_rows(copy: Copy, unit: Any):
    folder = copy(private=False)
    edited(folder, lambda m: m["promises"][0].update({"unit": unit}))
    with pytest.raises(CannotMeet, match="invalid 'unit'"):
        verify(folder)


def test_who_stands_alone_cannot_be_kept_silent(copy: Copy):
    folder = copy(private=False)
    edited(folder, lambda m: m.pop("exposure"))
    with pytest.raises(CannotMeet, match="does not say who is unique"):
        verify(folder)


def test_a_made_up_budget_is_not_repeated_as_if_it_had_been_checked(copy: Copy):
    folder = copy(private=False)
    drawn(folder)
    found = verify(folder)
    assert not any("epsilon" in words for words in (*found.claims, *found.alone))
    (stated,) = [words for words in found.not_checked if "epsilon = 0.1" in words]
    assert stated.startswith("Stated by the publisher, not checked: ")


def test_a_budget_must_add_up(copy: Copy):
    folder = copy(private=False)
    drawn(folder, epsilon=0.09)
    with pytest.raises(CannotMeet, match=r"add up to 0\.1, above 0\.09 \(budget\)$"):
        verify(folder)


def test_real_rows_have_no_budget_and_drawn_ones_no_anonymity(copy: Copy):
    folder = copy(private=False)
    whole = json.loads((folder / "manifest.json").read_text())
    drawn(folder)
    edited(folder, lambda m: m.update(promises=whole["promises"]))
    with pytest.raises(CannotMeet, match="'promises' is stated of synthetic rows"):
        verify(folder)
    edited(folder, lambda m: m.update(promises=[], method=whole["method"]))
    with pytest.raises(CannotMeet, match="stated of rows that were not drawn, or"):
        verify(folder)


def spent(*parts: float) -> list[dict[str, Any]]:
    return [{"what": "number of rows", "epsilon": part, "delta": 0.0} for part in parts]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"epsilon": 0}, r"epsilon of the privacy budget.*\(budget\)"),
        ({"epsilon": -1.0}, r"epsilon of the privacy budget.*\(budget\)"),
        ({"epsilon": 1e6}, r"epsilon of the privacy budget.*\(budget\)"),
        ({"epsilon": MOST_EPSILON * 1.001}, r"epsilon of the privacy budget.*\(budget\)"),
        ({"epsilon": True}, r"invalid 'epsilon' in budget \(manifest\)"),
        ({"epsilon": "1"}, r"invalid 'epsilon' in budget \(manifest\)"),
        ({"epsilon": 10**400}, r"invalid 'epsilon' in budget \(manifest\)"),
        ({"spent": []}, r"a part of the privacy budget.*\(budget\)"),
        ({"spent": spent(-3, 4)}, r"a part of the privacy budget.*\(budget\)"),
        ({"spent": spent(0.0, 0.1)}, r"a part of the privacy budget.*\(budget\)"),
        (
            {"spent": [{"what": "number of rows"}]},
            r"lacks 'epsilon', 'delta' in budget\.spent\[0\]",
        ),
        ({"delta": 1.0}, r"delta of the privacy budget.*\(budget\)"),
        ({"guarantee": False}, r"does not hold \(budget\)"),
        ({"neighbours": "friends"}, r"invalid 'neighbours' in budget \(manifest\)"),
        ({"bounds": {"nowhere": [0, 1]}}, r"those of other columns than the file has \(manifest\)"),
    ],
)
def test_a_budget_beyond_its_bounds_fails(copy: Copy, changes: dict[str, Any], words: str):
    folder = copy(private=False)
    drawn(folder, **changes)
    with pytest.raises(CannotMeet, match=words):
        verify(folder)


def test_rows_beyond_the_public_bounds(copy: Copy):
    folder = copy(private=False)
    drawn(folder)

    def narrow(content: dict[str, Any]) -> None:
        name, declared = next(
            (n, d) for n, d in content["budget"]["domain"].items() if d["type"] == "integer"
        )
        declared["low"] += 1
        content["budget"]["bounds"][name][0] += 1

    edited(folder, narrow)
    with pytest.raises(CannotMeet, match=r"has values outside its public bounds \(budget\)$"):
        verify(folder)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '"x"', '{"schema": "tamis-release", "schema_version": 99}'],
)
def test_no_manifest_at_all(copy: Copy, text: str):
    folder = copy(private=False)
    (folder / "manifest.json").write_text(text)
    with pytest.raises(CannotMeet, match=r"manifest\.json"):
        verify(folder)
    (folder / "manifest.json").unlink()
    with pytest.raises(CannotMeet, match=r"no manifest\.json"):
        verify(folder)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m["file"].update(name="../secret.csv"), "invalid 'name' in file"),
        (lambda m: m["file"].update(format="exe"), "invalid 'file'"),
        (lambda m: m["file"].pop("sha256"), "lacks 'sha256' in file"),
        (lambda m: m["columns"].append(7), r"invalid '\[7\]' in columns"),
        (lambda m: m["promises"].append({"key": "k_anonymity"}), "lacks 'claim'"),
        (lambda m: m.update(promises=3), "invalid 'promises'"),
        (lambda m: m.update(budget=[]), "invalid 'budget'"),
        (lambda m: m["file"].update(rows=True), "invalid 'rows' in file"),
        (lambda m: m["file"].update(texts="as they are"), "invalid 'texts' in file"),
        (lambda m: m["report"].update(name="/dev/zero"), "invalid 'name' in report"),
        (lambda m: m["report"].update(name=7), "invalid 'name' in report"),
        (lambda m: m["columns"][0].update(kind="any"), "invalid 'kind'"),
        (lambda m: m["columns"][0].update(name=["x"]), r"invalid 'name' in columns\[0\]"),
        (lambda m: m["columns"][0].update(header="=x"), "columns of the file"),
        (lambda m: m["promises"][0].update(at_least="5"), "invalid 'at_least'"),
        (lambda m: m["promises"][0].update(at_least=10**30, measured=10**30), "invalid 'at_least'"),
        (lambda m: m["promises"][0].update(columns="zip"), "invalid 'columns'"),
        (lambda m: m["promises"][0].update(claim=None), "invalid 'claim'"),
        (lambda m: m["promises"][0].update(absences="some"), "invalid 'absences'"),
        (lambda m: m["promises"][0].update(absences=[1]), "invalid 'absences'"),
        (lambda m: m.update(not_promised={}), "invalid 'not_promised'"),
    ],
)
def test_a_malformed_manifest_is_an_answer_not_a_crash(copy: Copy, change: Any, words: str):
    folder = copy(private=False)
    edited(folder, change)
    with pytest.raises(CannotMeet, match=words):
        verify(folder)


def test_the_words_of_a_promise_are_made_from_its_figures(copy: Copy):
    folder = copy(private=False)
    assert "at least 4 others" in verify(folder).claims[0]
    edited(folder, lambda m: m["promises"][0].update(claim="Nobody can ever be found."))
    with pytest.raises(CannotMeet, match="wording of the promise k_anonymity"):
        verify(folder)


@pytest.mark.parametrize(
    "text",
    [
        '{"schema": "tamis-release", "schema": "tamis-release"}',
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        '{"a": ' + "9" * 5000 + "}",
        "[" * 100_000,
        '{"a":' * 100_000,
    ],
)
def test_json_that_is_not_strict(copy: Copy, text: str):
    folder = copy(private=False)
    (folder / "manifest.json").write_text(text)
    with pytest.raises(CannotMeet, match="every key occurs once and every number is finite"):
        verify(folder)


def test_a_manifest_without_end(copy: Copy):
    folder = copy(private=False)
    with (folder / "manifest.json").open("r+b") as file:
        file.truncate(1 << 40)  # takes no room: a hole
    with pytest.raises(CannotMeet, match="longer than 16 MiB"):
        verify(folder)


def altered(columns: list[str], k: int) -> dict[str, Any]:
    """A manifest of three features, two of them promised to be alike in groups of k."""
    features = [{"name": name, "role": "feature"} for name in "abc"]
    return {
        "method": {"name": "microaggregate", "parameters": {"columns": columns, "k": k}},
        "columns": [*features, {"name": "y", "role": "target"}],
        "promises": [{"key": "k_anonymity", "columns": ["a", "b"], "at_least": 5}],
    }


@pytest.mark.parametrize(
    ("columns", "k", "words"),
    [
        (["a"], 5, ""),
        (["a", "b"], 5, ""),
        (["a", "b"], 4, ""),
        (["a", "b"], 6, "microaggregate with k = 6 is stated, but no such anonymity is promised"),
        (["a", "c"], 5, "microaggregate with k = 5 is stated, but no such anonymity is promised"),
        (["b", "a"], 5, "not listed once each"),
        (["a", "a"], 5, "not listed once each"),
        (["a", "y"], 5, "'y' is listed as altered, but is no feature"),
    ],
)
def test_columns_made_alike_are_promised_to_be(columns: list[str], k: int, words: str):
    found = _wrong_method(altered(columns, k))
    assert words in found
    assert bool(words) == bool(found)


def test_what_a_parameter_is_says_whether_it_lists_columns_and_not_its_name(monkeypatch):
    other = MethodRecord("other", "", "", stated={"columns": "count"})
    monkeypatch.setitem(RECORDED, "other", other)
    content = altered(["a"], 5) | {"method": {"name": "other", "parameters": {"columns": 2}}}
    assert _wrong_method(content) == ""


@pytest.mark.parametrize(
    ("bound", "right"), [([1, 3], True), ([1, 2.9], False), ([1.1, 3], False), ([0, 9], True)]
)
def test_values_may_equal_their_public_bounds(bound: list[float], right: bool):
    assert _within(pl.Series([1, 3]), bound, ranged=True) == right


def test_public_bounds_are_one_number_or_more():
    assert _within(pl.Series([2, 2]), [2, 2], ranged=True)
    for bound in ([2, 1], [None, 1], [1, float("nan")]):
        with pytest.raises(ValueError, match="no range"):
            _within(pl.Series([2]), bound, ranged=True)


@pytest.mark.parametrize(
    ("others", "more"), [(0, ""), (1, ", as do 1 more"), (2, ", as do 2 more")]
)
def test_one_column_that_could_identify_people_is_named(tmp_path: Path, others: int, more: str):
    like = {"who": "each differs", **{f"x{i}": "each differs" for i in range(others)}}
    words = wrong_identifiers(tmp_path, like, {})
    assert f"column 'who' (each differs) could identify people{more}, and has no" in words
