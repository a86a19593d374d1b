"""The picture of the four regions."""

import xml.etree.ElementTree as ET

from tamis.select.breach.candidate import Candidate
from tamis.select.breach.picture import region_picture


def candidate(features, performance, pbi, region):
    return Candidate(
        features=tuple(features),
        performance=performance,
        performance_interval=(performance, performance),
        p_value=0.5,
        pbi=pbi,
        pbi_interval=(pbi, pbi),
        attacker="nb",
        region=region,
        origin=("walk",),
    )


ALL = candidate(["a", "b", "<c>"], 0.8, 0.0, None)
BEST = candidate(["a"], 0.79, -0.03, "III")
TWIN = candidate(["<c>"], 0.79, -0.03, "III")
OTHER = candidate(["b", "<c>"], 0.82, 0.01, "II")


def circles(picture):
    root = ET.fromstring(picture.svg())
    space = "{http://www.w3.org/2000/svg}"
    return [c.attrib for c in root.iter(f"{space}circle")], [
        t.text for t in root.iter(f"{space}text")
    ]


def test_coincident_points_never_hide_the_chosen_one():
    for order in ([ALL, BEST, TWIN, OTHER], [ALL, TWIN, OTHER, BEST]):
        drawn, words = circles(region_picture(order, BEST, floor=-0.05, alpha=-0.01))
        assert len(drawn) == 4  # three places, and the ring
        assert drawn[-2]["r"] == "11"
        assert drawn[-1]["cx"] == drawn[-2]["cx"]
        assert "chosen, 2 sets" in words
        assert "all features" in words
        assert "threshold (alpha)" in words
        assert any("DistP" in w for w in words)


def test_everything_lies_inside_the_canvas():
    many = [ALL, *(candidate(["a"], 0.5 + i / 50, i / 40 - 0.3, "III") for i in range(20))]
    drawn, _ = circles(region_picture(many, many[3], floor=-0.9, sensitive="x" * 200))
    assert all(84 <= float(c["cx"]) <= 736 and 84 <= float(c["cy"]) <= 454 for c in drawn)


def test_a_lone_baseline_can_be_drawn():
    drawn, words = circles(region_picture([ALL], ALL, floor=-0.1))
    assert len(drawn) == 2
    assert "chosen, all features" in words
