"""`tamis choose`."""

import json

import pytest

from tamis.flow import Settings

SCORES = """release,accuracy,pbi,features
all,0.74,0.0,8
few,0.75,0.01,2
safe,0.73,-0.02,4
poor,0.70,0.02,8
"""


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(SCORES)
    return path


def ask(run, scores, *args):
    factors = ("accuracy:max", "pbi:min", "features:min")
    return run("choose", scores, *(x for f in factors for x in ("--factor", f)), *args)


def test_json(run, scores):
    found = json.loads(
        ask(run, scores, "--weights", "accuracy=.5,pbi=.25,features=.25", "--json").out
    )
    assert found["best"] == "few"
    assert found["order"] == ["few", "safe", "all", "poor"]
    few = found["candidates"][1]
    assert few["ranks"] == {"accuracy": 4, "pbi": 2, "features": 4}
    assert few["score"] == 3.5
    assert [c["front"] for c in found["candidates"]] == [True, True, True, False]
    assert found["sensitivity"]["rival"] == "safe"
    # safe is better by 2 ranks in pbi, worse by 2 and 1: 0.75 short, 4 a unit moved to pbi.
    assert found["sensitivity"]["margin"] == pytest.approx(0.75 / 4)


def test_words(run, scores):
    code, out, err = ask(run, scores, "--weights", "accuracy=2,pbi=1")
    assert code == 0
    assert "has the best score" in out
    assert "of the weight moves" in out
    assert "the weights sum to 3" in err
    unnamed = run("choose", scores, "--factor", "accuracy:max", "--name", "features").out
    assert "2 has the best score" in unnamed


def test_the_weight_triangle_is_drawn(run, scores, tmp_path):
    plot = tmp_path / "weights.svg"
    assert ask(run, scores, "--plot", plot).code == 0
    assert "the given weights" in plot.read_text()
    flat = run("choose", scores, "--factor", "accuracy:max", "--plot", tmp_path / "no.svg")
    assert flat.code == 2
    assert "three factors" in flat.err
    assert not (tmp_path / "no.svg").exists()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--factor", "speed:max"], "no scores named 'speed'"),
        (["--factor", "accuracy"], "NAME:max"),
        (["--factor", "accuracy:max", "--weights", "pbi=1"], "no factor 'pbi'"),
        (["--factor", "accuracy:max", "--name", "x"], "no column 'x'"),
        (["--factor", "release:max"], "not all numbers"),
        ([], "--factor"),
    ],
)
def test_what_is_refused(run, scores, args, said):
    result = run("choose", scores, *args)
    assert result.code == 2
    assert said in result.err


@pytest.mark.parametrize(
    ("names", "weights"),
    [
        (("performance", "privacy", "size"), {"performance": 0.5, "privacy": 0.25, "size": 0.25}),
        (("accuracy", "pbi"), {"accuracy": 0.5, "pbi": 0.5}),
    ],
)
def test_where_nobody_weighs_the_weights_are_those_of_every_command(run, tmp_path, names, weights):
    path = tmp_path / "scores.csv"
    path.write_text(",".join(("release", *names)) + "\n" + "a" + ",1" * len(names) + "\n")
    factors = [part for name in names for part in ("--factor", f"{name}:max")]
    assert json.loads(run("choose", path, *factors, "--json").out)["weights"] == weights
    if len(names) == 3:
        assert weights == Settings().weights
