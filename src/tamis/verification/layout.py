"""What a published folder contains, by name, its documents, and what is checked of it, in words.

Nothing in such a folder is trusted: only plain files are opened, never a link, a pipe or a
device, and no more of a document is read than a release of any size needs.
"""

from __future__ import annotations

import json
import os
import stat
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any

from tamis.catalogue.formats import DESCRIPTIONS
from tamis.errors import CannotMeet
from tamis.files import open_plain_file

NAME = "manifest.json"
REPORT = "report.html"
RELEASE = {
    "csv": "release.csv",
    "parquet": "release.parquet",
    "long": "release.long.csv",
    "svm": "release.svm",
    "sav": "release.sav",
    "dta": "release.dta",
    "xlsx": "release.xlsx",
}
"""The file of rows, by its format."""
PRIVATE = "private"
RECIPE = "recipe.json"
DOSSIER = "dossier.html"
PEOPLE = "people.csv"
SECRETS = "secrets.csv"
NAMES = "rows.csv"
HEADERS = {PEOPLE: "person", SECRETS: "secret", NAMES: "person,row,content"}
"""What a private file has for each released row."""
_ABOUT = ("scorecard.json", "summary.json", DOSSIER, "dossier.json")
PRIVATE_FILES = (REPORT, RECIPE, *_ABOUT, PEOPLE, SECRETS, NAMES)
"""What `private/` may contain; nothing else counts as part of a release."""
SCHEMA = "tamis-release"
SCHEMA_VERSION = 2
"""Raised whenever a manifest or a file of an earlier tamis would no longer verify."""
MOST_BYTES = 16 << 20
"""How long a JSON document of a release may be."""


def unexpected_files(folder: Path) -> list[str]:
    """What a folder contains that no release has: other names, and anything but plain files.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "manifest.json").write_text("{}")
    ...     _ = (Path(folder) / "letter.txt").write_text("dear")
    ...     unexpected_files(Path(folder))
    ['letter.txt']
    """
    known = {NAME, REPORT, *RELEASE.values(), *DESCRIPTIONS.values()}
    odd = [p.name for p in folder.iterdir() if p.name != PRIVATE and _odd(p, known)]
    private = folder / PRIVATE
    if is_folder(private):
        kept = [p for p in private.iterdir() if _odd(p, set(PRIVATE_FILES))]
        odd += [f"{PRIVATE}/{path.name}" for path in kept]
    elif os.path.lexists(private):
        odd.append(PRIVATE)
    return sorted(odd)


def _odd(path: Path, known: set[str]) -> bool:
    return path.name not in known or not stat.S_ISREG(path.lstat().st_mode)


def is_folder(path: Path) -> bool:
    """Whether a path is a folder and not a link to one."""
    return path.is_dir() and not path.is_symlink()


def digest(path: Path) -> str:
    """The SHA-256 of a plain file."""
    found = sha256()
    with open_plain_file(path) as file:
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()


def write_json(path: Path, content: Any) -> None:
    path.write_bytes(json_bytes(content))


def json_bytes(content: Any) -> bytes:
    """A document in the one way that it is written: spaces, numbers and texts have one spelling."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def is_in_one_form(path: Path, content: Any) -> bool:
    """Whether a document that was read is written as this one would be."""
    try:
        expected = json_bytes(content)
    except UnicodeEncodeError:  # half of a pair, which no text has
        return False
    with open_plain_file(path) as file:
        return file.read(len(expected) + 1) == expected


def read_json(path: Path, most: int = MOST_BYTES) -> Any:
    """A JSON document of a release, in which no key occurs twice and every number is finite."""
    with open_plain_file(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise CannotMeet(f"{path.name} is longer than {most >> 20} MiB")
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_once,
            parse_float=_finite,
            parse_constant=_finite,
        )
    except (ValueError, RecursionError):
        raise CannotMeet(
            f"{path.name} is not a JSON document in which every key occurs once and every number "
            "is finite"
        ) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError("not finite")
    return number


CHECK_WORDS = {
    "manifest": "The manifest is complete and well formed, and has nothing that none has.",
    "files": "There is no file that does not belong to a release.",
    "hash": "Each file is the one that the manifest was written for.",
    "described": "Descriptions say what the manifest says, and nothing else.",
    "schema": "The columns are those that the manifest lists.",
    "form": "The file holds its rows and nothing else, byte by byte.",
    "codes": "Codes are stated of values that are in the file alone.",
    "not_promised": "What is not promised is said in full.",
    "k_anonymity": "People who look alike were counted again.",
    "containment_anonymity": "People who have the same facts were counted again.",
    "method": "What the method did to the columns fits the promises.",
    "ladders": "Every coarser value is one that the manifest describes.",
    "people": "People with several rows count once.",
    "suppressed": "The share of those who were left out fits the rows.",
    "diversity": "How alike the secrets of a group are was counted again, where it is promised.",
    "delta-presence": "Who may be in the table was counted again, where it is promised.",
    "exposure": "Those who stand alone were counted again.",
    "budget": "The stated parts of a privacy budget add up, where rows were drawn.",
    "identifiers": "No column that says who someone is was released.",
    "private": "The private part belongs to this release, where it is there.",
}
"""By the name of a check, as `verify` gives it in JSON."""
