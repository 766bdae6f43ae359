"""Derivatives in the vocabulary of the library: functions with rules of their own, and derivatives of functions.

A module of its own, since functions that need none of it are loaded by every program.
"""

from numhlo.tracer.differentiation.activity import Activity
from numhlo.tracer.differentiation.loops import Loop
from numhlo.tracer.differentiation.table import (
    Dual,
    Environment,
    add_tangents,
    instantiate,
    is_differentiable,
    transpose_body,
)
from numhlo.tracer.transformations.auxiliary_results import opened, sealed, sealed_pair
from numhlo.tracer.transformations.checkpointing import Checkpoint
from numhlo.tracer.transformations.derivative_arguments import arrays_like, chosen_places, is_float0, require_inexact
from numhlo.tracer.transformations.differentiating import (
    LinearMap,
    apply_transposed,
    jvp,
    linearize_function,
    stop_gradient,
    value_and_grad,
    vjp,
)
from numhlo.tracer.transformations.residuals import Residuals
from numhlo.tracer.transformations.staging import (
    Staged,
    ends_its_blocks,
    marked,
    stage,
    stage_leaves,
    transformation,
    weak_leaves,
)
from numhlo.tracer.transformations.unwinding import Tape, Unwinding
from numhlo.tracer.transformations.vectorizing import spread_prefix

__all__ = [
    "Activity",
    "Checkpoint",
    "Dual",
    "Environment",
    "LinearMap",
    "Loop",
    "Residuals",
    "Staged",
    "Tape",
    "Unwinding",
    "add_tangents",
    "apply_transposed",
    "arrays_like",
    "chosen_places",
    "ends_its_blocks",
    "instantiate",
    "is_differentiable",
    "is_float0",
    "jvp",
    "linearize_function",
    "marked",
    "opened",
    "require_inexact",
    "sealed",
    "sealed_pair",
    "spread_prefix",
    "stage",
    "stage_leaves",
    "stop_gradient",
    "transformation",
    "transpose_body",
    "value_and_grad",
    "vjp",
    "weak_leaves",
]
