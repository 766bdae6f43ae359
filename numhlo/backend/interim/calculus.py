"""Functions of calculus in plain text: by the ops' own `evaluate`, not by the polynomials that kernels use.

Both are accurate to about a unit in the last place, but not to the same bits, and a loop has to give what the
interpreter gives.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from numhlo.backend import vector_math
from numhlo.backend.interim.typed import NotPlainError
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ops import elementwise
from numhlo.lowering.ops.composites import COMPOSITES
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.ops.special import decompose

DEFINITIONS: dict[str, Primitive] = {
    "abs": elementwise.ABS,
    "atan2": elementwise.ATAN2,
    "cbrt": elementwise.CBRT,
    "cos": elementwise.COSINE,
    "exp": elementwise.EXPONENTIAL,
    "expm1": elementwise.EXPONENTIAL_MINUS_ONE,
    "log": elementwise.LOG,
    "log1p": elementwise.LOG_PLUS_ONE,
    "logistic": elementwise.LOGISTIC,
    "pow": elementwise.POWER,
    "rsqrt": elementwise.RSQRT,
    "sin": elementwise.SINE,
    "sqrt": elementwise.SQRT,
    "tan": elementwise.TAN,
    "tanh": elementwise.TANH,
}
"""Functions that are ops; others are composites."""

UFUNCS: dict[str, np.ufunc] = {
    "atan2": np.arctan2,
    "cbrt": np.cbrt,
    "cos": np.cos,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "pow": np.power,
    "sin": np.sin,
    "tan": np.tan,
    "tanh": np.tanh,
}
"""What `evaluate` does with real numbers where that is one ufunc: called directly it takes a tenth of the time."""

DTYPES: dict[str, np.dtype] = {
    "f32": np.dtype("f4"),
    "f64": np.dtype("f8"),
    "c64": np.dtype("c8"),
    "c128": np.dtype("c16"),
}
PARTS = {"c64": "f32", "c128": "f64"}


@lru_cache(maxsize=256)
def calculus_word(word: str) -> tuple[Callable[..., Any], str]:
    """Return a function on registers for a word such as ``exp_f64``, and the type of its result.

    Raises
    ------
    NotPlainError
        If vector math has no such word.

    Examples
    --------
    >>> calculus_word("exp_f64")[0](0.0)
    1.0
    """
    name, _, type = word.rpartition("_")
    if type not in DTYPES or not hasattr(vector_math, word):
        raise NotPlainError(f"no plain meaning of {word}")
    result = PARTS.get(type, type) if name == "abs" else type
    ufunc = UFUNCS.get(name)
    if ufunc is None or type in PARTS:
        return _by_evaluate(name, type, result), result
    if type == "f32":
        return ufunc, result
    return lambda *operands: float(ufunc(*operands)), result


def _by_evaluate(name: str, type: str, result: str) -> Callable[..., Any]:
    dtype = DTYPES[type]
    convert: Callable[[Any], Any] = {"f64": float, "c128": complex}.get(result, lambda value: value)
    composite = COMPOSITES.get(f"numhlo.{name}")
    if name in DEFINITIONS:
        evaluate = DEFINITIONS[name].evaluate
    elif composite is not None:
        evaluate = composite.evaluate
    else:
        raise NotPlainError(f"{name} is no op")

    def decomposition(x: np.ndarray) -> list[np.ndarray]:
        return interpret(decompose(f"numhlo.{name}", TensorType((), dtype)), [x])

    def call(*operands: Any) -> Any:
        arrays = [np.asarray(x, dtype) for x in operands]
        return convert(evaluate(arrays, {"name": f"numhlo.{name}", "decomposition": decomposition}, ())[0][()])

    return call
