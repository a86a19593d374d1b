"""Line charts are well-formed, with gaps, words and many panels."""

from xml.etree import ElementTree

from tamis.charts import Panel, line_chart


def test_a_chart_is_well_formed_with_gaps_words_and_many_panels():
    panels = [
        Panel("words", ["a<b", "c"], {"one": [1, None], "two": [2, 3]}, "subset", "score"),
        Panel("numbers", [0.1, 1, 10], {"two": [0.5, 0.5, 0.5]}, log=True, low=0, high=1),
    ]
    root = ElementTree.fromstring(line_chart("a & b", "two panels", panels, columns=2).svg())
    lines_drawn = [e for e in root.iter() if e.tag.endswith("polyline")]
    assert len(lines_drawn) == 3
    assert "two, 10: 0.5" in [e.text for e in root.iter() if e.tag.endswith("title")]
