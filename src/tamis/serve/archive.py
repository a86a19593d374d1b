"""A release as one file to hand on, without anything private; and such a file opened again."""

from __future__ import annotations

import errno
import struct
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from tamis.errors import InputError
from tamis.publish.layout import NAME, RELEASE, REPORT

PUBLIC = (NAME, REPORT, *RELEASE.values())
"""The files of a release that are handed on; nothing else ever is."""
MOST_OPENED = 1 << 32
"""Bytes that an archive may become."""
BLOCK = 1 << 20
DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError),
    *(NotImplementedError, RuntimeError, ValueError, OverflowError, LookupError),
)
"""What zipfile raises for bytes that are no archive, or one that it cannot open."""


def pack(folder: Path, archive: Path, name: str) -> None:
    """Put what is to be handed on into an archive, in a folder of the given name."""
    with zipfile.ZipFile(archive, "x", zipfile.ZIP_DEFLATED) as packed:
        for each in PUBLIC:
            if (folder / each).is_file():
                # A date of its own: when the files were written is nobody's business.
                entry = zipfile.ZipInfo(f"{name}/{each}", (1980, 1, 1, 0, 0, 0))
                entry.external_attr = 0o644 << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                with (folder / each).open("rb") as file, packed.open(entry, "w") as into:
                    while block := file.read(BLOCK):
                        into.write(block)


def unpack(archive: Path, folder: Path) -> None:
    """Take the files of a release out of an archive; an error where it has anything else.

    Names lead nowhere: each file is written under one of the few names that a release has.
    """
    try:
        with zipfile.ZipFile(archive) as packed:
            entries = [e for e in packed.infolist() if not e.is_dir()]
            names = [_public(e.filename) for e in entries]
            if len(set(names)) < len(names):
                raise InputError("the archive has a file of the same name twice")
            left = MOST_OPENED
            for name, entry in zip(names, entries):
                left -= _extract(packed, entry, folder / name, left)
    except InputError:
        raise
    except OSError as error:
        if error.errno != errno.EINVAL:  # of reading before the start, where an entry says so
            raise
        raise _unopened() from None
    except DAMAGED:
        raise _unopened() from None


def _unopened() -> InputError:
    return InputError("this is not a zip archive that can be opened")


def _public(name: str) -> str:
    parts = PurePosixPath(name).parts
    if not parts or len(parts) > 2 or parts[-1] not in PUBLIC:
        raise InputError(
            f"the archive has a file that no release has; expected are only {', '.join(PUBLIC)}, "
            "in one folder"
        )
    return parts[-1]


def _extract(packed: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, most: int) -> int:
    size = 0
    with packed.open(entry) as file, path.open("xb") as into:
        while block := file.read(BLOCK):
            size += len(block)
            if size > most:
                raise InputError("the archive is too large once it is opened")
            into.write(block)
    return size
