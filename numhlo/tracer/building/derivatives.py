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
from numhlo.tracer.transformations.checkpointing import checkpoint
from numhlo.tracer.transformations.closures import closure_convert
from numhlo.tracer.transformations.custom_backward import custom_vjp
from numhlo.tracer.transformations.custom_forward import custom_jvp
from numhlo.tracer.transformations.derivative_arguments import chosen_places, is_float0, require_inexact
from numhlo.tracer.transformations.differentiating import jvp, stop_gradient, value_and_grad, vjp
from numhlo.tracer.transformations.staging import Staged, ends_its_blocks, stage_leaves, transformation
from numhlo.tracer.transformations.unwinding import Tape, Unwinding

__all__ = [
    "Activity",
    "Dual",
    "Environment",
    "Loop",
    "Staged",
    "Tape",
    "Unwinding",
    "add_tangents",
    "checkpoint",
    "chosen_places",
    "closure_convert",
    "custom_jvp",
    "custom_vjp",
    "ends_its_blocks",
    "instantiate",
    "is_differentiable",
    "is_float0",
    "jvp",
    "opened",
    "require_inexact",
    "sealed",
    "sealed_pair",
    "stage_leaves",
    "stop_gradient",
    "transformation",
    "transpose_body",
    "value_and_grad",
    "vjp",
]
