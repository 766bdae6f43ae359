"""`numhlo.compat.jax`: JAX's names with JAX's rules for arrays, on numhlo underneath.

``import numhlo.compat.jax as jax`` gives `jax.jit`, `jax.grad`, `jax.vmap`, `jax.numpy`, `jax.lax`, `jax.nn` and so
on. Arrays never change: ``y += 1`` binds the name again, assignment to elements is refused in favour of
``x.at[index].set(value)``, and nothing is written back to the caller. Dtypes stay NumPy's: 64 bits unless asked for
less, so there is no ``jax_enable_x64`` to switch.
"""

from numhlo import __version__
from numhlo.compat.jax import (
    ad_checkpoint,
    custom_batching,
    debug,
    dtypes,
    errors,
    experimental,
    flatten_util,
    image,
    lax,
    nn,
    numpy,
    ops,
    random,
    scipy,
    tree,
    tree_util,
    typing,
)
from numhlo.compat.jax.arrays import Array
from numhlo.compat.jax.callbacks import pure_callback
from numhlo.compat.jax.configuration import config
from numhlo.compat.jax.custom_rules import custom_gradient, custom_jvp, custom_vjp
from numhlo.compat.jax.devices import (
    Device,
    block_until_ready,
    default_backend,
    device_count,
    device_get,
    device_put,
    devices,
    effects_barrier,
    local_device_count,
    local_devices,
    process_count,
    process_index,
)
from numhlo.compat.jax.dtypes import float0
from numhlo.compat.jax.looking import make_jaxpr
from numhlo.compat.jax.precision import (
    default_device,
    default_matmul_precision,
    enable_x64,
    numpy_dtype_promotion,
)
from numhlo.compat.jax.transformations import (
    checkpoint,
    closure_convert,
    disable_jit,
    eval_shape,
    fwd_and_bwd,
    grad,
    hessian,
    jacfwd,
    jacobian,
    jacrev,
    jit,
    jvp,
    linear_transpose,
    linearize,
    named_call,
    remat,
    value_and_grad,
    vjp,
    vmap,
)
from numhlo.compilation.leaks import checking_leaks
from numhlo.compilation.looking import clear_caches, debug_infs, debug_nans, log_compiles
from numhlo.tracer.absent import NOT_OF_JAX as _ADVICE
from numhlo.tracer.absent import raise_absent as _raise_absent
from numhlo.tracer.arguments import ShapeDtypeStruct, typeof
from numhlo.tracer.known_now import ensure_compile_time_eval
from numhlo.tracer.scopes import named_scope
from numhlo.tracer.transformations.checkpoint_policies import checkpoint_policies

__all__ = [
    "Array",
    "Device",
    "ShapeDtypeStruct",
    "__version__",
    "ad_checkpoint",
    "block_until_ready",
    "checking_leaks",
    "checkpoint",
    "checkpoint_policies",
    "clear_caches",
    "closure_convert",
    "config",
    "custom_batching",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "debug",
    "debug_infs",
    "debug_nans",
    "default_backend",
    "default_device",
    "default_matmul_precision",
    "device_count",
    "device_get",
    "device_put",
    "devices",
    "disable_jit",
    "dtypes",
    "effects_barrier",
    "enable_x64",
    "ensure_compile_time_eval",
    "errors",
    "eval_shape",
    "experimental",
    "flatten_util",
    "float0",
    "fwd_and_bwd",
    "grad",
    "hessian",
    "image",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "lax",
    "linear_transpose",
    "linearize",
    "local_device_count",
    "local_devices",
    "log_compiles",
    "make_jaxpr",
    "named_call",
    "named_scope",
    "nn",
    "numpy",
    "numpy_dtype_promotion",
    "ops",
    "process_count",
    "process_index",
    "pure_callback",
    "random",
    "remat",
    "scipy",
    "tree",
    "tree_util",
    "typeof",
    "typing",
    "value_and_grad",
    "vjp",
    "vmap",
]


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, _ADVICE)
