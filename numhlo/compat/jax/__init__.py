"""`numhlo.compat.jax`: JAX's names with JAX's rules for arrays, on numhlo underneath.

``import numhlo.compat.jax as jax`` gives `jax.jit`, `jax.grad`, `jax.vmap`, `jax.numpy`, `jax.lax`, `jax.nn` and so
on. Arrays never change: ``y += 1`` binds the name again, assignment to elements is refused in favour of
``x.at[index].set(value)``, and nothing is written back to the caller. Types are JAX's: numbers have 32 bits unless
``jax_enable_x64`` is switched on (`jax.config`, `jax.enable_x64`, ``JAX_ENABLE_X64``), and promote by its lattice.
"""

from importlib import import_module as _import_module
from typing import Any as _Any

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
from numhlo.compat.jax.absent_names import raise_absent as _raise_absent
from numhlo.compat.jax.arrays import Array
from numhlo.compat.jax.avals import get_aval as typeof
from numhlo.compat.jax.callbacks import pure_callback
from numhlo.compat.jax.compile_time import ensure_compile_time_eval
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
from numhlo.compat.jax.precision import (
    default_device,
    default_matmul_precision,
    enable_x64,
    numpy_dtype_promotion,
    numpy_rank_promotion,
    transfer_guard,
)
from numhlo.compat.jax.substitution import install, is_installed, uninstall
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
from numhlo.compat.jax.version import __version__, __version_info__
from numhlo.compilation.leaks import checking_leaks
from numhlo.compilation.leaks import checking_leaks as check_tracer_leaks
from numhlo.compilation.looking import clear_caches, debug_infs, debug_nans, log_compiles
from numhlo.compilation.looking import log_compiles as explain_cache_misses
from numhlo.library.lax.scopes import named_scope
from numhlo.library.transformations.checkpoint_policies import checkpoint_policies
from numhlo.library.unsupported_names import NOT_OF_JAX as _ADVICE
from numhlo.tracer.core.arguments import ShapeDtypeStruct

__all__ = [
    "Array",
    "Device",
    "ShapeDtypeStruct",
    "__version__",
    "__version_info__",
    "ad_checkpoint",
    "block_until_ready",
    "check_tracer_leaks",
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
    "explain_cache_misses",
    "flatten_util",
    "float0",
    "fwd_and_bwd",
    "grad",
    "hessian",
    "image",
    "install",
    "is_installed",
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
    "named_call",
    "named_scope",
    "nn",
    "numpy",
    "numpy_dtype_promotion",
    "numpy_rank_promotion",
    "ops",
    "process_count",
    "process_index",
    "pure_callback",
    "random",
    "remat",
    "scipy",
    "transfer_guard",
    "tree",
    "tree_util",
    "typeof",
    "typing",
    "uninstall",
    "value_and_grad",
    "vjp",
    "vmap",
]


_LATE_MODULES = frozenset(
    {
        "_src",
        "api_util",
        "core",
        "custom_derivatives",
        "dlpack",
        "example_libraries",
        "export",
        "extend",
        "interpreters",
        "lib",
        "monitoring",
        "profiler",
        "ref",
        "sharding",
        "stages",
        "test_util",
        "version",
    }
)
"""Modules that are loaded when they are first used."""

_CONTEXTS = (
    "allow_f16_reductions", "array_garbage_collection_guard", "auto_pcast", "copy_to_host_async", "debug_key_reuse",
    "default_prng_impl", "enable_checks", "enable_custom_prng", "host_count", "host_id", "host_ids",
    "jax2tf_associative_scan_reductions", "legacy_prng_key", "no_execution", "no_tracing", "print_environment_info",
    "process_indices", "remove_size_one_mesh_axis_from_type", "softmax_custom_jvp", "thread_guard",
    "threefry_partitionable", "transfer_guard_device_to_device", "transfer_guard_device_to_host",
    "transfer_guard_host_to_device",
)  # fmt: skip

_LATE = {
    **{name: ("configuration_contexts", name) for name in _CONTEXTS},
    "NamedSharding": ("sharding", "NamedSharding"),
    "P": ("sharding", "PartitionSpec"),
    "Ref": ("ref", "Ref"),
    "Shard": ("processor", "Shard"),
    "empty_ref": ("ref", "empty_ref"),
    "free_ref": ("ref", "free_ref"),
    "freeze": ("ref", "freeze"),
    "make_array_from_callback": ("sharded_arrays", "make_array_from_callback"),
    "make_array_from_process_local_data": ("sharded_arrays", "make_array_from_process_local_data"),
    "make_array_from_single_device_arrays": ("sharded_arrays", "make_array_from_single_device_arrays"),
    "make_jaxpr": ("looking", "make_jaxpr"),
    "make_mesh": ("sharding", "make_mesh"),
    "new_ref": ("ref", "new_ref"),
    "pmap": ("mapping", "pmap"),
    "reshard": ("sharding", "reshard"),
    "set_mesh": ("sharding", "set_mesh"),
    "shard_map": ("mapping", "shard_map"),
}
"""Names that are loaded when they are first used: from which module, and what they are called there."""


def __getattr__(name: str) -> _Any:
    if name in _LATE_MODULES:
        return _import_module(f"{__name__}.{name}")
    if name not in _LATE:
        _raise_absent(__name__, name, _ADVICE)
    home, own = _LATE[name]
    return getattr(_import_module(f"{__name__}.{home}"), own)


def __dir__() -> list[str]:
    return sorted({*__all__, *_LATE_MODULES, *_LATE} - {"_src"})
