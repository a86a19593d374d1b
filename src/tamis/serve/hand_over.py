"""A draft that was looked at becomes a folder to share; runs in a process of its own.

What is published is what was shown: the draft is copied, byte for byte, and verified again before
the copy gets its name. The configuration file goes beside the folder, not into it.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from tamis.errors import InputError
from tamis.files import written
from tamis.publish.bundle import refuse_existing, written_release
from tamis.publish.verify import verify
from tamis.serve.work import answer_on_stdout


def hand_over(draft: Path, out: Path, config: str, *, force: bool = False) -> dict[str, Any]:
    """Copy a draft to `out` and write how it was made beside it; gives what was checked."""
    beside = out.with_name(f"{out.name}.toml")
    refuse_existing(out, force)
    if beside.exists() and not force:
        raise InputError(f"{beside} already exists; choose another name, or let it be replaced")
    with written_release(out, force=force) as copy:
        shutil.copytree(draft, copy, dirs_exist_ok=True)
        found = verify(copy)
    with written(beside) as file:
        file.write_text(config, encoding="utf-8")
        file.chmod(0o600)
    return {
        "out": str(out),
        "config": str(beside),
        "checks": [check.name for check in found.checks],
        "claims": [*found.claims, *found.alone],
    }


def from_options(options: dict[str, Any]) -> dict[str, Any]:
    """What `tamis serve` asks for."""
    draft, out = Path(options.pop("draft")), Path(options.pop("out"))
    return hand_over(draft, out, **options)


if __name__ == "__main__":
    sys.exit(answer_on_stdout(from_options))
