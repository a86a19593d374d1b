"""File names of a published folder, reading and writing its documents, and the checks in words.

Nothing in such a folder is trusted: only plain files are opened, never a link, a pipe or a device,
and documents are read up to a size that no release exceeds.
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
"""The header of each private file that has a line per released row."""
_ABOUT = ("scorecard.json", "summary.json", DOSSIER, "dossier.json")
PRIVATE_FILES = (REPORT, RECIPE, *_ABOUT, PEOPLE, SECRETS, NAMES)
"""What `private/` may contain; nothing else counts as part of a release."""
SCHEMA = "tamis-release"
SCHEMA_VERSION = 2
"""Raised whenever a manifest or a file of an earlier tamis would no longer verify."""
MOST_BYTES = 16 << 20
"""Largest size of a JSON document of a release."""


def unexpected_files(folder: Path) -> list[str]:
    """Names in a folder that no release has, and names of anything but plain files.

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
    total = sha256()
    with open_plain_file(path) as file:
        while block := file.read(1 << 20):
            total.update(block)
    return total.hexdigest()


def write_json(path: Path, content: Any) -> None:
    path.write_bytes(json_bytes(content))


def json_bytes(content: Any) -> bytes:
    """A document as canonical JSON: one spelling of spaces, numbers and texts."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def is_in_one_form(path: Path, content: Any) -> bool:
    """Whether the file of a document is exactly its canonical JSON."""
    try:
        expected = json_bytes(content)
    except UnicodeEncodeError:  # a lone surrogate, which JSON can escape but UTF-8 cannot hold
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
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a key occurs twice")
    return record


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError("not finite")
    return number


CHECK_WORDS = {
    "manifest": "The manifest is complete and well formed, and contains nothing else.",
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
"""What each check checks, by the name that `verify` gives it in JSON."""
