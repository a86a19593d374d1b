"""From a chosen release to files: the summary of a run, its pages, the bundle and the check.

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
