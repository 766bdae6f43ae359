"""`numhlo.compat.jax`: JAX's names with JAX's rules for arrays, on numhlo underneath.

``import numhlo.compat.jax as jax`` gives `jax.jit`, `jax.grad`, `jax.vmap`, `jax.numpy`, `jax.lax`, `jax.nn` and so
on. Arrays never change: ``y += 1`` binds the name again, assignment to elements is refused in favour of
``x.at[index].set(value)``, and nothing is written back to the caller. Dtypes stay NumPy's: 64 bits unless asked for
less, so there is no ``jax_enable_x64`` to switch.
"""

from numhlo.compat.jax import debug, experimental, flatten_util, lax, nn, numpy, ops, random, scipy, tree, tree_util
from numhlo.compat.jax.arrays import Array
from numhlo.compat.jax.callbacks import pure_callback
from numhlo.compat.jax.configuration import config
from numhlo.compat.jax.custom_rules import custom_gradient, custom_jvp, custom_vjp
from numhlo.compat.jax.devices import block_until_ready, default_backend, device_count, device_get, device_put, devices
from numhlo.compat.jax.transformations import (
    checkpoint,
    closure_convert,
    disable_jit,
    eval_shape,
    grad,
    hessian,
    jacfwd,
    jacobian,
    jacrev,
    jit,
    jvp,
    linear_transpose,
    linearize,
    remat,
    value_and_grad,
    vjp,
    vmap,
)
from numhlo.tracer.arguments import ShapeDtypeStruct
from numhlo.tracer.checkpointing import checkpoint_policies

__all__ = [
    "Array",
    "ShapeDtypeStruct",
    "block_until_ready",
    "checkpoint",
    "checkpoint_policies",
    "closure_convert",
    "config",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "debug",
    "default_backend",
    "device_count",
    "device_get",
    "device_put",
    "devices",
    "disable_jit",
    "eval_shape",
    "experimental",
    "flatten_util",
    "grad",
    "hessian",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "lax",
    "linear_transpose",
    "linearize",
    "nn",
    "numpy",
    "ops",
    "pure_callback",
    "random",
    "remat",
    "scipy",
    "tree",
    "tree_util",
    "value_and_grad",
    "vjp",
    "vmap",
]
