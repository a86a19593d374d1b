"""From a chosen release to files: the summary of a run, its pages, the bundle and the check.

::

    bundle          `publish`: the folder to share, and the part that the holder keeps
    folder          where it may be written, and what it may replace
    layout          what it contains, by name
    manifest        `manifest.json`: what was released and what is promised
    sparse_file     released 0/1 rows as sparse files

    people          the order of the rows, and whose they are
    coarse_columns  columns in a coarser form, and how to read them
    left_out        how many were left out
    exposure        who is unique
    secret_groups   groups of people alike: their risk, their secrets
    presence        who of a register is there

    summary         the plain dict that reports are made of; bits_facts and attack_facts are parts
    bits_facts      what is kept and told
    attack_facts    what attackers reach
    summarise       fills it from an outcome, with the next five
    candidates      the releases that were compared
    column_fates    what happened to each column
    kept_told       what the chosen release keeps and tells
    of_hundred      what attackers reach of 100 people
    notes           what a reader must know to read the figures

    report          the dict as a page, from templates/
    story           what it says, and what recipients may see
    look_words      columns that share a reason, and the close look, as lists
    page            what every page needs
    promises        promises and exposure in words
    figures         numbers in words

    verify          a folder read again; it imports nothing of `tamis.risk`
    checks          measures of a written file
    recount         who is unique in it
    labels          whether its cells are those that ladders give
    sparse_reader   its rows
    read_back       the same beside the original, for `tamis retain`

`tamis.publish` is the name of a public function, see `tamis.publish.bundle.publish`, and of this
package: Python puts the package there as soon as one of its modules is imported, so calling the
package is calling the function.
"""

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *args: Any, **options: Any) -> Any:
        from tamis.publish.bundle import publish

        return publish(*args, **options)


sys.modules[__name__].__class__ = _Callable
