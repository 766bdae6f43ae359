"""`jax.extend.core`: jaxprs and primitives."""

from __future__ import annotations

from numhlo.compat.jax.avals import mapped_aval as mapped_aval
from numhlo.compat.jax.avals import unmapped_aval as unmapped_aval
from numhlo.compat.jax.avals import valid_jaxtype as valid_jaxtype
from numhlo.compat.jax.jaxprs import ClosedJaxpr as ClosedJaxpr
from numhlo.compat.jax.jaxprs import DropVar as DropVar
from numhlo.compat.jax.jaxprs import Jaxpr as Jaxpr
from numhlo.compat.jax.jaxprs import JaxprEqn as JaxprEqn
from numhlo.compat.jax.jaxprs import Literal as Literal
from numhlo.compat.jax.jaxprs import Var as Var
from numhlo.compat.jax.jaxprs import jaxpr_as_fun as jaxpr_as_fun
from numhlo.compat.jax.jaxprs import jaxprs_in_params as jaxprs_in_params
from numhlo.compat.jax.jaxprs import new_jaxpr_eqn as new_jaxpr_eqn
from numhlo.compat.jax.jaxprs import subjaxprs as subjaxprs
from numhlo.compat.jax.late_modules import late as _late
from numhlo.compat.jax.primitives import Primitive as Primitive
from numhlo.compat.jax.trace_states import AbstractToken as AbstractToken
from numhlo.compat.jax.trace_states import Effect as Effect
from numhlo.compat.jax.trace_states import Effects as Effects
from numhlo.compat.jax.trace_states import OpaqueTraceState as OpaqueTraceState
from numhlo.compat.jax.trace_states import TraceTag as TraceTag
from numhlo.compat.jax.trace_states import find_top_trace as find_top_trace
from numhlo.compat.jax.trace_states import get_opaque_trace_state as get_opaque_trace_state
from numhlo.compat.jax.trace_states import no_effects as no_effects
from numhlo.compat.jax.trace_states import primal_dtype_to_tangent_dtype as primal_dtype_to_tangent_dtype
from numhlo.compat.jax.trace_states import set_current_trace as set_current_trace
from numhlo.compat.jax.trace_states import take_current_trace as take_current_trace
from numhlo.compat.jax.trace_states import unsafe_am_i_under_a_jit_DO_NOT_USE as unsafe_am_i_under_a_jit_DO_NOT_USE

__all__ = [
    "AbstractToken", "ClosedJaxpr", "DropVar", "Effect", "Effects", "Jaxpr", "JaxprEqn", "Literal", "OpaqueTraceState",
    "Primitive", "TraceTag", "Var", "find_top_trace", "get_opaque_trace_state", "jaxpr_as_fun", "jaxprs_in_params",
    "mapped_aval", "new_jaxpr_eqn", "no_effects", "primal_dtype_to_tangent_dtype", "set_current_trace", "subjaxprs",
    "take_current_trace", "unmapped_aval", "unsafe_am_i_under_a_jit_DO_NOT_USE", "valid_jaxtype",
]  # fmt: skip

__getattr__, __dir__ = _late(__name__, ["primitives"], own=__all__)
