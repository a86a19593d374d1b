"""One table on its way: how it is read, what its columns are, what is asked for, what was found.

A project is a folder of the workspace; whatever a step finds is a file in it, so that a server that
is started again finds it too::

    tables/3/
    ├── project.json   what the person said
    ├── tamis.toml     the same as a configuration file
    ├── look.json      what the columns hold
    ├── audit.json     how exposed the table is
    ├── ladder.toml    what a ladder was last counted with
    ├── drafts/0/ ...  releases as they would be published, with their private parts
    ├── drafts/0-shown.json   some rows before and after, and who is alone in it
    └── file/          the table, where it was dropped into a page

A project is also a list of options: of the command line that does the same, and of a configuration
file. What is shown to be copied is what runs: as flags where that can be read, with the
configuration file where a name or the number of names does not allow it.
"""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import Field, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from tamis.errors import InputError, listed
from tamis.files import in_toml, toml_key, written
from tamis.options.commands import options_of
from tamis.require.attacker import Attacker, check_knowing

ROLES = {
    "target": "Target: what others will learn to predict",
    "sensitive": "Secret: must stay hard to guess",
    "quasi": "Known: others may know it about a person",
    "identifier": "Name: says who someone is, never released",
    "feature": "Ordinary: nobody outside knows it",
    "weight": "Survey weight: how many people a row stands for",
    "drop": "Leave out",
}
"""What a column can be, in the words of a page."""
RELEASED = ("quasi", "feature")
"""What a column is that may be released, as it is or in a coarser form."""
Options = Mapping[str, Any]
"""By the name of the flag, with underscores: texts, numbers, truths and lists of texts; or tables,
which only a configuration file can hold."""
REPEATED = ("missing", "attacker")
"""Flags that are given once for each value; other lists are joined by commas."""
LONGEST_FLAGS = 1500
"""The most characters of flags that a person can still read."""
MOST_DIGITS = 10


def toml(options: Options) -> str:
    """The options as the text of a configuration file.

    >>> print(toml({"target": "ill", "quasi": ["age"], "row_is_person": True, "k": 5}), end="")
    target = "ill"
    quasi = ["age"]
    row_is_person = true
    k = 5
    """
    tables = {name: value for name, value in options.items() if isinstance(value, Mapping)}
    plain = {name: value for name, value in options.items() if name not in tables}
    return _lines(plain) + "".join(f"\n[{name}]\n{_lines(t)}" for name, t in tables.items())


def _lines(table: Mapping[str, Any]) -> str:
    return "".join(f"{toml_key(name)} = {in_toml(value)}\n" for name, value in table.items())


def flags(options: Options) -> list[str] | None:
    """The options as arguments; `None` where a name cannot be given so, or they are too many.

    >>> flags({"target": "ill", "quasi": ["age", "zip"], "row_is_person": True, "missing": ["?"]})
    ['--target=ill', '--quasi=age,zip', '--row-is-person', '--missing=?']
    >>> flags({"quasi": ["age, in years"]}) is None
    True
    """
    if any(isinstance(value, Mapping) for value in options.values()):
        return None
    if not all(_plain(name, value) for name, value in options.items()):
        return None
    found = [part for name, value in options.items() for part in _flag(name, value)]
    return found if sum(map(len, found)) <= LONGEST_FLAGS else None


def _flag(name: str, value: Any) -> list[str]:
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [flag] if value else []
    if isinstance(value, str | int | float):
        return [f"{flag}={value}"]
    if name in REPEATED:
        return [f"{flag}={each}" for each in value]
    return [f"{flag}={','.join(value)}"] if value else []


def _plain(name: str, value: Any) -> bool:
    """Whether a command line gives the value back as it is, and a terminal shows it as it is."""
    texts = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    if not all(text.isprintable() for text in texts):
        return False
    if isinstance(value, str) or name in REPEATED:
        return True
    return all(text and text == text.strip() and "," not in text for text in texts)


def arguments(options: Options, config: str) -> list[str]:
    """The options as arguments, or the configuration file that holds them."""
    found = flags(options)
    return ["--config", config] if found is None else found


def in_shell(words: Sequence[str]) -> str:
    """A command line to be copied into a shell.

    >>> in_shell(["audit", "my table.csv", "--target=ill"])
    "tamis audit 'my table.csv' --target=ill"
    """
    return shlex.join(["tamis", *words])


def shown_of(draft: str | Path) -> Path:
    """Where the process that made a draft leaves what a page shows of it, besides its files."""
    return Path(draft).with_name(f"{Path(draft).name}-shown.json")


@dataclass
class Project:
    """What a person said about one table, and where what was found is kept."""

    folder: Path
    name: str
    path: str
    own: bool = False
    """Whether the table lies in the workspace, because it was dropped into a page."""
    reading: dict[str, Any] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    """The columns that look as if they could identify people."""
    row_is_person: bool = False
    person: str = ""
    """The identifier that says who is a person; empty: as tamis reads them."""
    drop_unlabelled: bool = False
    target_bins: str = ""
    """The classes of a target of numbers, as typed: how many, or where they end."""
    ladders: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The coarser forms of columns that the person wrote, as in a configuration file."""
    whole: list[str] = field(default_factory=list)
    """The columns that are never released in a coarser form."""
    settings: dict[str, Any] = field(default_factory=dict)
    synthetic: dict[str, Any] = field(default_factory=dict)
    """What was said about rows that describe nobody, and whether these are `asked` for instead."""
    audited: dict[str, Any] | None = None
    """The options that the audit was made with."""
    compared: dict[str, Any] | None = None
    """The options that the drafts were made with."""
    drafts: dict[str, str] = field(default_factory=dict)
    """The folder in drafts/ of each release that was drafted, by its name."""
    notes: list[str] = field(default_factory=list)
    """What the comparison said on its way."""
    suggested: str = ""
    """The release that was chosen without anyone's help."""
    published: list[dict[str, Any]] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.folder.name

    @property
    def key(self) -> str:
        return f"tables/{self.id}"

    def address(self, step: str) -> str:
        return f"/{self.key}/{step}"

    @classmethod
    def load(cls, folder: Path) -> Project:
        """The project of a folder; `ValueError` says in words for a page why it cannot be read."""
        if not is_folder_number(folder.name):
            raise ValueError("it is not named as tamis names its folders, by a number")
        try:
            content = json.loads((folder / "project.json").read_bytes())
        except FileNotFoundError:
            raise ValueError("it has no project.json") from None
        except OSError as error:
            raise ValueError(f"its project.json cannot be opened: {error.strerror}") from None
        except (ValueError, RecursionError):
            raise ValueError("its project.json is damaged") from None
        _check_fields(content)
        project = cls(folder=folder, **content)
        project.settings = {_ASKED.get(n, n): value for n, value in project.settings.items()}
        return project

    def save(self) -> None:
        content = asdict(self)
        del content["folder"]
        self.write("project.json", json.dumps(content, indent=1))
        self.write("tamis.toml", self.configuration)

    def write(self, name: str, text: str) -> None:
        with written(self.folder / name) as draft:
            draft.write_text(text, encoding="utf-8")

    def found(self, name: str) -> Any:
        """What a step found; `None` where it did not run yet."""
        path = self.folder / name
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None

    # What the options of a command are.

    @property
    def source_options(self) -> dict[str, Any]:
        """How the table is read and what its columns are, as options of any command."""
        of = {role: [n for n, r in self.roles.items() if r == role] for role in ROLES}
        keys = set(self.keys)
        given = {
            "target": next(iter(of["target"]), None),
            "sensitive": of["sensitive"],
            "quasi": of["quasi"] if set(of["feature"]) | (set(of["quasi"]) & keys) else [],
            "identifier": of["identifier"],
            "person": [self.person] if self.person else [],
            "row_is_person": self.row_is_person,
            "drop_unlabelled": self.drop_unlabelled,
            "target_bins": [part.strip() for part in self.target_bins.split(",") if part.strip()],
            "drop": of["drop"],
            "weight": next(iter(of["weight"]), None),
            "feature": [name for name in of["feature"] if name in keys],
            **self.reading,
        }
        return {name: value for name, value in given.items() if value}

    @property
    def release_options(self) -> dict[str, Any]:
        """The same, with what is asked for."""
        if self.is_synthetic:
            # What looks at cells, as who sorts out rows or cuts a target does, no epsilon covers.
            cells = ("drop_unlabelled", "target_bins")
            public = {n: v for n, v in self.source_options.items() if n not in cells}
            return {**public, **self.synthetic["options"]}
        asked = {name: value for name, value in self.settings.items() if value not in (None, [])}
        return {**self.source_options, **asked, **self._coarsening}

    @property
    def is_synthetic(self) -> bool:
        """Whether rows that describe nobody are asked for."""
        return bool(self.synthetic.get("asked"))

    @property
    def usual_attacker(self) -> tuple[list[str], list[str]]:
        """What the attacker without a name knows, whom the limits are about, and what they want."""
        known = self._columns("quasi") or self._columns("feature")
        return known, self._columns("sensitive") or self._columns("target")

    def _columns(self, *roles: str) -> list[str]:
        return [name for name, role in self.roles.items() if role in roles]

    @property
    def knowable(self) -> list[str]:
        """The columns that an attacker may know."""
        return self._columns(*RELEASED, "drop")

    def check_attackers(self, attackers: Sequence[str]) -> None:
        """Refuse attackers who know or want what these columns are not."""
        check_knowing(
            map(Attacker.parse, attackers),
            self.roles,
            self.knowable,
            self.usual_attacker[1],
            lambda column: _ROLE_WORDS.get(self.roles[column], self.roles[column]),
        )

    @property
    def _coarsening(self) -> dict[str, Any]:
        """What the person said about coarser forms of the columns that may be released."""
        may = {name for name, role in self.roles.items() if role in RELEASED}
        ladders = {name: how for name, how in self.ladders.items() if name in may}
        whole = [name for name in self.whole if name in may]
        given = {"ladders": ladders, "coarsen": {"keep": whole} if whole else {}}
        return {name: table for name, table in given.items() if table}

    @property
    def ladder_options(self) -> dict[str, Any]:
        """What `tamis ladder` needs of it."""
        asked = self.release_options
        return {
            **self.source_options,
            **{name: asked[name] for name in ("k", "ladders") if name in asked},
        }

    @property
    def configuration(self) -> str:
        return toml(self.release_options)

    def arguments(self, command: str, options: Mapping[str, Any], *more: str) -> list[str]:
        """The arguments of a command of tamis about this table."""
        config = str(self.folder / "tamis.toml")
        return [command, self.path, *arguments(options, config), *more]

    def command(self, command: str, options: Mapping[str, Any], *more: str) -> str:
        """The same to be copied: with names that the person knows."""
        table = self.name if self.own else self.path
        return in_shell([command, table, *arguments(options, "tamis.toml"), *more])

    # What the person says.

    def believe(self, look: Mapping[str, Any], known: Mapping[str, str] | None = None) -> None:
        """Take over what the columns seem to be, except where the person has said it."""
        names = [c["name"] for c in look["columns"]]
        self.keys = [c["name"] for c in look["columns"] if c["telling"]]
        said = {name: role for name, role in (known or self.roles).items() if name in names}
        taken = set(said.values()) & {"target", "sensitive"}
        self.roles = {
            c["name"]: said.get(c["name"]) or ("quasi" if c["role"] in taken else c["role"])
            for c in look["columns"]
        }

    def set_roles(self, roles: Mapping[str, str]) -> None:
        """Give every column its role; an error where the table could not be released so."""
        if set(roles) != set(self.roles) or not set(roles.values()) <= set(ROLES):
            raise InputError("these are not the columns of this table; load the page again")
        for role, called in (("target", "the target"), ("weight", "the survey weight")):
            if len(found := [name for name, given in roles.items() if given == role]) > 1:
                raise InputError(
                    f"only one column can be {called}, but {listed(found)} are; change the others"
                )
        if "target" not in roles.values():
            raise InputError("choose the target: the column that others will learn to predict")
        if not set(roles.values()) & {"quasi", "feature"}:
            raise InputError("every column is left out; call at least one ordinary or known")
        self.roles = dict(roles)

    # Drafts of releases.

    @property
    def is_compared(self) -> bool:
        """Whether there are drafts, made with what is asked for now."""
        return bool(self.drafts) and self.compared == self.release_options

    @property
    def is_read(self) -> bool:
        return (self.folder / "look.json").is_file()

    @property
    def is_audited(self) -> bool:
        return self.audited == self.source_options and (self.folder / "audit.json").is_file()

    def forget_drafts(self) -> None:
        self.drafts, self.compared = {}, None
        shutil.rmtree(self.folder / "drafts", ignore_errors=True)
        (self.folder / "drafts").mkdir(mode=0o700)
        self.save()

    def forget_unfinished(self) -> None:
        """Delete what a stopped process left of a draft that no page shows."""
        drafts = self.folder / "drafts"
        for left in drafts.iterdir() if drafts.is_dir() else ():
            if left.name.removesuffix("-shown.json") not in self.drafts.values():
                left.unlink() if left.is_file() else shutil.rmtree(left, ignore_errors=True)

    def draft(self, name: str) -> Path:
        """The folder of a draft, or the one that it will get."""
        number = self.drafts.get(name) or str(len(self.drafts))
        return self.folder / "drafts" / number

    def add_draft(self, folder: Path) -> str:
        """Note a draft by the name of the release in it."""
        recipe = json.loads((folder / "private" / "recipe.json").read_text(encoding="utf-8"))
        name = str(recipe["release"])
        self.drafts[name] = folder.name
        return name

    def of_draft(self, name: str, file: str) -> dict[str, Any]:
        """A private document of a draft."""
        path = self.draft(name) / "private" / file
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def manifest(self, name: str) -> dict[str, Any]:
        """The manifest of a draft."""
        path = self.draft(name) / "manifest.json"
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def shown(self, name: str) -> dict[str, Any]:
        """What a page shows of a draft besides its files; nothing where an engine made it."""
        path = shown_of(self.draft(name))
        found: dict[str, Any] = (
            json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        )
        return found

    def summary(self) -> dict[str, Any]:
        """What the comparison found."""
        return self.of_draft(next(iter(self.drafts)), "summary.json")

    def seed(self) -> int:
        """The seed of the comparison, to make the same one again."""
        return int(self.of_draft(next(iter(self.drafts)), "recipe.json")["settings"]["seed"])

    def taking(self, name: str) -> dict[str, str]:
        """The option that takes the named release; nothing for the one that is suggested."""
        return {} if name == self.suggested else {"choose_release": name}

    def release_command(self, name: str, out: str = "DIR") -> str:
        """The command line that publishes the named release."""
        take = [f"--choose-release={given}" for given in self.taking(name).values()]
        return self.command("release", self.release_options, *take, "--out", out)


_ASKED = {old: option.name for option in options_of("release") for old in option.old}
"""Former names of options, which an older project may hold."""
_ROLE_WORDS = {"quasi": "quasi-identifier", "drop": "dropped"}
_FIELDS = {f.name: f for f in fields(Project) if f.name != "folder"}


def _check_fields(content: object) -> None:
    """`ValueError` unless every field is one of this version and holds what it should."""
    if not isinstance(content, dict):
        raise ValueError("its project.json is damaged")
    if not content.keys() <= _FIELDS.keys() or not {"name", "path"} <= content.keys():
        raise ValueError("its project.json is of another version of tamis")
    if not all(_fits(_FIELDS[name], value) for name, value in content.items()):
        raise ValueError("its project.json is of another version of tamis, or damaged")


def _fits(of: Field[Any], value: Any) -> bool:
    """Whether a value has the type that its field is declared with."""
    kinds: dict[str, Any] = {"str": str, "bool": bool, "list": list, "dict": dict}
    kind, _, optional = str(of.type).partition(" | ")
    if value is None:
        return bool(optional)
    if not isinstance(value, kinds[kind.partition("[")[0]]):
        return False
    inside = value.values() if isinstance(value, dict) else value
    return not kind.endswith("str]") or all(isinstance(each, str) for each in inside)


def is_folder_number(name: str) -> bool:
    return name.isascii() and name.isdigit() and len(name) < MOST_DIGITS
