"""Numba's passes that our code needs, in two pipelines: kernels, and functions that kernels have linked into them.

Neither is ever called from Python or loaded here, so nothing makes wrappers, finishes machine code, or looks for what
only programs of users have: closures, generators, branches that literal arguments decide, loops to lift.
"""

from __future__ import annotations

from typing import Any

from numba.core import compiler
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import (
    AnnotateTypes,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import FixupArgs, IRProcessing, ReconstructSSA, TranslateByteCode

from numhlo.backend.compiler.interleaving import gains_by_interleaving, interleave
from numhlo.lowering.ir.records import record


@record(frozen=True, eq=False)
class LinkedFunction:
    """Stands in Numba's tables for a function that has no address: it is only ever linked into others."""

    name: str


class KernelLibrary(CPUCodeLibrary):
    """The code of a kernel, before what it calls is linked in: all of it is optimized once, then."""

    interleaves = False

    def add_ir_module(self, module: Any) -> None:
        """Take code, and let its loop take several vectors at a time where that was asked for."""
        if self.interleaves:
            interleave(module)
        super().add_ir_module(module)

    def add_llvm_module(self, ll_module: Any) -> None:
        """Take the code as it is, where Numba would optimize each function by itself first."""
        self._final_module.link_in(ll_module)


class LinkedLibrary(CPUCodeLibrary):
    """The code of a function that is only ever linked into kernels.

    Functions are optimized by themselves, as several kernels may link one. Numba would also optimize what each function
    links, twice, and make machine code of it.
    """

    def finalize(self) -> None:
        """Link what the function calls, for those that link the function."""
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


LOWERED: dict[tuple[Any, tuple[Any, ...]], tuple[Any, LinkedLibrary]] = {}
"""By function and types of arguments: the descriptor and the library of each function that has been lowered."""


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(NativeLowering):
    """Numba's lowering of a kernel, for a library of its own kind."""

    _name = "kernel_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower the kernel."""
        state.library = KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.interleaves = gains_by_interleaving(state.func_id.func.__globals__.values())
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class LinkedLowering(NativeLowering):
    """Numba's lowering of a function that others may call, without machine code of its own."""

    _name = "linked_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower the function, and tell the target where its code is."""
        state.flags.no_compile = True
        state.flags.no_cfunc_wrapper = True
        state.targetctx = state.targetctx.subtarget(enable_nrt=False)  # else Numba's runtime is linked to everything
        state.library = LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        super().run_pass(state)
        lowered = state["cr"]
        entry = LinkedFunction(lowered.fndesc.qualname).__dir__  # the tables take nothing but functions written in C
        state.targetctx.insert_user_function(entry, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=entry)
        LOWERED[state.func_id.func, tuple(state.args)] = lowered.fndesc, state.library
        return True


FRONT = (
    (TranslateByteCode, "analyze bytecode"),
    (FixupArgs, "fix up arguments"),
    (IRProcessing, "process IR"),
    (ReconstructSSA, "static single assignment"),
    (NopythonTypeInference, "infer types"),
    (PreLowerStripPhis, "remove phis"),
    (IRLegalization, "legalize"),
    (AnnotateTypes, "annotate types"),
)
KERNEL = (*FRONT, (KernelLowering, "lower to LLVM"), (NoPythonBackend, "hand over"))
FUNCTION = (*FRONT, (LinkedLowering, "lower to LLVM"), (NoPythonBackend, "hand over"))


def _manager(name: str, passes: tuple[tuple[Any, str], ...]) -> list[PassManager]:
    manager = PassManager(name)
    for stage, label in passes:
        manager.add_pass(stage, label)
    manager.finalize()
    return [manager]


class KernelPipeline(compiler.CompilerBase):
    """From a kernel to its LLVM module."""

    def define_pipelines(self) -> list[PassManager]:
        """Return the one pipeline."""
        return _manager("kernel", KERNEL)


class FunctionPipeline(compiler.CompilerBase):
    """From a function that kernels call to the library that they link."""

    def define_pipelines(self) -> list[PassManager]:
        """Return the one pipeline."""
        return _manager("function", FUNCTION)
