"""`verify` believes no manifest: its promises, its figures and its form are checked."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tamis.errors import CannotMeet
from tamis.publish.verify import verify
from tests.publish.forged import edited

Copy = Callable[..., Path]


def test_a_promise_that_does_not_hold(copy: Copy):
    folder = copy(private=False)
    columns = [c["name"] for c in json.loads((folder / "manifest.json").read_text())["columns"]]
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
    with pytest.raises(CannotMeet, match="not one that can be checked"):
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
    "change",
    [{"unit": "houses"}, {"unit": None}, {"asked": 0}, {"asked": 10**6}, {"asked": "5"}],
)
def test_who_stands_alone_is_worded_as_the_promises_are(copy: Copy, change: dict[str, Any]):
    folder = copy(private=False)
    edited(folder, lambda m: m["exposure"].update(change))
    with pytest.raises(CannotMeet, match=r"another unit|k that was asked for"):
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


def test_a_budget_must_add_up(copy: Copy):
    folder = copy(private=False)
    edited(folder, lambda m: m.update(budget=budget()))
    assert "differential privacy, epsilon = 1" in verify(folder).claims[-1]
    edited(folder, lambda m: m["budget"].update(epsilon=0.9))
    with pytest.raises(CannotMeet, match=r"add up to 1, above 0\.9"):
        verify(folder)


def budget(**changes: Any) -> dict[str, Any]:
    parts = [{"what": "cells", "epsilon": 0.5}, {"what": "leaves", "epsilon": 0.5}]
    return {"epsilon": 1.0, "delta": 0.0, "neighbours": "add-remove", "spent": parts, **changes}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"epsilon": 0}, "epsilon of the privacy budget"),
        ({"epsilon": -1.0}, "epsilon of the privacy budget"),
        ({"epsilon": 1e6}, "epsilon of the privacy budget"),
        ({"epsilon": True}, "epsilon of the privacy budget"),
        ({"epsilon": "1"}, "epsilon of the privacy budget"),
        ({"epsilon": 10**400}, "epsilon of the privacy budget"),
        ({"spent": []}, "a part of the privacy budget"),
        ({"spent": [{"epsilon": -3}, {"epsilon": 4}]}, "a part of the privacy budget"),
        ({"spent": [{"what": "cells"}]}, "malformed"),
        ({"delta": 1.0}, "delta of the privacy budget"),
        ({"guarantee": False}, "does not hold"),
        ({"neighbours": "friends"}, "malformed"),
        ({"bounds": {"stay_days": [9, 1]}}, "malformed"),
        ({"bounds": {"nowhere": [0, 1]}}, "malformed"),
    ],
)
def test_a_budget_beyond_its_bounds_fails(copy: Copy, changes: dict[str, Any], words: str):
    folder = copy(private=False)
    edited(folder, lambda m: m.update(budget=budget(**changes)))
    with pytest.raises(CannotMeet, match=words):
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
    "change",
    [
        lambda m: m["file"].update(name="../secret.csv"),
        lambda m: m["file"].update(format="exe"),
        lambda m: m["file"].pop("sha256"),
        lambda m: m["columns"].append(7),
        lambda m: m["promises"].append({"key": "k_anonymity"}),
        lambda m: m.update(promises=3),
        lambda m: m.update(budget=[]),
        lambda m: m["file"].update(rows=True),
        lambda m: m["file"].update(texts="as they are"),
        lambda m: m["report"].update(name="/dev/zero"),
        lambda m: m["report"].update(name=7),
        lambda m: m["columns"][0].update(kind="any"),
        lambda m: m["columns"][0].update(name=["x"]),
        lambda m: m["columns"][0].update(header="=x"),
        lambda m: m["promises"][0].update(at_least="5"),
        lambda m: m["promises"][0].update(at_least=10**30, measured=10**30),
        lambda m: m["promises"][0].update(columns="zip"),
        lambda m: m["promises"][0].update(claim=None),
        lambda m: m["promises"][0].update(absences="some"),
        lambda m: m["promises"][0].update(absences=[1]),
        lambda m: m.update(not_promised={}),
    ],
)
def test_a_malformed_manifest_is_an_answer_not_a_crash(copy: Copy, change: Any):
    folder = copy(private=False)
    edited(folder, change)
    with pytest.raises(CannotMeet):
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
