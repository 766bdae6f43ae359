"""numhlo: NumPy programs, traced to StableHLO and run on kernels that Numba compiles.

This is the public face. Its names are loaded when they are first used, so `import numhlo` costs little more than
`import numpy`, and each room can be imported without the others.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from numhlo.library.unsupported_names import NOT_OF_JAX, raise_absent

if TYPE_CHECKING:
    from numhlo import (
        batch,
        compat,
        debug,
        distributed,
        errors,
        extending,
        flatten_util,
        lax,
        nn,
        numpy,
        ops,
        progress,
        random,
        scipy,
        stablehlo,
        tree,
        tree_util,
    )
    from numhlo.backend.runtime.pool import threads
    from numhlo.compilation.disabling import disable_jit
    from numhlo.compilation.jit import jit
    from numhlo.compilation.leaks import checking_leaks
    from numhlo.compilation.looking import clear_caches, debug_infs, debug_nans, log_compiles
    from numhlo.compilation.shape_evaluation import eval_shape
    from numhlo.exporting import Exported, export, load
    from numhlo.library.custom_calls import custom_call
    from numhlo.library.lax.callbacks import io_callback, pure_callback
    from numhlo.library.lax.checkpointed_loops import checkpointed_scan, checkpointed_while_loop
    from numhlo.library.lax.devices import block_until_ready, device_get, device_put
    from numhlo.library.lax.scopes import named_call, named_scope
    from numhlo.library.transformations.checkpoint_policies import checkpoint_name, checkpoint_policies
    from numhlo.library.transformations.checkpointing import checkpoint, remat
    from numhlo.library.transformations.closures import closure_convert
    from numhlo.library.transformations.compile_time_evaluation import ensure_compile_time_eval
    from numhlo.library.transformations.custom_backward import custom_gradient, custom_vjp
    from numhlo.library.transformations.custom_batching import custom_vmap
    from numhlo.library.transformations.custom_forward import custom_jvp
    from numhlo.library.transformations.jacobians import hessian, jacfwd, jacobian, jacrev
    from numhlo.library.transformations.transposing import fwd_and_bwd, linear_transpose
    from numhlo.library.user_kernels import kernel
    from numhlo.lowering.ops.memory_layouts import Layout
    from numhlo.switches import debugging
    from numhlo.tracer.core.arguments import ShapeDtypeStruct, typeof
    from numhlo.tracer.core.array import Array
    from numhlo.tracer.transformations.differentiating import grad, jvp, linearize, value_and_grad, vjp
    from numhlo.tracer.transformations.vectorizing import vmap

__version__ = "0.1.0"

_HOMES = {
    "Array": "numhlo.tracer.core.array",
    "Exported": "numhlo.exporting",
    "Layout": "numhlo.lowering.ops.memory_layouts",
    "ShapeDtypeStruct": "numhlo.tracer.core.arguments",
    "block_until_ready": "numhlo.library.lax.devices",
    "checking_leaks": "numhlo.compilation.leaks",
    "checkpoint": "numhlo.library.transformations.checkpointing",
    "checkpoint_name": "numhlo.library.transformations.checkpoint_policies",
    "checkpoint_policies": "numhlo.library.transformations.checkpoint_policies",
    "checkpointed_scan": "numhlo.library.lax.checkpointed_loops",
    "checkpointed_while_loop": "numhlo.library.lax.checkpointed_loops",
    "clear_caches": "numhlo.compilation.looking",
    "closure_convert": "numhlo.library.transformations.closures",
    "custom_call": "numhlo.library.custom_calls",
    "custom_gradient": "numhlo.library.transformations.custom_backward",
    "custom_jvp": "numhlo.library.transformations.custom_forward",
    "custom_vjp": "numhlo.library.transformations.custom_backward",
    "custom_vmap": "numhlo.library.transformations.custom_batching",
    "debug_infs": "numhlo.compilation.looking",
    "debug_nans": "numhlo.compilation.looking",
    "debugging": "numhlo.switches",
    "device_get": "numhlo.library.lax.devices",
    "device_put": "numhlo.library.lax.devices",
    "disable_jit": "numhlo.compilation.disabling",
    "ensure_compile_time_eval": "numhlo.library.transformations.compile_time_evaluation",
    "eval_shape": "numhlo.compilation.shape_evaluation",
    "export": "numhlo.exporting",
    "fwd_and_bwd": "numhlo.library.transformations.transposing",
    "grad": "numhlo.tracer.transformations.differentiating",
    "hessian": "numhlo.library.transformations.jacobians",
    "io_callback": "numhlo.library.lax.callbacks",
    "jacfwd": "numhlo.library.transformations.jacobians",
    "jacobian": "numhlo.library.transformations.jacobians",
    "jacrev": "numhlo.library.transformations.jacobians",
    "jit": "numhlo.compilation.jit",
    "jvp": "numhlo.tracer.transformations.differentiating",
    "kernel": "numhlo.library.user_kernels",
    "linear_transpose": "numhlo.library.transformations.transposing",
    "linearize": "numhlo.tracer.transformations.differentiating",
    "load": "numhlo.exporting",
    "log_compiles": "numhlo.compilation.looking",
    "named_call": "numhlo.library.lax.scopes",
    "named_scope": "numhlo.library.lax.scopes",
    "pure_callback": "numhlo.library.lax.callbacks",
    "remat": "numhlo.library.transformations.checkpointing",
    "threads": "numhlo.backend.runtime.pool",
    "typeof": "numhlo.tracer.core.arguments",
    "value_and_grad": "numhlo.tracer.transformations.differentiating",
    "vjp": "numhlo.tracer.transformations.differentiating",
    "vmap": "numhlo.tracer.transformations.vectorizing",
}
"""The module that each public name is loaded from."""

_LIGHT = ("jit",)
"""Names whose modules load what they need when they are first called."""

_SOURCES = {
    **dict.fromkeys(["Exported", "export"], "jax.export.{}"),
    "checkpoint_name": "jax.ad_checkpoint.{}",
    "custom_vmap": "jax.custom_batching.{}",
    "io_callback": "jax.experimental.{}",
}
"""Where names come from that JAX has in a module of its own."""

_OWN = (
    "Array",
    "Layout",
    "checkpointed_scan",
    "checkpointed_while_loop",
    "custom_call",
    "debugging",
    "kernel",
    "load",
    "threads",
)
"""What no other library has, or has under another name."""

_MODULES = (
    "batch",
    "compat",
    "debug",
    "distributed",
    "errors",
    "extending",
    "flatten_util",
    "lax",
    "nn",
    "numpy",
    "ops",
    "progress",
    "random",
    "scipy",
    "stablehlo",
    "tree",
    "tree_util",
)
"""Public modules."""

__all__ = [
    "Array",
    "Exported",
    "Layout",
    "ShapeDtypeStruct",
    "batch",
    "block_until_ready",
    "checking_leaks",
    "checkpoint",
    "checkpoint_name",
    "checkpoint_policies",
    "checkpointed_scan",
    "checkpointed_while_loop",
    "clear_caches",
    "closure_convert",
    "compat",
    "custom_call",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "custom_vmap",
    "debug",
    "debug_infs",
    "debug_nans",
    "debugging",
    "device_get",
    "device_put",
    "disable_jit",
    "distributed",
    "ensure_compile_time_eval",
    "errors",
    "eval_shape",
    "export",
    "extending",
    "flatten_util",
    "fwd_and_bwd",
    "grad",
    "hessian",
    "io_callback",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "kernel",
    "lax",
    "linear_transpose",
    "linearize",
    "load",
    "log_compiles",
    "named_call",
    "named_scope",
    "nn",
    "numpy",
    "ops",
    "progress",
    "pure_callback",
    "random",
    "remat",
    "scipy",
    "stablehlo",
    "threads",
    "tree",
    "tree_util",
    "typeof",
    "value_and_grad",
    "vjp",
    "vmap",
]


if not TYPE_CHECKING:  # a name that is not there is an error for type checkers, too

    def __getattr__(name: str) -> Any:
        if name not in _MODULES and name not in _HOMES:
            raise_absent(__name__, name, NOT_OF_JAX)
        load = import_module("numhlo.compilation.garbage").load
        if name in _MODULES:
            return load(lambda: import_module(f"numhlo.{name}"))
        before = [] if name in _LIGHT else ["numhlo.library.registration"]  # which gives traced arrays their methods
        home = load(lambda: [import_module(module) for module in (*before, _HOMES[name])][-1])
        value = globals()[name] = getattr(home, name)
        if name not in _OWN:
            import_module("numhlo.library.citations").cite(globals(), _SOURCES.get(name, "jax.{}"), [name])
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
