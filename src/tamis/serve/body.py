"""What a browser sends: forms and files, never more than is allowed."""

from __future__ import annotations

import errno
import os
import re
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect, Request

from tamis.errors import InputError

MOST_BYTES = 1 << 30
"""Of a dropped file."""
MOST_FORM = 1 << 20
"""Of a form: room for the columns of a wide table."""
MOST_FIELDS = 5000


class TooLarge(InputError):
    """More was sent than is allowed."""


class PostedForm:
    """The fields of a form, each with any number of values."""

    def __init__(self, fields: dict[str, list[str]]) -> None:
        self._fields = fields

    def one(self, name: str, otherwise: str = "") -> str:
        return self._fields.get(name, [otherwise])[0]

    def all(self, name: str) -> list[str]:
        return self._fields.get(name, [])


async def read_form(request: Request) -> PostedForm:
    """The fields of a form that was sent as a browser does by itself."""
    found = b""
    async for block in request.stream():
        found += block
        if len(found) > MOST_FORM:
            raise TooLarge(f"the form is longer than {MOST_FORM >> 20} MiB")
    try:
        fields = parse_qs(
            found.decode("utf-8"),
            keep_blank_values=True,
            strict_parsing=bool(found),
            max_num_fields=MOST_FIELDS,
        )
    except ValueError:
        raise InputError("this is not a form of these pages") from None
    return PostedForm(fields)


def file_name(given: str) -> str:
    """The last part of a name, with nothing that could lead elsewhere or hide the file.

    >>> file_name("../../etc/stays 2026.csv"), file_name("..")
    ('stays 2026.csv', 'table')
    """
    last = re.split(r"[/\\]", given)[-1]
    kept = "".join(sign for sign in last if sign.isprintable()).lstrip(". ").strip()
    return kept.encode()[:150].decode(errors="ignore") or "table"


async def receive_file(request: Request, path: Path, most: int | None = None) -> None:
    """Stream the body of a request to a new file that only its owner can read.

    What is too large is refused by the length that it claims, or at the first byte beyond.
    """
    most = MOST_BYTES if most is None else most
    if int(request.headers.get("content-length") or 0) > most:
        raise _too_large(most)
    try:
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError(
            "a file of this name has arrived already; drop all of them again"
        ) from None
    try:
        with open(opened, "wb") as file:
            left = most
            async for block in request.stream():
                left -= len(block)
                if left < 0:
                    raise _too_large(most)
                file.write(block)
    except BaseException as error:
        with suppress(FileNotFoundError):
            path.unlink()
        raise _said(error) from None


def _too_large(most: int) -> TooLarge:
    size = f"{most >> 30} GiB" if most >= 1 << 30 else f"{most:,} bytes"
    return TooLarge(
        f"the file is larger than {size}, the most that can be dropped into the page; give its "
        "path on this machine instead"
    )


def _said(error: BaseException) -> BaseException:
    """The error in words, where there are some."""
    if isinstance(error, ClientDisconnect):
        return InputError("the file did not arrive whole; drop it again")
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return InputError("there is no room for the file in the workspace; free some space")
    return error
