"""Pictures are well-formed, whatever the names in them."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.charts import Picture, Scale, around

SVG = "{http://www.w3.org/2000/svg}"


@given(st.text(max_size=40))
def test_any_words_stay_text(words):
    picture = Picture(100, 50, words, words)
    picture.text(1, 2, words)
    picture.circle(1, 2, 3, tip=words)
    root = ET.fromstring(picture.svg())
    assert {child.tag for child in root} == {
        SVG + tag for tag in ("title", "desc", "rect", "text", "circle")
    }


def test_a_script_in_a_name_is_no_element():
    picture = Picture(10, 10, "t", "d")
    picture.text(1, 1, "<script>alert(1)</script>", data_x='"><script>')
    root = ET.fromstring(picture.svg())
    assert not list(root.iter(SVG + "script"))


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_lie_inside_the_scale(low, width):
    scale = Scale(low, low + width, 0, 1)
    air = 1e-6 * max(abs(low), width)
    assert all(low - air <= t <= low + width + air for t in scale.ticks())


def test_scales():
    assert Scale(1, 100, 0, 10, log=True)(10) == pytest.approx(5)
    assert Scale(1, 100, 0, 10, log=True)(0) == 0
    assert Scale(3, 3, 0, 10)(3) == 5
    assert around([2.0, 2.0]) == pytest.approx((1.88, 2.12))


def test_a_name_stands_where_it_hides_the_fewest_points_and_then_takes_that_place():
    picture, taken = Picture(200, 100, "names", ""), [(30.0, 20.0)]
    spots = [(10.0, 24.0), (10.0, 60.0), (500.0, 90.0)]
    for words in ("first", "second"):
        picture.name(words, spots, taken, (0, 200, 0, 100))
    first, second = (line for line in picture.svg().splitlines() if "<text" in line)
    assert 'y="60"' in first
    assert 'y="24"' in second  # one point is fewer than the first name's five; outside is worst
    assert len(taken) == 1 + 2 * 5


def test_a_halo_is_optional():
    plain, haloed = Picture(9, 9, "", ""), Picture(9, 9, "", "")
    plain.name("a", [(1.0, 1.0)], [], (0, 9, 0, 9), halo=False)
    haloed.name("a", [(1.0, 1.0)], [], (0, 9, 0, 9))
    assert "paint-order" not in plain.svg()
    assert 'stroke="#ffffff"' in haloed.svg()
