"""Rules as text and as JSON: what people and miners write, and the way back."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tamis.errors import InputError
from tamis.rules import Between, OneOf, Rule, RuleSet

from .strategies import bounds, sets

_odd = st.text(st.sampled_from("a>=<!-'\"`\\{},:~# \n\t&"), min_size=1, max_size=6)
_odd |= st.sampled_from(["and", "IN", "not", "12", "->", "=>", "a: b", ">50K", "1e5", "x;y", "Ã©"])
_conditions = st.lists(bounds(_odd) | sets(_odd, _odd), max_size=3)


@given(
    st.lists(
        st.tuples(_conditions, _odd, st.none() | st.just({"x": 0.25, "> 'y": 0.75})),
        min_size=1,
        max_size=3,
    ),
    st.none() | _odd,
    st.booleans(),
)
@example([([], "a=b", None)], None, False)
@example([([], " a", None)], "y=", True)
def test_any_rule_reads_back_from_its_text_and_its_json(parts, target, named):
    rules = RuleSet(
        [
            Rule(c, None if shares else label, shares, f"{label}{i}" if named else None)
            for i, (c, label, shares) in enumerate(parts)
        ],
        target,
    )
    assert RuleSet.parse(rules.to_text(), target=target) == rules
    assert RuleSet.from_json(rules.to_json()) == rules


def test_the_line_of_the_manual():
    text = (
        "age > 40.5 and 10 < hours-per-week <= 52.5 and job in {Sales, 'Tech support'} "
        "-> income=>50K"
    )
    rules = RuleSet.parse(text)
    assert rules.target == "income"
    assert rules[0].label == ">50K"
    assert rules[0].conditions == (
        Between("age", low=40.5),
        Between("hours-per-week", 10, 52.5, high_closed=True),
        OneOf("job", ("Sales", "Tech support")),
    )
    assert rules.to_text() == text


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("`odd name` != 'x' -> y=1", "`odd name` != x -> y=1"),
        ('a not in (b, "c d") -> y=1', "a not in {b, 'c d'} -> y=1"),
        ("20 >= a > 10 -> y=1", "10 < a <= 20 -> y=1"),
        ("40 < a -> y=1", "a > 40 -> y=1"),
        (
            "(a >= 132) and (b = x) => class=tested_positive",
            "a >= 132 and b = x -> class=tested_positive",
        ),
        ("a ≤ 3 & b ≠ c -> y=1", "a <= 3 and b != c -> y=1"),
        ("A <= -1.5e-3 AND B == 2 -> y=1", "A <= -0.0015 and B = 2 -> y=1"),
        (
            "{sex=Male,native country=United States} => {income=>50K}",
            "sex = Male and `native country` = 'United States' -> income=>50K",
        ),
        ("{'job=Sales', 'age=[25,35)'} -> ill=yes", "job = Sales and age = '[25,35)' -> ill=yes"),
        ("{age=[25,35)} => {ill=yes}", "age = '[25,35)' -> ill=yes"),
        ("{} => {ill=yes}", "-> ill=yes"),
        ("-> income=<=50K", "-> income=<=50K"),
        ("x<-5->y=1", "x < -5 -> y=1"),
        ("hpo:0001 = 1 -> y=1", "hpo:0001 = 1 -> y=1"),
        ("r 1".replace(" ", "") + ": a = b -> y = c d ", "r1: a = b -> y=c d"),
        ("a = b -> c", "a = b -> c"),
    ],
)
def test_what_people_and_miners_write(written, meant):
    assert RuleSet.parse(written).to_text() == meant


def test_lines_without_an_arrow_take_the_label_given():
    rules = RuleSet.parse("feature_0 <= 5.0 and x > 3\n", target="class", label="1")
    assert rules.to_text() == "feature_0 <= 5 and x > 3 -> class=1"


def test_comments_and_empty_lines_are_passed_over():
    assert len(RuleSet.parse("# one\r\n\r\n  # two\r\na = 1 -> y=2\r\n")) == 1


@pytest.mark.parametrize(
    ("text", "line", "place", "expected"),
    [
        ("a = 1 -> y=1\n\nage > old -> y=1", 3, 7, "a number"),
        ("age 5 -> y=1", 1, 5, "a comparison, 'in' or 'not in'"),
        ("age > 5", 1, 8, "'and' or '->'"),
        ("age > 5 job = x -> y=1", 1, 9, "'and' or '->'"),
        ("job in Sales -> y=1", 1, 8, "'{'"),
        ("job in {a b} -> y=1", 1, 11, "'}'"),
        ("job in {a, } -> y=1", 1, 12, "a value"),
        ("206134 > w <= 346177 -> y=1", 1, 12, "both signs to point the same way"),
        ("20 < w < 10 -> y=1", 1, 1, "lower bound must be below"),
        ("a = 1 ->", 1, 9, "a label after the arrow"),
        ("a = 1 -> y=", 1, 12, "a label after '='"),
        ("a = 'open -> y=1", 1, 5, "a column, a value or a comparison"),
        ("a > 1e999 -> y=1", 1, 5, "a finite number"),
        ("and > 5 and -> y=1", 1, 13, "a column"),
        ("a = 1 -> y ~ {p: 0.5, q: 0.2}", 1, 9, "add up to 1"),
        ("a = 1 -> y ~ {p: 1} more", 1, 21, "the end of the line"),
        ("{sex} => {y=1}", 1, 2, "an item column=value"),
        ("a = 1 -> y=1\nb = 2 -> z=1", 2, 7, "a label of column 'y'"),
    ],
)
def test_a_wrong_line_says_where_and_what_was_expected(text, line, place, expected):
    with pytest.raises(InputError) as caught:
        RuleSet.parse(text)
    assert str(caught.value).startswith(f"rules, line {line}, character {place}: expected")
    assert expected in str(caught.value)


@pytest.mark.parametrize("text", ["", "\n# nothing\n"])
def test_no_rule_is_an_error(text):
    with pytest.raises(InputError, match="no rule"):
        RuleSet.parse(text)


def test_an_id_may_stand_once_only():
    with pytest.raises(InputError, match="duplicate rule ids 'x'"):
        RuleSet.parse("x: a = 1 -> y=1\nx: a = 2 -> y=1")


def test_rules_without_an_id_are_named_by_position_and_never_as_another():
    assert RuleSet.parse("r2: a = 1 -> 1\na = 2 -> 1").ids == ("r2", "r2'")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ("[]", "a list 'rules'"),
        ('{"rules": [{}]}', "a list 'conditions'"),
        ('{"rules": [{"conditions": [], "label": 1}]}', "label of a rule in JSON must be a string"),
        ('{"rules": [{"conditions": []}]}', "a label or a distribution"),
        ('{"rules": [{"conditions": [{"column": "a"}], "label": "1"}]}', "values or bounds"),
        (
            '{"rules": [{"conditions": [{"column": "a", "is": 1}], "label": "1"}]}',
            "unknown entry 'is'",
        ),
        (
            '{"rules": [{"conditions": [{"column": "a", "in": "b"}], "label": "1"}]}',
            "list of strings",
        ),
        ('{"rules": [{"conditions": [{"column": "a", "below": "b"}], "label": "1"}]}', "numbers"),
        (
            '{"rules": [{"conditions": [{"column": "a", "below": 1, "at_most": 2}]}]}',
            "two bounds on one side",
        ),
        (
            '{"rules": [{"conditions": [{"column": "a", "below": 1' + "0" * 400 + "}]}]}",
            "finite numbers",
        ),
        ('{"rules": [{"conditions": [], "distribution": [1]}]}', "each label a share"),
        ('{"rules": [{"conditions": [], "distribution": {"a": "x"}}]}', "each label a share"),
        ('{"rules": [{"conditions": [], "distribution": {"a": NaN}}]}', "each label a share"),
        ('{"rules": [], "target": 3}', "target of rules in JSON must be a string"),
        ('{"rules": ' + "9" * 5_000 + "}", "too many digits"),
        ('{"rules": ' + "[" * 100_000, "too many nested brackets"),
    ],
)
def test_wrong_json_is_told(text, said):
    with pytest.raises(InputError, match=said):
        RuleSet.from_json(text)


def test_any_number_of_brackets_around_a_condition():
    deep = 20_000
    rules = RuleSet.parse("(" * deep + "age > 40" + ")" * deep + " -> ill=yes")
    assert rules == RuleSet.parse("age > 40 -> ill=yes")
    with pytest.raises(InputError, match="expected a column"):
        RuleSet.parse("(" * deep + " -> ill=yes")
    with pytest.raises(InputError, match=r"expected '\)'"):
        RuleSet.parse("(" * deep + "age > 40 -> ill=yes")
