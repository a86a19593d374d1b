"""How kernels are compiled: so that a first use waits as short as can be.

Python may call the `outer` kernels only: the `inner` ones are there for those, and to Python they
are not callable. None makes or keeps an array, so none counts references (`_nrt`): that takes time
to compile and, in short loops, most of the time to run. The cache on disk holds the outer kernels,
and with them the inner ones that they call.

Kernels are plain: numbers, arrays, loops, each variable of one type throughout, no closures. So
they need a third of Numba's passes. And an inner kernel is compiled as part of each outer one that
calls it, so it is optimised and turned into machine code there and only there. Together that saves
a third of the time. Some of what is used here is not documented by Numba, so its versions are
bounded in `pyproject.toml`.
"""

from __future__ import annotations

import ctypes
import gc
from typing import Any

from numba import njit
from numba._dynfunc import make_function
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, Flags
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import (
    AnnotateTypes,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
)
from numba.core.untyped_passes import FixupArgs, IRProcessing, TranslateByteCode

PASSES = (
    TranslateByteCode,
    FixupArgs,
    IRProcessing,
    NopythonTypeInference,
    IRLegalization,
    AnnotateTypes,
    NativeLowering,
    NoPythonBackend,
)

# What Python runs instead of an inner kernel: a try to call what is no function, a TypeError.
NOT_CALLABLE = ctypes.cast(ctypes.pythonapi.PyObject_CallNoArgs, ctypes.c_void_p).value


class _Flags(Flags):
    """Options that are compared by what was set: Numba asks thousands of times."""

    __slots__ = ()

    def __hash__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Flags) and bool(self._values == other._values)


class _Whole(JITCodeLibrary):
    """Code that is optimised once, when all its parts are together."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        passes, settings = self._codegen._module_pass_manager()
        passes.run(self._final_module, settings)


class _Part(_Whole):
    """Code that is only ever linked into other code."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


class _Outer(CompilerBase):
    """Compiles with the passes that plain kernels need."""

    library: type[_Whole] = _Whole

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.state.flags = _Flags(self.state.flags)
        self.state.library = self.library(self.state.targetctx.codegen(), "kernel")
        self.state.library.enable_object_caching()

    def define_pipelines(self) -> list[Any]:
        passes = PassManager("plain kernel")
        for step in PASSES:
            passes.add_pass(step, step.__name__)
        passes.finalize()
        return [passes]

    def compile_extra(self, func: Any) -> Any:
        """Without garbage collection, which would take a tenth of the time."""
        pause = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(func)
        finally:
            if pause:
                gc.enable()


class _Inner(_Outer):
    """Compiles up to what an outer kernel takes in."""

    library = _Part

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.state.flags.no_compile = True

    def compile_extra(self, func: Any) -> Any:
        """With an object that outer kernels know it by, and no machine code behind it."""
        made = super().compile_extra(func)
        module, parts = made.fndesc.lookup_module(), (made.library,)
        entry = make_function(module, func.__name__, "", NOT_CALLABLE, made.environment, parts)
        made.target_context.insert_user_function(entry, made.fndesc, [made.library])
        return made._replace(entry_point=entry)


_options: dict[str, Any] = {
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "no_rewrites": True,
    "_nrt": False,
}
outer: Any = njit(**_options | {"cache": True, "pipeline_class": _Outer})
inner: Any = njit(**_options | {"no_cpython_wrapper": True, "pipeline_class": _Inner})
