"""Who of a register is in a release: counted again from the file, by whoever has the register."""

from __future__ import annotations

import json
import shutil
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis import Roles, Table, verify
from tamis.coarsen.ladder import Ladder
from tamis.coarsen.learnt_forms import CoarserForm, FinestForm
from tamis.errors import CannotMeet, InputError
from tamis.evaluate.in_population import register_of
from tamis.flow import Settings, consider
from tamis.outcome import Outcome
from tamis.publication.bundle import publish
from tamis.publication.manifest import stated
from tamis.release import Coarsening
from tamis.require.population import DeltaPresence
from tamis.risk.presence import delta_presence
from tamis.verification.labels import StatedGroups, labels_of
from tamis.verification.layout import write_json
from tamis.verification.presence import _comparable, counted_shares, how_to_read

NUMBERS = st.integers(0, 99)
CODES = st.sampled_from(["01000", "01001", "75011", "75", "9"])
DAYS = st.integers(0, 9000).map(lambda day: date(1999, 1, 1) + timedelta(days=day))
MOMENTS = st.integers(0, 90_000).map(lambda h: datetime(2019, 12, 30) + timedelta(minutes=h))
FORMS: list[tuple[dict[str, Any], st.SearchStrategy[Any]]] = [
    ({"width": [5, 10], "top": 90, "bottom": 10}, NUMBERS),
    ({"width": [0.5, 1]}, st.sampled_from([0.0, 0.5, 0.75, 1.25, 7.0])),
    ({"cuts": [[20, 40, 60], [40]]}, NUMBERS),
    ({"ends": [{"bottom": 10, "top": 90}, {"bottom": 20, "top": 80}]}, NUMBERS),
    ({"keep": [3, 2]}, CODES),
    ({"dates": ["day", "month", "quarter", "year", "decade"]}, DAYS),
    ({"dates": ["hour", "day", "year"]}, MOMENTS),
    ({"cuts": [["2001-05-01", "2010-01-01"]]}, DAYS),
    ({"groups": [{"one": ["01000", "75"], "two": ["75011"]}, {"all": ["one", "two"]}]}, CODES),
    ({"groups": [{"one": ["01000"]}, {"more": ["one"]}], "unlisted": "rest"}, CODES),
    ({"common": [["01000", "75"], ["75"]]}, CODES),
    ({"groups": [{"low": ["1", "2.0"], "high": ["3"]}]}, st.sampled_from([1.0, 2.0, 3.0, 4.0])),
]


@pytest.mark.parametrize(("ladder", "values"), FORMS)
def test_values_get_the_label_that_their_ladder_gives(ladder, values):
    """Of labels that the file has; values that the ladder lacks match none."""
    made = Ladder.from_dict("c", ladder)

    @settings(max_examples=12)
    @given(st.lists(values, min_size=1, max_size=9), st.lists(values, max_size=9))
    def agree(inside, others):
        column, everybody = pl.Series("c", inside), pl.Series("c", [*inside, *others]).unique()
        for level in range(1, made.top):
            shown = {label for label in made.apply(column, level).to_list() if label != "*"}
            form = Coarsening(made.to_dict(), level)
            said = stated(form, column, k=1)
            full = {"level": level, "ladder": made.to_dict()}
            found = labels_of(everybody, sorted(shown), said, full)
            assert found is not None
            for label, right in zip(found, made.apply(everybody, level).to_list()):
                assert (label if label in shown else None) == (right if right in shown else None)

    agree()


@pytest.mark.parametrize(
    ("form", "values"),
    [
        (CoarserForm(FinestForm((17.5, 29.5, 64.5)), (0, 1, 1, 2)), [3, 17, 18, 30, 64, 65, 99]),
        (
            CoarserForm(FinestForm(None, ("01000", "75"), others=True), (0, 0, 1)),
            ["75", "9", "01000"],
        ),
        (CoarserForm(FinestForm(None, ("01000", "75", "9")), (0, 1, 0)), ["75", "9", "01000"]),
    ],
)
def test_values_get_the_label_that_learnt_groups_give(form, values):
    column = pl.Series("c", values)
    right = form.applied(column).to_list()
    said = stated(Coarsening(form.description(), 1), column, k=1)
    full = {"level": 1, "ladder": form.description()}
    assert labels_of(column, sorted(set(right)), said, full) == right


def test_groups_that_are_not_named_in_full_cannot_be_counted():
    said = {"groups": {"manual": ["cook"], "office": ["judge"]}, "unlisted": "other"}
    named = pl.Series(["judge", "cook"])
    assert labels_of(named, ["manual"], said) == ["office", "manual"]
    assert labels_of(pl.Series(["judge", "bard"]), ["manual"], said) is None


people = st.tuples(st.none() | st.sampled_from([1.0, 2.5, 7.0]), st.none() | CODES)


@settings(max_examples=40)
@given(st.lists(people, min_size=1, max_size=12), st.lists(people, max_size=12), st.booleans())
def test_shares_are_those_of_the_audit(rows, others, as_text):
    """Columns as they are, numbers also as a csv file has them."""
    schema = {"pay": pl.Float64, "zip": pl.String}
    table = pl.DataFrame(rows, schema=schema, orient="row")
    town = Table(pl.DataFrame([*rows, *others], schema=schema, orient="row"))
    kinds = {"pay": "number", "zip": "nominal"}
    content = {
        "presence": DeltaPresence(0, 1).to_dict(["pay", "zip"], "rows", altered=False),
        "columns": [{"name": name, "kind": kind} for name, kind in kinds.items()],
    }
    written = table.cast(pl.String) if as_text else table
    found = counted_shares(written, content, {}, town, None)
    assert tuple(found) == pytest.approx((*vars(delta_presence(table, town)).values(),))


LADDERS = {
    "age": Ladder.from_dict("age", {"width": [10, 20]}),
    "job": Ladder.from_dict(
        "job", {"groups": [{"manual": ["cook", "smith"], "office": ["clerk"]}]}
    ),
}


def town(each: int = 1) -> pl.DataFrame:
    """Illness goes by age and job; `each` rows a person."""
    ages = [20 + (i * 7) % 40 for i in range(600)]
    jobs = [("cook", "smith", "clerk")[(i // 3) % 3] for i in range(600)]
    pay = [(i * 11) % 5 for i in range(600)]
    ill = ["yes" if age + 9 * (job == "clerk") > 45 else "no" for age, job in zip(ages, jobs)]
    who = list(range(600))
    whole = pl.DataFrame({"who": who, "age": ages, "job": jobs, "pay": pay, "ill": ill})
    return pl.concat([whole] * each)


def considered(each: int = 1, **asked: Any) -> Outcome:
    everybody = town(each)
    roles = Roles(target="ill", quasi=("age", "job"), identifiers=("who",))
    table = Table(everybody.filter(pl.col("who") * 37 % 100 < 37), roles)
    how: dict[str, Any] = {"k": 12, "methods": {"coarsen": {}}, "attackers": ("nb",), **asked}
    register = register_of(everybody.select("who", "age", "job"), table)
    return consider(table, Settings(**how), ladders=LADDERS, register=register)


@pytest.fixture(scope="module")
def published(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("register") / "out"
    return publish(considered(delta_presence=(0.0, 0.5)), folder)


def changed(folder: Path, **more: Any) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["presence"] |= more
    write_json(folder / "manifest.json", manifest)


def test_only_who_has_the_register_counts_the_claim_again(published):
    without = verify(published)
    assert not any("delta-presence" in words for words in without.claims)
    stated = "Stated by the publisher, not checked: By what an attacker may know, somebody of"
    assert any(words.startswith(stated) for words in without.not_checked)
    assert without.uncounted == [
        "Not counted again: delta-presence; that takes the register; give it with --population "
        "FILE."
    ]
    counted = verify(published, town())
    assert not counted.uncounted
    assert any("delta-presence" in words for words in counted.claims)
    assert not any(words.startswith(stated) for words in counted.not_checked)
    assert "delta-presence" in [check.name for check in counted.checks]


def test_what_was_measured_is_not_published(published):
    private = json.loads((published / "private" / "recipe.json").read_text())["presence"]
    assert 0 < private["most"] <= 0.5
    public = json.loads((published / "manifest.json").read_text())["presence"]
    assert not {"measured", "least", "most"} & set(public)
    assert "from 0 to 0.5 (delta-presence)" in (published / "report.html").read_text()


def test_a_register_of_fewer_people_breaks_the_claim(published):
    some = town().head(300)
    with pytest.raises(CannotMeet, match="in this register, which is not what was promised"):
        verify(published, some)
    with pytest.raises(CannotMeet, match="some people of the file are not in the register"):
        verify(published, town().filter(pl.col("age") < 40))
    with pytest.raises(CannotMeet, match="is it the same register"):
        verify(published, pl.concat([town()] * 2).drop("who"))
    with pytest.raises(InputError, match="the register has no column"):
        verify(published, town().select("who"))


def test_whole_numbers_are_compared_digit_by_digit():
    """Of a csv file as texts; floats would take two neighbours of 2 ** 53 for one."""
    large = 2**53
    for cells in (pl.Series([large, None, 7]), pl.Series([str(large), None, "7"])):
        mine, theirs = _comparable(cells, pl.Series([large + 1, 7, None]), "number")
        assert mine.to_list() == [large, None, 7]
        assert theirs.to_list() == [large + 1, 7, None]


def test_a_claim_that_was_changed_does_not_hold(published, tmp_path):
    lies: list[tuple[dict[str, Any], str]] = [
        ({"at_most": 0.01}, "wording"),
        ({"columns": []}, "other columns"),
        ({"at_least": 0.9, "at_most": 0.1}, "two shares"),
        ({"at_most": 1.1}, "invalid 'at_most' in presence"),
        ({"at_least": -0.1}, "invalid 'at_least' in presence"),
        ({"recount": "file"}, "invalid 'recount' in presence"),
    ]
    for number, (more, words) in enumerate(lies):
        copy = tmp_path / str(number)
        shutil.copytree(published, copy)
        shutil.rmtree(copy / "private")
        changed(copy, **more)
        with pytest.raises(CannotMeet, match=words):
            verify(copy)


def test_recipients_with_a_register_count_what_the_manifest_lets_them(published, tmp_path):
    copy = tmp_path / "shared"
    shutil.copytree(published, copy)
    shutil.rmtree(copy / "private")
    manifest = json.loads((copy / "manifest.json").read_text())
    assert how_to_read(manifest, {}).kinds == {"age": "number", "job": "text"}
    assert not verify(copy, town()).uncounted
    (age,) = [c for c in manifest["columns"] if "coarser" in c]
    labels = pl.read_csv(copy / "release.csv")["age"].unique().to_list()
    groups: dict[str, list[str]] = {label: [] for label in sorted(labels)}
    age["coarser"] = {"level": 1, "groups": groups, "read": StatedGroups.read}
    write_json(copy / "manifest.json", manifest)
    assert "does not name all values of 'age'" in verify(copy, town()).uncounted[0]


def test_a_register_that_nothing_is_claimed_about_is_refused(published, tmp_path):
    copy = tmp_path / "silent"
    shutil.copytree(published, copy)
    manifest = json.loads((copy / "manifest.json").read_text())
    del manifest["presence"]
    write_json(copy / "manifest.json", manifest)
    with pytest.raises(InputError, match="claims nothing about a population"):
        verify(copy, town())


def test_people_with_several_rows_are_counted_where_the_holder_says_whose_they_are(tmp_path):
    out = publish(considered(each=2, delta_presence=(0.0, 0.5)), tmp_path / "out")
    everybody = Table(town(2), Roles(identifiers=("who",)))
    assert not verify(out, everybody).uncounted
    shutil.rmtree(out / "private")
    assert "only private/ does" in verify(out, everybody).uncounted[0]


def test_altered_values_are_counted_by_nobody_else(tmp_path):
    altered: dict[str, Any] = {"pram": {"levels": [0.2]}}
    asked: dict[str, Any] = {"methods": altered, "k": 1, "take": "PRAM, 0.2"}
    out = publish(considered(delta_presence=(0.0, 1.0), **asked), tmp_path / "out")
    assert "values were altered" in verify(out, town()).uncounted[0]
