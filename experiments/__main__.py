"""`uv run python -m experiments [jafer|zhang|fletcher|all] --out DIR [--data DIR]`."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from pathlib import Path

import click
from rich.console import Console
from rich.status import Status

from experiments.data import Data
from experiments.page import write_all
from experiments.paper import Paper
from experiments.store import Store
from experiments.summary import markdown
from tamis.errors import TamisError

PAPERS = ("jafer", "zhang", "fletcher")
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("which", type=click.Choice([*PAPERS, "all"]), default="all")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=BESIDE,
    help="Real datasets [../shared/data beside the checkout].",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Pages and results.")
@click.option("--quick", is_flag=True, help="Only a small part, in seconds.")
def main(which: str, data: Path, out: Path, quick: bool) -> None:
    """Reproduce the papers' tables and figures and compare them with the printed ones.

    Finished pieces are kept in OUT/pieces: a second run continues from there.
    """
    console = Console(stderr=True)
    names = PAPERS if which == "all" else (which,)
    try:
        papers = [_made(name, Data(data), out, quick, console) for name in names]
        write_all(papers, out, quick)
    except TamisError as error:
        sys.exit(f"experiments: {error}")
    print(markdown(papers), end="")
    console.print(f"wrote {out / 'index.html'} and {out / 'results.json'}", highlight=False)


def _made(name: str, data: Data, out: Path, quick: bool, console: Console) -> Paper:
    with console.status(name) as status, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        store = Store(out / "pieces", _Teller(console, status))
        paper: Paper = import_module(f"experiments.{name}").run(data, store, quick)
    return paper


class _Teller:
    """Shows what is being worked on, and how long it took."""

    def __init__(self, console: Console, status: Status) -> None:
        self._console, self._status, self._kept = console, status, 0

    def __call__(self, name: str, seconds: float | None) -> None:
        if seconds is None:
            self._status.update(f"{name} ...")
        elif seconds > 0:
            self._console.print(f"{name}: {seconds:.1f} s", highlight=False)
        else:
            self._kept += 1
            self._status.update(f"{self._kept} pieces kept from an earlier run")


if __name__ == "__main__":
    main()
