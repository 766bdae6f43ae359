"""Derivatives in the vocabulary of the library: functions with rules of their own, and derivatives of functions.

A module of its own, since functions that need none of it are loaded by every program.
"""

from numhlo.tracer.differentiation.table import Dual, add_tangents, instantiate, is_differentiable, transpose_body
from numhlo.tracer.transformations.closures import closure_convert
from numhlo.tracer.transformations.custom_backward import custom_vjp
from numhlo.tracer.transformations.custom_forward import custom_jvp
from numhlo.tracer.transformations.differentiating import jvp, stop_gradient, value_and_grad, vjp
from numhlo.tracer.transformations.staging import Staged, stage_leaves

__all__ = [
    "Dual",
    "Staged",
    "add_tangents",
    "closure_convert",
    "custom_jvp",
    "custom_vjp",
    "instantiate",
    "is_differentiable",
    "jvp",
    "stage_leaves",
    "stop_gradient",
    "transpose_body",
    "value_and_grad",
    "vjp",
]
