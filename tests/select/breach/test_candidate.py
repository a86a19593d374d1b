"""The picture of the four regions."""

import xml.etree.ElementTree as ET

from tamis.select.breach.candidate import Candidate, region_picture


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


def test_no_word_covers_a_point_where_there_is_room():
    """Many points near the line, as where most sets tell as little as the distribution does."""
    near = [
        candidate([f"c{i}"], 0.68 + i * 0.004, -0.078 - 0.001 * (i % 7), "IV") for i in range(14)
    ]
    twins = [candidate(["d"], 0.726, -0.078, "IV"), candidate(["e"], 0.7262, -0.0782, "IV")]
    every = [ALL, *near, *twins]
    picture = region_picture(every, twins[0], floor=-0.0775)
    drawn, _ = circles(picture)
    points = [(float(c["cx"]), float(c["cy"])) for c in drawn]
    texts = ET.fromstring(picture.svg()).iter("{http://www.w3.org/2000/svg}text")
    placed = [t for t in texts if (t.text or "").startswith(("knows", "chosen", "all features"))]
    assert len(placed) == 3
    for text in placed:
        x, y, wide = float(text.attrib["x"]), float(text.attrib["y"]), 6.4 * len(text.text or "")
        assert text.attrib["text-anchor"] == "start"
        assert not [p for p in points if x < p[0] < x + wide and y - 12 < p[1] < y + 4]
