"""The picture of retention: well-formed, escaped, complete."""

from xml.etree import ElementTree

import polars as pl
import pytest

from tamis.errors import InputError
from tamis.evaluate.picture import retention_picture
from tamis.evaluate.retention import retention
from tamis.rules import OneOf, Rule, RuleSet

ORIGINAL = pl.DataFrame({"age": [20, 30, 40, 50], "job": ["a", "b", "a", "b"], "y": list("pqpq")})
RELEASED = ORIGINAL.drop("job").with_columns(
    age=pl.Series([20, 30, 30, 30]), y=pl.Series(list("ppqp"))
)
RULES = (
    "age <= 25 -> y=p\nage <= 35 -> y=p\nage >= 45 -> y=q\nage > 25 -> y=q\njob = a -> y=p\n"
    "age > 99 -> y=p"
)


def _texts(picture):
    root = ElementTree.fromstring(picture.svg())
    return [node.text or "" for node in root.iter("{http://www.w3.org/2000/svg}text")]


def test_every_rule_and_fate_is_told():
    picture = retention_picture(retention(RULES, ORIGINAL, RELEASED))
    texts = _texts(picture)
    assert texts[0] == (
        "1 of 6 rules changed prediction, 1 lost because a column was not released, "
        "1 no longer matched by any row"
    )
    assert [t.partition(":")[0] for t in texts if "->" in t] == ["r5", "r3", "r4", "r2", "r1", "r6"]
    assert "lost: no column job" in texts
    assert "no row left" in texts
    assert "no row before" in texts
    assert "q → p" in texts


def test_it_has_a_title_and_a_description_for_screen_readers():
    svg = retention_picture(retention(RULES, ORIGINAL, ORIGINAL)).svg()
    root = ElementTree.fromstring(svg)
    assert root.attrib["role"] == "img"
    title, description = root[0].text, root[1].text
    assert title == "0 of 6 rules changed prediction"
    assert description is not None
    assert "4 original rows" in description


def test_names_and_values_cannot_become_markup():
    evil = "<script>alert('x')</script>"
    frame = pl.DataFrame({evil: ["a", "b"], "y": [evil, "q"]})
    rules = RuleSet([Rule([OneOf(evil, ("a",))], evil, id="]]>&")], "y")
    svg = retention_picture(retention(rules, frame, frame)).svg()
    assert "<script" not in svg
    assert any(evil[:8] in t for t in _texts(retention_picture(retention(rules, frame, frame))))


def test_only_the_worst_are_drawn_and_the_rest_is_counted():
    text = "\n".join(f"age > {i} -> y=p" for i in range(60))
    texts = _texts(retention_picture(retention(text, ORIGINAL, ORIGINAL), most=5))
    assert sum("->" in t for t in texts) == 5
    assert any("the 5 worst of 60 rules" in t for t in texts)
    with pytest.raises(InputError, match="at least one rule"):
        retention_picture(retention(text, ORIGINAL, ORIGINAL), most=0)
