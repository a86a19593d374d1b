"""Which releases can be taken, in which order, with which figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tamis.publish.figures import change
from tamis.serve.releasing import SHOWN_ROWS, choices, first_rows


def candidate(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "features": [name], "fails": [], "place": 1} | more


def test_only_what_keeps_the_limits_can_be_taken_and_the_suggested_comes_first():
    ranked = {"performance": 0.7, "pbi": -0.05}
    found = [
        candidate("b", place=2, **ranked),
        candidate("c", place=3, **ranked),
        candidate("a", place=1, **ranked),
        candidate("bad", place=0, fails=["fewer than 5 people alike"], **ranked),
    ]
    assert [c.name for c in choices(found, "c", 1.0)] == ["c", "a", "b"]
    assert dict(choices(found, "c", 1.0)[0].figures) == {
        "A model is right": "70.0%",
        "Gain of an attacker": change(-0.05),
    }


@pytest.mark.parametrize(
    ("caution", "order"), [(0.1, ["x", "much", "safe"]), (2, ["x", "safe", "much"])]
)
def test_where_bits_are_measured_they_order_and_are_shown(caution: float, order: list[str]):
    found = [
        candidate("much", kept=0.9, told=0.5, worth=(0.9, 0.5)),
        candidate("safe", kept=0.6, told=0.1, worth=(0.6, 0.1)),
        candidate("x", kept=0.5, told=None, worth=(0.5, 0.0)),
    ]
    chosen = choices(found, "x", caution)
    assert [c.name for c in chosen] == order
    assert chosen[0].figures == [
        ("Kept of the target", "50.0%"),
        ("Told of the secret", "nothing to tell"),
    ]


def test_the_first_rows_are_those_of_the_file(tmp_path: Path):
    assert first_rows(tmp_path) == []
    text = 'a,"b, c"\n' + "".join(f"{i},x\n" for i in range(20))
    (tmp_path / "release.csv").write_text(text, encoding="utf-8")
    found = first_rows(tmp_path)
    assert found[0] == ["a", "b, c"]
    assert [row[0] for row in found[1:]] == [str(i) for i in range(SHOWN_ROWS)]
