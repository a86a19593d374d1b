"""From a chosen release to files: the summary of a run, its pages, the bundle and the check.

::

    bundle          `publish`: the folder to share, and the part that the holder keeps
    layout          what the folder contains, by name
    manifest        `manifest.json`: what was released and what is promised

    people          the order of the rows, whose they are, how many are left out
    kept_names      names of the released rows, for later releases
    secret_groups   groups of people alike: their risk, their secrets
    presence        which people of a register are in it

    summarise       an analysis with what the written file reaches: what reports are made of

    report          the dict as a page, from templates/, for the holder or for recipients
    report_parts    what it shows that needs words or arithmetic
    page            what every page needs
    promises        promises and exposure in words
    figures         numbers in words

    verify          a folder read again; it imports nothing of `tamis.risk`
    shape           what a manifest may contain, at every depth
    value_shapes    the tests and records of values that this is made of
    contradictions  what its parts say against each other
    form            whether a file is written in the one way that its rows are
    checks          measures of a written file
    check_words     what is checked, in words
    unchecked       what a folder only states, and what was counted, in words
    written_cells   whether its cells are those described, some rows at a time
    labels          whether its cells are those that ladders give
    read_back       the same beside the original, for `tamis retain` and `tamis release --earlier`

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
