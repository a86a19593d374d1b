"""Rules of other tools, from what the tools printed or as they document what they print.

The files of Weka, scikit-learn and mlxtend in `printed/` are their output on Fisher's irises as
scikit-learn ships them, with lengths also cut in three; the others follow the documented format.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier, export_text

from tamis import RuleSet, read_rules, retention
from tamis.catalogue.formats import RULE_FORMATS
from tamis.errors import InputError, TamisWarning
from tamis.rules import OneOf
from tamis.rules.imported import FORMATS

PRINTED = Path(__file__).parent / "printed"
SPECIES = "species"


@pytest.fixture(scope="module")
def irises():
    found = load_iris()
    names = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    frame = pl.DataFrame(dict(zip(names, found.data.T)))

    def cut(column, low, high):
        words = pl.when(column <= low).then(pl.lit("short"))
        return words.when(column <= high).then(pl.lit("middle")).otherwise(pl.lit("very long"))

    return frame.with_columns(
        petal=cut(pl.col("petal_length"), 2.5, 4.9),
        sepal=cut(pl.col("sepal_length"), 5.4, 6.2),
        species=pl.Series(found.target_names[found.target]),
    )


def lines(name, **given):
    return read_rules(PRINTED / name, **given).to_text().splitlines()


def test_a_tree_of_weka():
    assert lines("j48.txt", target=SPECIES) == [
        "petal_width <= 0.6 -> species=setosa",
        "0.6 < petal_width <= 1.7 and petal_length <= 4.9 -> species=versicolor",
        "0.6 < petal_width <= 1.5 and petal_length > 4.9 -> species=virginica",
        "1.5 < petal_width <= 1.7 and petal_length > 4.9 -> species=versicolor",
        "petal_width > 1.7 -> species=virginica",
    ]
    assert lines("j48_nominal.txt") == [
        "petal = short -> setosa",
        "petal = middle -> versicolor",
        "petal = 'very long' -> virginica",
    ]


def test_lists_of_weka_end_without_conditions():
    assert lines("part.txt", target=SPECIES) == [
        "petal_width <= 0.6 -> species=setosa",
        "petal_width <= 1.7 and petal_length <= 4.9 -> species=versicolor",
        "-> species=virginica",
    ]
    assert lines("jrip.txt") == [
        "3 <= petal_length <= 4.9 and petal_width <= 1.6 -> species=versicolor",
        "petal_length <= 1.9 -> species=setosa",
        "-> species=virginica",
    ]


@pytest.mark.parametrize(
    ("name", "right"),
    [("j48", 147), ("j48_nominal", 142), ("part", 146), ("part_nominal", 142), ("jrip", 147),
     ("jrip_nominal", 142)],
)  # fmt: skip
def test_read_back_they_are_right_as_often_as_weka_printed(name, right, irises):
    rules = read_rules(PRINTED / f"{name}.txt", target=SPECIES)
    kept = retention(rules, irises, irises, reading="first")
    assert kept.right_original == pytest.approx(right / 150)
    assert kept.coverage_original == 1


def test_associations_of_weka(irises):
    with pytest.warns(TamisWarning, match="8 rules of 10 left out"):
        found = read_rules(PRINTED / "apriori.txt", target=SPECIES)
    assert found.to_text().splitlines() == [
        "petal = short -> species=setosa",
        "petal = short and sepal = short -> species=setosa",
    ]
    assert retention(found, irises, irises).right_original == 1
    with pytest.raises(InputError, match="'petal', 'sepal', 'species'; name the column"):
        read_rules(PRINTED / "apriori.txt")


def test_associations_of_mlxtend_from_its_csv_and_its_frame():
    with pytest.warns(TamisWarning, match="left out"):
        found = read_rules(PRINTED / "mlxtend.csv", target=SPECIES)
    assert "petal = 'very long' -> species=virginica" in found.to_text()
    assert "petal = short and sepal = short -> species=setosa" in {
        " and ".join(sorted(text.split(" -> ")[0].split(" and "))) + " -> " + text.split(" -> ")[1]
        for text in found.to_text().splitlines()
    }
    sets = {"antecedents": [frozenset({"a=1", "b=x, y"})], "consequents": [frozenset({"c=no"})]}
    frame = pd.DataFrame({**sets, "support": [0.1]})
    conditions = read_rules(frame, target="c")[0].conditions
    assert set(conditions) == {OneOf("a", ("1",)), OneOf("b", ("x, y",))}
    many = pl.DataFrame({"antecedents": [["a=1", "b=2"]], "consequents": [["c=no"]]})
    assert read_rules(many).to_text() == "a = 1 and b = 2 -> c=no"


def test_associations_of_arules():
    with pytest.warns(TamisWarning, match="1 rule of 4 left out"):
        found = lines("arules.csv", target=SPECIES)
    assert found == [
        "petal = short -> species=setosa",
        "petal = 'very long' and sepal = 'very long' -> species=virginica",
        "sepal_length = '[4.3,5.4)' -> species=setosa",
    ]


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("depth", [1, 3, None])
def test_export_text_gives_the_rules_of_the_tree(weights, depth, irises):
    columns = [c for c, kind in irises.schema.items() if kind.is_numeric()]
    tree = DecisionTreeClassifier(max_depth=depth, random_state=0)
    tree.fit(irises.select(columns).to_numpy(), irises[SPECIES].to_numpy())
    text = export_text(tree, feature_names=columns, show_weights=weights, decimals=12, max_depth=99)
    found = read_rules(text, target=SPECIES)
    expected = RuleSet.from_tree(tree, features=columns, target=SPECIES)
    assert [rule.label for rule in found] == [rule.label for rule in expected]
    same, other = (retention(r, irises, irises) for r in (found, expected))
    supports = [{c.id: c.support_before for c in kept.rules} for kept in (same, other)]
    assert supports[0] == supports[1]


def test_export_text_of_a_file_and_of_a_lone_leaf():
    assert lines("export_text.txt") != []
    assert lines("export_weights.txt")[0] == "`petal width (cm)` <= 0.8 -> setosa"
    assert read_rules("|--- class: no\n").to_text() == "-> no"


def test_rules_of_c5():
    assert lines("c5.txt", target=SPECIES) == [
        "petal_width <= 0.6 -> species=setosa",
        "petal_length <= 4.9 and 0.6 < petal_width <= 1.7 -> species=versicolor",
        "petal in {middle, 'very long'} and sepal = 'very long' -> species=virginica",
        "-> species=setosa",
    ]


def test_rules_of_rulefit_speak_for_one_of_two_labels():
    assert lines("rulefit.csv", labels=["versicolor", "setosa"]) == [
        "petal_width > 0.8 and petal_length <= 4.95 -> versicolor",
        "sepal_length <= 5.45 -> setosa",
    ]
    with pytest.raises(InputError, match=r"coefficients and no labels.* --rule-labels the label"):
        lines("rulefit.csv")


def test_if_and_then():
    assert lines("if_then.txt") == [
        "petal_width <= 0.6 -> species=setosa",
        "0.6 < petal_width <= 1.7 and petal = middle -> species=versicolor",
        "petal_width > 1.7 -> species=virginica",
    ]


def test_the_grammar_and_json_of_this_package_are_told_apart(tmp_path):
    rules = RuleSet.parse("r1: age > 40 and job in {a, b} -> ill=yes\nage <= 40 -> ill=no")
    assert read_rules(rules.to_text()) == rules
    assert read_rules(rules.to_json()) == rules
    (tmp_path / "rules.txt").write_text(rules.to_text())
    assert read_rules(str(tmp_path / "rules.txt")) == rules
    items = "{sex=Male,job=Sales} => {ill=yes}\n{sex=Male} => {ill=no}"
    assert read_rules(items) == RuleSet.parse(items)


def test_options_offer_every_format():
    assert tuple(FORMATS) == RULE_FORMATS


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_no_rule_is_refused_in_every_format(name):
    rng = np.random.default_rng(0)
    noise = "\n".join(
        "".join(rng.choice(list("ab c|-:=>(){}<1")) for _ in range(30)) for _ in "abcd"
    )
    for text in ("once upon a time\nthere was a table\n", noise, " \n"):
        refusals = rf"no rule was found|not a rule as|none of these rules|rules of {name} must be"
        with pytest.raises(InputError, match=refusals):
            read_rules(text, name, target="y", labels=["a", "b"])


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("|--- a <= 1.00\n|   |--- truncated branch of depth 3\n", "auto", "not a rule as sklearn"),
        ("|--- a <= 1.00\n|   |--- value: [3.0]\n", "auto", "not a rule as sklearn"),
        ("J48 pruned tree\n-------\na <= x: yes (3.0)\n", "auto", "not a rule as j48"),
        ("{beer} => {wine}\n{beer} => {tea}", "arules", "has the item 'wine'"),
        ("IF a > 1 THEN y = 1\nIF b > 1 THEN z = 1", "auto", "'y', 'z', expected one column"),
        ("a > 1 -> y=1", "csv", "format must be auto, tamis or one of"),
        ("no-such-file.txt", "auto", "no file no-such-file.txt"),
    ],
)
def test_errors_say_what_was_wrong(text, name, said):
    with pytest.raises(InputError, match=said):
        read_rules(text if "\n" in text or name == "auto" else f"{text}\n", name)
