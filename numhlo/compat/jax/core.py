"""`jax.core`: traced arrays and their types; JAX's equations are not here, programs are StableHLO."""

from __future__ import annotations

from numhlo.library.transformations.compile_time_evaluation import ensure_compile_time_eval as ensure_compile_time_eval
from numhlo.library.unsupported_names import raise_absent as _raise_absent
from numhlo.tracer.core.arguments import ShapeDtypeStruct as ShapedArray
from numhlo.tracer.core.arguments import typeof as get_aval
from numhlo.tracer.core.trace import Trace as Trace
from numhlo.tracer.core.trace import Tracer as Tracer

__all__ = ["ShapedArray", "Trace", "Tracer", "ensure_compile_time_eval", "get_aval"]

_EQUATIONS = "programs are StableHLO: see jit(f).trace(...).module, and numhlo.stablehlo, which reads and runs them"
_ADVICE = dict.fromkeys(
    ["AbstractValue", "Atom", "ClosedJaxpr", "Jaxpr", "JaxprEqn", "Literal", "ParamDict", "Primitive", "Value", "Var",
     "eval_context", "eval_jaxpr", "jaxpr_as_fun", "max_dim", "min_dim"],
    _EQUATIONS,
)  # fmt: skip


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, _ADVICE)
