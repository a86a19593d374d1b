"""Several attackers: what was asked against each holds in the file, whatever method made it.

Groups are counted here from cells alone, by the definitions, for each attacker by what that one
knows: everything that shows something of a known column, zeros included.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tamis import Attacker, Roles, Table, read_table, verify
from tamis.errors import CannotMeet
from tamis.flow import Settings, consider
from tamis.propose import methods, propose
from tamis.publication.bundle import publish
from tamis.require import requirements
from tamis.risk.attackers import knowing_together, required_of
from tamis.risk.suppression import Suppression
from tamis.verification.layout import digest
from tests.publication.test_named_attacker import ALL, holds, problem_of, shows, tables
from tests.verification.forged import edited

QUICK: dict[str, Any] = {"attackers": ("nb",), "allow_useless": True}
CLERK = Attacker("clerk", ["age", "sex"], k=8, l=2)
BOSS = Attacker("boss", ["job", "month"], k=4)


def crowds(frame: pl.DataFrame, known: set[str]) -> dict[tuple[Any, ...], list[int]]:
    """The rows of each group alike in all that shows something of what is known."""
    names = [name for name in frame.columns if shows(name, known)]
    found = defaultdict(list)
    for number, row in enumerate(frame.select(names).rows() or [()] * frame.height):
        found[row].append(number)
    return found


def smallest(frame: pl.DataFrame, known: set[str]) -> int:
    return min(map(len, crowds(frame, known).values()))


def fewest_values(frame: pl.DataFrame, known: set[str], secret: list[Any]) -> int:
    return min(len({secret[row] for row in rows}) for rows in crowds(frame, known).values())


def farthest(frame: pl.DataFrame, known: set[str], secret: list[Any]) -> float:
    """The largest distance of the shares of a group from those of all: t."""
    usual = Counter(secret)
    return max(
        sum(
            max(0, Counter(secret[row] for row in rows)[v] / len(rows) - n / len(secret))
            for v, n in usual.items()
        )
        for rows in crowds(frame, known).values()
    )


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
@given(tables(), st.data(), st.booleans(), st.booleans())
def test_whatever_method_wins_each_attacker_is_left_with_its_own_k_and_l(
    table, data, named, leave_out
):
    columns = [c for c in table.frame.columns if c != "y"]
    some = st.sets(st.sampled_from(columns), min_size=1).map(sorted)
    each = [
        Attacker(name, data.draw(some), k=data.draw(st.integers(2, 6)), l=data.draw(values))
        for name, values in (("one", st.sampled_from([None, 2])), ("two", st.none()))
    ]
    table = table if named else table.with_roles(quasi=None)
    asked = required_of(table, requirements(3), each)
    knows = {"": set(table.roles.quasi or ())} if named else {}
    knows |= {attacker.name: set(attacker.knows) for attacker in each}
    table = knowing_together(table, each)
    few = Suppression(table.rows // 8, asked, table.frame) if leave_out else None
    problem = problem_of(table, asked.k, requirements=asked, suppression=few)
    for release in propose(problem, methods(ALL)).releases:
        if not holds(release) or release.is_altered:
            continue
        secret = release.table.frame["y"].to_list()
        for one in asked:
            known = knows[one.attacker]
            if one.key == "k_anonymity":
                assert smallest(release.table.frame, known) >= one.bound, release.name
                assert {p.attacker for p in release.promises} >= {one.attacker}
            elif not release.sources:  # 0/1 columns are checked by the scorecard
                assert fewest_values(release.table.frame, known, secret) >= one.bound, release.name


def stays(rows: int = 700) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    age, month = rng.integers(20, 80, rows), rng.integers(1, 13, rows)
    job = rng.choice(["cook", "judge", "smith", "nurse"], rows)
    ill = rng.random(rows) < 0.1 + 0.4 * (age > 60) + 0.2 * (job == "cook")
    hiv = rng.random(rows) < 0.1 + 0.2 * (month > 9)
    return pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["f", "m"], rows),
            "job": job,
            "month": month,
            "hiv": np.where(hiv, "yes", "no"),
            "ill": np.where(ill, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def table() -> Table:
    return read_table(stays(), target="ill", sensitive="hiv", person=())


@pytest.fixture(scope="module")
def folder(table: Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    asked = Settings(threats=(CLERK, BOSS), methods={"front": {}, "coarsen": {}}, **QUICK)
    return publish(consider(table, asked), tmp_path_factory.mktemp("several") / "out")


def manifest_of(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return content


def test_the_manifest_states_each_attacker_and_verify_counts_it(folder):
    found = verify(folder).manifest
    frame = pl.read_csv(folder / "release.csv", infer_schema=False)
    said = {entry["attacker"]: entry for entry in found["promises"]}
    assert set(said) == {"clerk", "boss"}
    for attacker in (CLERK, BOSS):
        entry = said[attacker.name]
        assert entry["at_least"] == attacker.asks["k"]
        assert entry["measured"] == smallest(frame, set(attacker.knows))
        assert entry["claim"].startswith(f"Against {attacker.name}")
    assert found["exposure"]["known"]["kind"] == "together"
    together = smallest(frame, {*CLERK.knows, *BOSS.knows})
    assert found["exposure"]["known"]["k"] == together
    assert any("join what they know" in words for words in found["not_promised"])


def test_what_is_hidden_is_recounted_for_the_holder_alone(folder):
    recipe = json.loads((folder / "private" / "recipe.json").read_text())
    (entry,) = recipe["diversity"]
    assert (entry["attacker"], entry["column"], entry["at_least"]) == ("clerk", "hiv", 2)
    assert "diversity" not in manifest_of(folder)
    assert "hiv" not in (folder / "report.html").read_text()


def test_the_report_has_a_line_for_each_attacker_the_worst_first(folder):
    for page in (folder / "report.html", folder / "private" / "report.html"):
        lines = page.read_text().partition("Who might try")[2].partition("</table>")[0]
        promises = manifest_of(folder)["promises"]
        names = [e["attacker"] for e in sorted(promises, key=lambda e: e["measured"])]
        places = [lines.index(f'<th scope="row">{name}</th>') for name in names]
        assert places == sorted(places)


def test_it_is_made_again_from_its_recipe(table, folder, tmp_path):
    recipe = json.loads((folder / "private" / "recipe.json").read_text())
    again = publish(consider(table, Settings(**recipe["settings"])), tmp_path / "out")
    assert (again / "release.csv").read_bytes() == (folder / "release.csv").read_bytes()


def dropped(content: dict[str, Any]) -> None:
    content["promises"] = [p for p in content["promises"] if p["attacker"] != "boss"]


def shortened(content: dict[str, Any]) -> None:
    content["promises"][0] |= {"columns": []}


def lowered(content: dict[str, Any]) -> None:
    content["promises"][1]["at_least"] = 2


def renamed(content: dict[str, Any]) -> None:
    content["promises"][1]["attacker"] = "nobody"


def spelt(content: dict[str, Any]) -> None:
    content["promises"][1]["attacker"] = "see https://example.org/?name=Ann"


def twice(content: dict[str, Any]) -> None:
    content["promises"].append(content["promises"][0])


LESS = "against attacker {!r}, and nothing as strong is stated"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (dropped, LESS.format("boss")),
        (shortened, LESS.format("clerk")),
        (lowered, LESS.format("boss")),
        (renamed, LESS.format("boss")),
        (spelt, "an invalid 'attacker'"),
        (twice, "states something twice"),
    ],
)
def test_a_forged_attacker_is_caught(folder, tmp_path, change, said):
    copy = tmp_path / "forged"
    shutil.copytree(folder, copy)

    def fitted(content: dict[str, Any]) -> None:
        from tamis.stated import sentence

        change(content)
        for entry in content["promises"]:
            entry["claim"] = sentence(entry)

    edited(copy, fitted)
    path = copy / "private" / "recipe.json"
    recipe = json.loads(path.read_text())
    recipe["sha256"]["manifest.json"] = digest(copy / "manifest.json")
    path.write_text(json.dumps(recipe))
    with pytest.raises(CannotMeet, match=said):
        verify(copy)


def test_who_knows_the_quasi_identifiers_is_among_several_only_where_these_are_named():
    frame = stays(60)
    plain = Table(frame, Roles(target="ill"))
    assert {each.attacker for each in required_of(plain, requirements(3), [BOSS])} == {"boss"}
    named = plain.with_roles(quasi=("age",))
    both = required_of(named, requirements(3), [BOSS])
    assert {each.attacker: each.columns for each in both} == {
        "": ("age",),
        "boss": ("job", "month"),
    }
    assert knowing_together(named, [BOSS]).quasi == ("age", "job", "month")


@pytest.mark.parametrize("how", ["epsilon", "earlier"])
def test_what_is_not_counted_for_several_attackers_is_refused(table, how):
    from tamis.errors import InputError

    if how == "epsilon":
        with pytest.raises(InputError, match="either attackers or epsilon"):
            Settings(threats=(BOSS,), epsilon=1.0)
        return
    earlier: Any = type("Earlier", (), {"check": lambda self, k: None})()
    with pytest.raises(InputError, match="compared for one attacker"):
        consider(table, Settings(threats=(BOSS,), **QUICK), handed=earlier)


def test_two_secrets_and_three_attackers_are_kept_and_counted_again(tmp_path):
    ward = np.where(np.random.default_rng(3).random(700) < 0.5, "a", "b")
    frame = stays().with_columns(ward=pl.Series(ward))
    secrets = ["hiv", "ward", "ill"]
    table = read_table(frame, target="ill", sensitive=secrets, person=(), quasi=["sex"])
    threats = (
        Attacker("clerk", ["age", "sex"], ["ward"], k=8, l=2),
        Attacker("boss", ["job", "month"], ["hiv", "ill"], k=4, t=0.4),
    )
    methods: dict[str, Any] = {"front": {}, "coarsen": {}}
    asked = Settings(k=6, l=2, threats=threats, max_suppressed=0.05, methods=methods, **QUICK)
    out = publish(consider(table, asked), tmp_path / "out")
    content = verify(out).manifest
    rows = pl.read_csv(out / "release.csv", infer_schema=False)
    knows: dict[str | None, set[str]] = {
        None: {"sex"},
        **{each.name: set(each.knows) for each in threats},
    }
    for entry in content["promises"]:
        whose = entry.get("attacker")
        assert entry["measured"] == smallest(rows, knows[whose]) >= entry["at_least"]
    stated = {(e["key"], e.get("attacker"), e["column"]) for e in content["diversity"]}
    assert stated == {("l_diversity", None, "ill"), ("t_closeness", "boss", "ill")}
    recipe = json.loads((out / "private" / "recipe.json").read_text())
    hidden = {(e["key"], e.get("attacker"), e["column"]) for e in recipe["diversity"]}
    assert hidden == {
        ("l_diversity", None, "hiv"),
        ("l_diversity", None, "ward"),
        ("l_diversity", "clerk", "ward"),
        ("t_closeness", "boss", "hiv"),
    }
    kept = pl.read_csv(out / "private" / "secrets.csv", has_header=False, skip_rows=1)
    order = list(dict.fromkeys(e["column"] for e in recipe["diversity"]))
    for entry in recipe["diversity"]:
        secret = kept[:, order.index(entry["column"])].to_list()
        count: Any = fewest_values if entry["key"] == "l_diversity" else farthest
        reached = count(rows, knows[entry.get("attacker")], secret)
        assert entry["measured"] == pytest.approx(reached)
    assert "hiv" not in (out / "manifest.json").read_text()


def test_a_changed_secret_is_found(folder, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    path = copy / "private" / "secrets.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], *["1"] * (len(lines) - 1)]) + "\n")
    with pytest.raises(CannotMeet, match="l_diversity is 1"):
        verify(copy)
