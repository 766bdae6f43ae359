"""numhlo: NumPy programs, traced to StableHLO and run on kernels that Numba compiles.

This is the public face. Its names are loaded when they are first used, so `import numhlo` costs little more than
`import numpy`, and each room can be imported without the others.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numhlo import (
        batch,
        compat,
        debug,
        flatten_util,
        lax,
        nn,
        numpy,
        ops,
        random,
        scipy,
        stablehlo,
        tree,
        tree_util,
    )
    from numhlo.backend.runtime.pool import threads
    from numhlo.compilation.jit import block_until_ready, disable_jit, eval_shape, jit
    from numhlo.exporting import Exported, export, load
    from numhlo.switches import debugging
    from numhlo.tracer.arguments import ShapeDtypeStruct
    from numhlo.tracer.array import Array
    from numhlo.tracer.callbacks import io_callback, pure_callback
    from numhlo.tracer.checkpointing import checkpoint, checkpoint_policies, remat
    from numhlo.tracer.closures import closure_convert
    from numhlo.tracer.custom_backward import custom_gradient, custom_vjp
    from numhlo.tracer.custom_forward import custom_jvp
    from numhlo.tracer.differentiating import (
        grad,
        hessian,
        jacfwd,
        jacobian,
        jacrev,
        jvp,
        linearize,
        value_and_grad,
        vjp,
    )
    from numhlo.tracer.transposing import fwd_and_bwd, linear_transpose
    from numhlo.tracer.user_kernels import kernel
    from numhlo.tracer.vectorizing import vmap

__version__ = "0.1.0"

_HOMES = {
    "Array": "numhlo.tracer.array",
    "Exported": "numhlo.exporting",
    "ShapeDtypeStruct": "numhlo.tracer.arguments",
    "block_until_ready": "numhlo.compilation.jit",
    "checkpoint": "numhlo.tracer.checkpointing",
    "checkpoint_policies": "numhlo.tracer.checkpointing",
    "closure_convert": "numhlo.tracer.closures",
    "custom_gradient": "numhlo.tracer.custom_backward",
    "custom_jvp": "numhlo.tracer.custom_forward",
    "custom_vjp": "numhlo.tracer.custom_backward",
    "debugging": "numhlo.switches",
    "disable_jit": "numhlo.compilation.jit",
    "eval_shape": "numhlo.compilation.jit",
    "export": "numhlo.exporting",
    "fwd_and_bwd": "numhlo.tracer.transposing",
    "grad": "numhlo.tracer.differentiating",
    "hessian": "numhlo.tracer.differentiating",
    "io_callback": "numhlo.tracer.callbacks",
    "jacfwd": "numhlo.tracer.differentiating",
    "jacobian": "numhlo.tracer.differentiating",
    "jacrev": "numhlo.tracer.differentiating",
    "jit": "numhlo.compilation.jit",
    "jvp": "numhlo.tracer.differentiating",
    "kernel": "numhlo.tracer.user_kernels",
    "linear_transpose": "numhlo.tracer.transposing",
    "linearize": "numhlo.tracer.differentiating",
    "load": "numhlo.exporting",
    "pure_callback": "numhlo.tracer.callbacks",
    "remat": "numhlo.tracer.checkpointing",
    "threads": "numhlo.backend.runtime.pool",
    "value_and_grad": "numhlo.tracer.differentiating",
    "vjp": "numhlo.tracer.differentiating",
    "vmap": "numhlo.tracer.vectorizing",
}
"""The module that each public name is loaded from."""

_MODULES = (
    "batch",
    "compat",
    "debug",
    "flatten_util",
    "lax",
    "nn",
    "numpy",
    "ops",
    "random",
    "scipy",
    "stablehlo",
    "tree",
    "tree_util",
)
"""Public modules."""

_ABSENT = {
    **dict.fromkeys(
        ["pmap", "shard_map", "make_mesh", "sharding"], "use vmap: there is one machine, with threads in kernels"
    ),
    "enable_x64": "dtypes are 64 bits by default; ask for float32 by dtype=",
}
"""JAX's names that mean nothing here, and what to do instead."""

__all__ = [
    "Array",
    "Exported",
    "ShapeDtypeStruct",
    "batch",
    "block_until_ready",
    "checkpoint",
    "checkpoint_policies",
    "closure_convert",
    "compat",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "debug",
    "debugging",
    "disable_jit",
    "eval_shape",
    "export",
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
    "nn",
    "numpy",
    "ops",
    "pure_callback",
    "random",
    "remat",
    "scipy",
    "stablehlo",
    "threads",
    "tree",
    "tree_util",
    "value_and_grad",
    "vjp",
    "vmap",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"numhlo.{name}")
    if name not in _HOMES:
        advice = f"; {_ABSENT[name]}" if name in _ABSENT else ""
        raise AttributeError(f"module 'numhlo' has no attribute {name!r}{advice}", name=name)
    import_module("numhlo.numpy")  # gives traced arrays NumPy's methods
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
