"""The text of a page: what it must hold, and what it must not."""

from __future__ import annotations

import copy
import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from tamis.errors import InputError
from tamis.publication.report_parts import SHOWN_CHIPS
from tests.publication import example_summary
from tests.publication.example_summary import example, kept_and_told, rule
from tests.publication.hard_summaries import HOSTILE, hostile, many
from tests.publication.records import Facts, for_recipient, render


class Elements(HTMLParser):
    """Every element with its attributes, and the text of styles and scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {"style": [], "script": [], "title": []}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.found and self.found[-1][0] in self.texts:
            self.texts[self.found[-1][0]].append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


PAGES = {
    "holder": lambda: render(example()),
    "recipient": lambda: render(example(), "recipient"),
    "hostile": lambda: render(hostile()),
    "hostile to a recipient": lambda: render(hostile(), "recipient"),
}


@pytest.fixture(params=PAGES, ids=lambda name: name.replace(" ", "-"))
def page(request: pytest.FixtureRequest) -> str:
    return PAGES[request.param]()


def digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def test_the_policy_knows_this_style_and_script_by_hash_and_nothing_else(page):
    parts = Elements(page)
    policy = next(
        m["content"] for m in parts.all("meta") if m.get("http-equiv") == "Content-Security-Policy"
    )
    style = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(style) == 1
    allowed = digest(script[0]) if script else "'none'"
    assert policy == (
        f"default-src 'none'; style-src {digest(style[0])}; script-src {allowed}; "
        "base-uri 'none'; form-action 'none'"
    )


def test_nothing_is_loaded_and_nothing_runs_by_an_attribute(page):
    for tag, attributes in Elements(page).found:
        assert tag not in ("link", "iframe", "img", "object", "embed", "base")
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")


def test_every_id_is_there_once_and_every_reference_meets_one(page):
    elements = Elements(page).found
    ids = [a["id"] for _, a in elements if "id" in a]
    assert len(ids) == len(set(ids))
    for _, attributes in elements:
        for name in ("for", "aria-labelledby"):
            assert attributes.get(name, ids[0]) in ids


def test_the_page_says_its_language_and_has_one_first_heading(page):
    parts = Elements(page)
    assert parts.all("html") == [{"lang": "en"}]
    assert len(parts.all("h1")) == 1


def test_the_scripts_of_a_hostile_page_are_those_of_any_page():
    ours, theirs = Elements(render(example())), Elements(render(hostile()))
    assert ours.all("script") == theirs.all("script")
    assert len(ours.all("script")) == 2


def test_the_data_can_be_read_back_and_cannot_end_its_element():
    page = render(hostile())
    block = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)[0]
    assert not set("<>&") & set(block)
    columns = json.loads(block)["columns"]
    assert set(columns) >= {HOSTILE[0], HOSTILE[1], HOSTILE[2], HOSTILE[3]}


def test_signs_that_cannot_be_seen_are_replaced():
    page = render(hostile())
    assert "tab line null\ufffdhalf\ufffd" in page
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in page
    page.encode("utf-8")


def test_a_recipient_learns_of_the_columns_held_back_only_their_number():
    summary = example()
    page = re.sub(r"<style>.*</style>", "", render(summary, "recipient"), flags=re.DOTALL)
    held = [c["name"] for c in summary["columns"] if c["fate"] == "held back"]
    assert len(held) == 6
    for name in held:
        assert not re.search(rf"\b{name}\b", page)
    assert "7 columns of the original stayed" in page
    assert "20261115" not in page
    assert "<script" not in page
    for figure in ("73.8%", "80.2%", "700"):  # what everything would give, and people before
        assert figure in render(summary)
        assert figure not in page


def test_a_recipient_does_not_learn_the_name_of_a_secret():
    summary = example()
    summary["table"]["sensitive"] = "hiv status"
    summary["columns"].append({"name": "hiv status", "fate": "held back", "why": "It is secret."})
    summary["columns"][2]["why"] = "It tells little of hiv status."
    assert render(summary).count("hiv status") > 3
    page = render(summary, "recipient")
    assert "hiv status" not in page
    assert "What an attacker" not in page


def test_a_recipient_sees_public_notes_only():
    page = render(example(), "recipient")
    assert "192 rows" in page
    assert "whatever teaches a model" not in page


def test_the_summary_stays_as_it_is():
    summary = example()
    before = copy.deepcopy(summary)
    render(summary)
    render(summary, "recipient")
    for_recipient(summary)["columns"].clear()
    assert summary == before


def test_the_same_summary_gives_the_same_page():
    assert render(many(50)) == render(many(50))


def test_an_unknown_audience_is_refused():
    with pytest.raises(InputError, match="holder, recipient, got 'public'"):
        render(example(), "public")  # type: ignore[arg-type]


def test_a_broken_summary_gives_no_page():
    with pytest.raises(InputError, match="one baseline"):
        render({**example(), "candidates": example()["candidates"][1:]})


def test_parts_without_figures_are_left_out():
    bare = render(
        {**example(), "attackers": [], "classes": None, "rules": None, "measures": [], "notes": []}
    )
    for heading in ("attackers", "classes", "rules", "usefulness"):
        assert f'id="{heading}"' not in bare
        assert f'id="{heading}"' in render(example())


def test_a_release_below_k_says_so():
    summary = example()
    assert "can be singled out" not in render(summary)
    assert summary["exposure"] is not None
    summary["exposure"]["known"]["k"] = 2
    assert "can be singled out" in render(summary)


def test_a_page_counts_rows_unless_people_are_known():
    summary = example()
    assert "people look alike in the released columns" in render(summary)
    assert summary["exposure"] is not None
    summary["unit"] = summary["exposure"]["unit"] = "rows"
    page = render(summary, "recipient")
    assert "rows look alike in the released columns" in page
    assert "How well rows hide" in page
    assert "rows are predicted correctly" in page
    assert "3 (52 rows) also share the same value of diabetes" in page


def test_people_who_have_several_rows_are_not_what_a_model_predicts():
    summary = example()
    summary["table"]["people"] = summary["table"]["people_released"] = 200
    page = render(summary)
    assert "rows are predicted correctly" in page
    assert "people look alike" in page


def test_the_holder_alone_reads_which_groups_share_the_secret():
    summary = example()
    summary["table"]["sensitive"] = "hiv"
    summary["same_sensitive"] = {"groups": 2, "of": 40, "members": 31}
    words = "2 (31 people) also share the same value of hiv"
    assert words in render(summary)
    assert words not in render(summary, "recipient")


def test_a_crowd_of_everybody_is_not_claimed_where_nothing_known_is_released():
    summary = example()
    assert summary["exposure"] is not None
    summary["exposure"]["known"] = {"columns": [], "kind": "equal", "k": 768, "unique": 0}
    for page in (render(summary), render(summary, "recipient")):
        assert "None of the columns that attackers are assumed to know is released." in page
        assert "312 unique" in page
        assert "all 768" not in page
        assert "768 or more" not in page


def test_a_recipient_reads_neither_the_name_of_the_file_nor_the_order_of_its_columns():
    summary = example()
    page = render(summary, "recipient")
    assert "<title>About this release</title>" in page
    assert "pima" not in page
    assert page.index(">mass<") < page.index(">plasma<")
    summary["columns"].reverse()
    assert render(summary, "recipient") == page


def test_many_lost_rules_are_folded_together():
    summary = example()
    rules = summary["rules"]
    assert rules is not None
    assert "a column that is held back, so they can no longer be checked" not in render(summary)
    lost = [rule(f"pedigree > {i} -> diabetes=yes", "lost", 1.0) for i in range(9)]
    rules["worst_first"] = lost + rules["worst_first"][2:]
    page = render(summary)
    assert "9 rules use a column that is held back, so they can no longer be checked" in page
    assert page.count("<details>") == 1


def test_thousands_of_columns_are_counted_not_listed():
    summary = example()
    columns = summary["columns"] + [
        {"name": f"word {i}", "fate": "held back", "why": "Too rare."} for i in range(5_000)
    ]
    page = render({**summary, "columns": columns})
    assert page.count("Too rare.") == 2  # above the columns, and for whoever looks for one
    assert page.count(">word ") < 150
    assert "And 4,900 more; find any of them by its name above." in page
    for column in columns[-5_000:]:
        column["fate"] = "released"
    page = render({**summary, "columns": columns}, "recipient")
    assert page.count(">word ") < 150
    assert "manifest.json lists them all" in page
    assert "Find a column" not in page


def test_columns_that_were_never_compared_are_counted():
    summary = example()
    held = sum(c["fate"] not in ("released", "target") for c in summary["columns"])
    summary["table"]["unlisted"] = 4_000
    page = render(summary)
    assert "and 4,000 more" in page
    assert "And 4,000 columns that were not compared" in page
    public = render(summary, "recipient")
    assert f"{4_000 + held:,} columns of the original stayed with the data holder" in public


def test_the_target_is_among_the_first_names_however_many_there_are():
    summary = example()
    target = summary["table"]["target"]
    columns: list[Facts] = [
        {"name": f"word {i}", "fate": "released", "why": "Good."} for i in range(50)
    ]
    columns.append({"name": target, "fate": "target", "why": "Learnt."})
    for audience in ("holder", "recipient"):
        page = render({**summary, "columns": columns}, audience)
        chips = page[page.index('<div class="leaves">') : page.index('<ul class="facts">')]
        assert chips.count("<li") == SHOWN_CHIPS + 2
        assert f">{target}<" in chips
        assert "and 26 more" in chips


def test_what_the_first_columns_of_many_keep_is_for_the_holder_alone():
    summary = example()
    assert summary["bits"] is not None
    summary["bits"]["waves"] = [
        {"columns": 1, "kept": 0.25, "told": None},
        {"columns": 60, "kept": 0.75, "told": None},
    ]
    page = render(summary)
    assert re.findall(r"<li>(the first|all 60)<", page) == ["the first", "all 60"]
    assert "to those before it in the order below" in page
    assert "all 60" not in render(summary, "recipient")
    assert "gifts waves" not in render(example())


def test_columns_of_one_reason_share_one_line():
    summary = example()
    page = render(summary)
    assert page.count("More would be told than learnt.") == 1
    assert 'More would be told than learnt. <span class="fate">6 columns' in page
    assert page.count(" more</summary>") == 0
    reason = "Next to nothing more would be learnt."
    for i in range(200):
        shares = {"teaches": i / 1000, "teaches_beyond": 0.0, "tells": 0.0, "tells_beyond": 0.0}
        column = {"name": f"c{i:03}", "fate": "held back", "why": reason, "shares": shares}
        summary["columns"].append(column)
    page = render(summary).partition('<script type="application/json"')[0]
    assert page.count(reason) == 1
    first, folded = page.split("188 more</summary>")
    listed = first[first.index(reason) :]
    assert re.findall(r">(c\d{3})<", listed) == [f"c{i:03}" for i in range(199, 187, -1)]
    assert len(re.findall(r">(c\d{3})<", folded)) == 88


def spoken(summary, audience="holder") -> str:
    """The sentences below the first heading, without markup."""
    page = render(summary, audience)
    part = page[page.index('<div class="headline">') : page.index('<div class="sieve">')]
    return " ".join(re.sub(r"<[^>]+>", " ", part).split())


def test_the_page_begins_with_what_is_kept_and_told():
    words = spoken(kept_and_told())
    assert "Keeps 93% of what can be learnt about diabetes ." in words
    assert "89% to 97%, 0.21 bits a person." in words
    assert "Tells 18% of what the table tells about hiv ." in words
    for other in (spoken(example()), spoken(kept_and_told(), "recipient")):
        assert "Keeps 93% of what can be learnt about diabetes ." in other
        assert "ells " not in other


def test_that_nobody_learnt_anything_is_said_with_who_tried():
    summary = kept_and_told()
    assert summary["bits"] is not None
    summary["bits"]["found"] = False
    for told in (example_summary.figure(0.0, 0.0), example_summary.figure(0.01, 0.03)):
        summary["bits"]["told"] = told
        words = spoken(summary)
        assert "None of the attackers tried learnt anything about hiv" in words
        assert "Tried: boosted trees, which looked at 143 views of the columns; naive" in words
        assert "Tells" not in words
        assert ("Up to 4% of what the table tells may have gone unnoticed" in words) == bool(
            told["value"]
        )


def test_what_gives_the_sensitive_value_away_in_the_form_of_a_column_is_named():
    words = spoken(kept_and_told())
    assert (
        "Released: the last digit of insulin gives hiv away (18% of what the table tells)." in words
    )
    assert "Whether mass is even gives hiv away (97% of what the table tells); the release" in words
    assert "gives hiv away" not in spoken(kept_and_told(), "recipient")


def test_a_target_that_nothing_teaches_is_said_to_both():
    summary = example()
    assert summary["bits"] is not None
    summary["bits"]["teaches"] = False
    for audience in ("holder", "recipient"):
        words = spoken(summary, audience)
        assert "Nothing in this table was found to teach anything about diabetes ." in words
        assert "Keeps" not in words


def test_a_target_that_hardly_anything_teaches_is_said():
    summary = example()
    assert summary["bits"] is not None
    assert "That is little" not in spoken(summary)
    summary["bits"]["weak"] = True
    assert "That is little: all columns together make it hardly more certain." in spoken(summary)


def looked_at(summary, audience="holder") -> str:
    page = render(summary, audience)
    part = page[
        page.index('id="close-look"') : page.index("</section>", page.index('"close-look"'))
    ]
    return " ".join(re.sub(r"<[^>]+>", " ", part).split())


def test_a_close_look_at_the_target_is_for_everybody_and_at_the_secret_for_the_holder():
    summary = kept_and_told()
    words, theirs = looked_at(summary), looked_at(summary, "recipient")
    for found in (words, theirs):
        assert "Learning diabetes" in found
        assert "83.0% 81.0% to 85.0% naive Bayes 78." in found
        assert "90.0% 85.0% to 95.0% 3.1% of all (2.1% to 4.1%)" in found
        assert "2.0 times 1.4 to 2.8 times a group of 31" in found
        assert "8.0 times 4.0, 2.8, 2.6, 2.5" in found
    assert "Guessing hiv" in words
    assert "Kept, and told" in words
    assert "hiv" not in theirs
    assert "94.0%" not in theirs  # what all columns would give


def test_figures_of_too_few_people_are_left_out_of_a_close_look():
    summary = kept_and_told()
    assert summary["close_look"] is not None
    secret = summary["close_look"]["sensitive"]
    assert secret is not None
    secret["known"] = secret["group"] = None
    secret["surest"][0]["recall"] = None
    words = looked_at(summary)
    assert "fewer than 5" in words
    assert "too few to say" in words


def test_the_page_says_how_sure_the_choice_is():
    summary = kept_and_told()
    page = render(summary)
    assert "How sure the choice is" in page
    assert "62%" in page
    for other in (2, 4):
        assert f"{summary['candidates'][other]['name']}</bdi> <span" in page
    summary["bits"] = {**summary["bits"], "as_good": []}
    assert "No other release is as good." in render(summary)
    assert "How sure the choice is" not in render(example())


def test_nobody_but_the_holder_reads_what_decided():
    handed_on = for_recipient(kept_and_told())
    bits = handed_on["bits"]
    assert bits is not None
    assert bits["kept"]["value"] == 0.93
    assert not any(bits[key] for key in ("told", "telling", "one_more", "winners", "cautions"))
    assert not any(bits[key] for key in ("value", "redrawn", "as_good"))
    assert bits["caution"] == 0.0
    text = json.dumps(handed_on)
    for figure in ("0.18", "hiv"):
        assert figure not in text
