"""Say what is being done and how long it will take: a bar on a terminal, else a line at times."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

import click

Tell = Callable[[str, int, int], None]

EVERY = 5.0
"""Seconds between two lines where nobody watches a bar."""


@contextmanager
def paced(wanted: bool = True) -> Iterator[Tell]:
    """Give a function that is told what is being done, how much is done and how much there is."""
    if not wanted:
        yield lambda words, done, total: None
    elif sys.stderr.isatty():
        with _bar() as tell:
            yield tell
    else:
        with _lines() as tell:
            yield tell


@contextmanager
def _bar() -> Iterator[Tell]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from tamis.cli.show import console

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        stage = [0]

        def tell(words: str, done: int, total: int) -> None:
            if total != stage[0]:
                bar.reset(task, total=total)
                stage[0] = total
            bar.update(task, description=words[:60], completed=done, total=total)

        yield tell


class Pace:
    """What was told last, and what it lets one expect.

    >>> pace = Pace(now=lambda: 0.0)
    >>> pace.tell("measuring a", 0, 4)
    >>> pace.now = lambda: 6.0
    >>> pace.tell("measuring b", 2, 4)
    >>> pace.words()
    'measuring b (3 of 4), 6 s so far, about 6 s left in this step'
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.now = now
        self.begun = self.step_begun = now()
        self.doing, self.done, self.total = "", 0, 0

    def tell(self, words: str, done: int, total: int) -> None:
        if done == 0 or total != self.total:
            self.step_begun = self.now()
        self.doing, self.done, self.total = words, done, total

    def words(self) -> str:
        passed = self.now() - self.begun
        text = f"{self.doing} ({self.done + 1} of {self.total}), {passed:.0f} s so far"
        if self.done == 0:
            return text
        left = (self.now() - self.step_begun) / self.done * (self.total - self.done)
        return f"{text}, about {left:.0f} s left in this step"


@contextmanager
def _lines() -> Iterator[Tell]:
    pace, over = Pace(), Event()

    def say() -> None:
        while not over.wait(EVERY):
            if pace.doing:
                click.echo(f"tamis: {pace.words()}", err=True)

    speaker = Thread(target=say, daemon=True)
    speaker.start()
    try:
        yield pace.tell
    finally:
        over.set()
        speaker.join()
