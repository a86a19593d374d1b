"""One reader under libFuzzer: `python -m fuzz.guided NAME FOLDER SECONDS TIMES`; needs atheris."""

from __future__ import annotations

import sys
from pathlib import Path


class Found(Exception):
    """What a reader did wrong; libFuzzer keeps the bytes."""


def main(name: str, place: str, seconds: str, times: str) -> None:
    import atheris

    with atheris.instrument_imports(include=["tamis.read", "tamis.rules", "tamis.binary"]):
        import tamis.binary.records
        import tamis.read.sparse
        import tamis.rules.ruleset  # noqa: F401
    from fuzz.damaged import wrong
    from fuzz.doors import DOORS

    door, folder = DOORS[name], Path(place)
    corpus = folder / "corpus"
    corpus.mkdir()
    (corpus / "intact").write_bytes(door.intact())

    def try_one(data: bytes) -> None:
        if found := wrong(door, data, folder):
            raise Found(f"found: {found}")

    limits = [f"-max_total_time={seconds}", f"-runs={times}", "-rss_limit_mb=4096"]
    options = [
        *limits,
        "-max_len=4096",
        "-verbosity=0",
        f"-artifact_prefix={folder}/",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], *options, str(corpus)], try_one)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
