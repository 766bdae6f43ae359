"""`jax.lax`: the functions of `numhlo.lax`, on immutable arrays."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any

import numhlo.lax as _wrapped
from numhlo.compat.jax.branching import cond as cond
from numhlo.compat.jax.branching import switch as switch
from numhlo.compat.jax.lax import linalg as linalg
from numhlo.compat.jax.lax_rules import ruled as _ruled
from numhlo.compat.jax.processor_choices import approx_max_k as approx_max_k
from numhlo.compat.jax.processor_choices import approx_min_k as approx_min_k
from numhlo.compat.jax.processor_choices import platform_dependent as platform_dependent
from numhlo.compat.jax.processor_choices import ragged_dot as ragged_dot
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

_HOMES = {
    "lax_shapes": "after_all broadcast_to_rank conv_general_permutations conv_general_shape_tuple conv_shape_tuple "
    "conv_transpose_shape_tuple create_token dce_sink dtype reduce_window_shape_tuple shape_as_value stage",
    "lax_types": "AccuracyMode DotAlgorithm DotAlgorithmPreset RaggedDotDimensionNumbers Tolerance",
    "scaled_products": "ragged_dot_general scaled_dot",
    "special_functions": "igamma_grad_a",
}
_LATE = {name: f"numhlo.compat.jax.{home}:{name}" for home, names in _HOMES.items() for name in names.split()}

__all__, _find, __dir__ = _attributes_of(_wrapped, globals(), _ruled, _LATE)

PrecisionLike = Any
"""What `precision=` takes, for annotations."""

_OF_SHARDING = ("pvary", "with_sharding_constraint")


def __getattr__(name: str) -> Any:
    if name in _OF_SHARDING:
        return getattr(_import_module("numhlo.compat.jax.sharding"), name)
    if name.endswith("_p"):
        return getattr(_import_module("numhlo.compat.jax.extend.core.primitives"), name)
    return _find(name)
