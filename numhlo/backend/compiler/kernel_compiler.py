"""One kernel's source to object code: the kernel IR and its direct lowering, one run of LLVM's optimizer.

Where the kernel IR has no form for something, Numba's front end lowers the kernel, with the passes that it needs.
Runs in a compiler process. Nothing is loaded here: the object code goes back to the process that asked, as bytes. The
symbol is the kernel's name, its type ``i64 (i64, i64, i64, i64, i64)``; a kernel that returns nothing returns 0.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import compiler, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from numhlo.backend.compiler.interleaving import evaluates_polynomials
from numhlo.backend.compiler.intrinsics.vector_math import register_jitable
from numhlo.backend.compiler.levels import HIGHEST
from numhlo.backend.compiler.lowering import lower as lower_directly
from numhlo.backend.compiler.lowering import numba_target
from numhlo.backend.compiler.mask_moves import may_lack_masks, with_compared_masks
from numhlo.backend.compiler.numba_registries import load_all
from numhlo.backend.compiler.pipelines import KernelPipeline
from numhlo.backend.front_ends import DIRECT, front_end
from numhlo.backend.kernels import ir as kernel_ir
from numhlo.backend.kernels.read import read_kernel
from numhlo.backend.kernels.reading import UnreadableError
from numhlo.backend.kernels.transform.pipeline import transform
from numhlo.backend.primitives.arithmetic import overtake
from numhlo.backend.primitives.lanes import Lanes, ProductLanes
from numhlo.backend.primitives.search import FirstExtreme
from numhlo.backend.target import processor
from numhlo.lowering.ir.records import record

WORD = ir.IntType(64)
ARGUMENTS = (types.int64,) * 5


@record(frozen=True)
class Target:
    """What code is generated for: the processor that `processor` names."""

    machine: Any
    triple: str
    features: str


@lru_cache
def host_target(widest: bool = False, level: int = HIGHEST) -> Target:
    """Return the target machine of the processor, for object code that llvmlite's loader accepts.

    Parameters
    ----------
    widest : bool, optional
        Use vectors of 512 bits also where LLVM thinks that half of them suit the processor better. Polynomials take
        three quarters of the time so; code that does little else than load and store takes a tenth more.
    level : int, optional
        How much machine code is optimized.
    """
    triple = llvm.get_process_triple()
    name, features = processor()
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=name,
        features=f"{features},-prefer-256-bit" if widest and triple.startswith("x86_64") else features,
        opt=level,
        reloc="static" if triple.startswith("x86_64") else "default",
        codemodel="jitdefault",
        jit=True,
    )
    return Target(machine, triple, features)


def function_of_source(name: str, source: str) -> Callable[..., Any]:
    """Run kernel source as a module and return its function, with the source known to tracebacks and debuggers."""
    filename = f"<numhlo kernel {name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"__name__": f"numhlo_kernel_{name}"}
    exec(compile(source, filename, "exec"), namespace)  # noqa: S102 - our own source
    register_jitable(value for value in list(namespace.values()) if callable(value))
    function = namespace[name]
    assert callable(function)
    return function


def _flags() -> compiler.Flags:
    flags = compiler.Flags()
    flags.no_compile = True
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    flags.enable_looplift = False
    flags.enable_pyobject = False
    flags.no_rewrites = True
    flags.error_model = "numpy"
    flags.nrt = False
    return flags


@record(frozen=True)
class Compiled:
    """Object code, and how it was made.

    Attributes
    ----------
    code : bytes
    fallback : str
        Why Numba's front end lowered the kernel, where direct lowering was asked for; else an empty string.
    """

    code: bytes
    fallback: str = ""


def compile_source(name: str, source: str, level: int = HIGHEST, through: str = "") -> bytes:
    """Return the object code of the kernel ``name`` that ``source`` defines: `compile_kernel` without the report."""
    return compile_kernel(name, source, level, through).code


@global_compiler_lock
def compile_kernel(name: str, source: str, level: int = HIGHEST, through: str = "") -> Compiled:
    """Return the object code of the kernel ``name`` that ``source`` defines, and how it was made.

    Parameters
    ----------
    name, source : str
    level : int, optional
        How much LLVM optimizes, from 0 to `HIGHEST`. Below that it does not vectorize loops.
    through : str, optional
        The front end; by default this process's, which `numhlo.backend.front_ends` chooses.

    Raises
    ------
    Exception
        Whatever Numba or LLVM say about source that they can't compile.
    """
    lower, callees, fallback = _lowering_of(name, source, through or front_end())
    lanes, polynomials = _reduces_lanes(callees), evaluates_polynomials(callees)
    widest, interleaves = lanes or polynomials or _searches_columns(callees), polynomials or not lanes
    module = lower()
    target = host_target(widest=widest, level=level)  # Numba has made LLVM ready by now
    _optimize(module, target, interleaves=interleaves, level=level)
    code = bytes(target.machine.emit_object(module))
    if may_lack_masks(code, target.features):
        module = lower()  # emitting code has changed the first one
        _optimize(module, target, interleaves=interleaves, level=level)
        module = llvm.parse_assembly(with_compared_masks(str(module)))
        code = bytes(target.machine.emit_object(module))
    return Compiled(code, fallback)


def _lowering_of(name: str, source: str, through: str) -> tuple[Callable[[], llvm.ModuleRef], list[Any], str]:
    """Return what gives a new linked module of a kernel, what the kernel calls, and why it was not lowered directly."""
    fallback = ""
    if through == DIRECT:
        try:
            kernel = read_to_lower(name, source)
            first = [_linked_library(lower_directly(kernel, numba_target()), name)]
        except UnreadableError as error:
            fallback = str(error)
        else:

            def lower() -> llvm.ModuleRef:
                return first.pop() if first else _linked_library(lower_directly(kernel, numba_target()), name)

            return lower, kernel.callees, ""
    load_all()
    function = function_of_source(name, source)
    return lambda: _linked_module(_compiled(function), name), list(function.__globals__.values()), fallback


def read_to_lower(name: str, source: str) -> kernel_ir.Module:
    """Return the IR of a kernel's text as it is lowered: after the transformations.

    Raises
    ------
    UnreadableError
        If the text holds something that the IR has no form for.
    """
    module = read_kernel(name, source, numba_target())
    transform(module)
    return module


def _reduces_lanes(callees: Iterable[Any]) -> bool:
    """Return whether a kernel loads, as vectors, what its loops may have stored just before.

    A load waits where it spans several stores: those must be vectors of the same width, also for a few elements.
    Interleaved loops, which take several vectors at a time, leave fewer elements than that to a scalar loop.
    """
    return any(isinstance(callee, FirstExtreme | Lanes | ProductLanes) for callee in callees)


def _searches_columns(callees: Iterable[Any]) -> bool:
    """Return whether a kernel is a search across columns, which masks keep busier than memory."""
    return any(callee is overtake for callee in callees)


def _compiled(function: Callable[..., Any]) -> Any:
    context, pipeline = cpu_target.typing_context, KernelPipeline
    return compiler.compile_extra(
        context, cpu_target.target_context, function, ARGUMENTS, None, _flags(), {}, pipeline_class=pipeline
    )


def _linked_module(result: Any, name: str) -> llvm.ModuleRef:
    """Return one LLVM module of what Numba's front end made of a kernel, with the kernel's symbol."""
    module = llvm.parse_assembly(str(_entry_point(result, name)))
    _link(module, result.library, name)
    assert module.get_function(result.fndesc.llvm_func_name) is not None
    return module


def _linked_library(library: Any, name: str) -> llvm.ModuleRef:
    """Return one LLVM module of a library whose code has the kernel's symbol, with everything that it calls."""
    module = llvm.parse_assembly("")
    _link(module, library, name)
    return module


def _link(module: llvm.ModuleRef, library: Any, name: str) -> None:
    """Add the code of a library and everything that it calls to a module, all but the kernel for the module alone."""
    module.link_in(library._final_module)
    for used in dict.fromkeys(library._linking_libraries):
        module.link_in(used._get_module_for_linking(), preserve=True)
    for function in module.functions:
        if not function.is_declaration and function.name != name:
            function.linkage = "internal"


def _entry_point(result: Any, name: str) -> ir.Module:
    """Return a module with the kernel's symbol, which calls the function under Numba's calling convention."""
    context = cpu_target.target_context
    module = context.codegen()._create_empty_module(name)
    entry = ir.Function(module, ir.FunctionType(WORD, [WORD] * 5), name)
    builder = ir.IRBuilder(entry.append_basic_block("entry"))
    callee = context.declare_function(module, result.fndesc)
    callee.attributes.add("alwaysinline")
    restype = result.signature.return_type
    _, value = context.call_conv.call_function(builder, callee, restype, result.signature.args, entry.args)
    builder.ret(value if isinstance(restype, types.Integer) else WORD(0))
    return module


def _optimize(module: llvm.ModuleRef, target: Target, interleaves: bool = True, level: int = HIGHEST) -> None:
    module.triple = target.triple
    module.data_layout = str(target.machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = level == HIGHEST
    options.loop_interleaving = interleaves and level == HIGHEST
    builder = llvm.create_pass_builder(target.machine, options)
    builder.getModulePassManager().run(module, builder)
