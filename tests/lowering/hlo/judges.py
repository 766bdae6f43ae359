"""XLA's own reader, printer and verifier of HLO text, and XLA on the CPU, from jaxlib; and what tests ask of both.

Nothing from the judges' half of this file imports numhlo.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax._src.interpreters import mlir as jax_mlir
from jaxlib import _hlo, _jax
from jaxlib.mlir import ir

from numhlo import stablehlo
from tests.oracle import run_on_xla


def read_by_xla(text: str) -> Any:
    """Return the module that XLA reads; it raises what it finds wrong."""
    return _hlo.hlo_module_from_text(text)


def printed_by_xla(module: Any, **options: bool) -> str:
    """Return a module of XLA's as XLA prints it, with all constants."""
    how = _hlo.HloPrintOptions()
    how.print_large_constants = True
    for name, value in options.items():
        setattr(how, name, value)
    text: str = module.to_string(how)
    return text


FORMS: dict[str, dict[str, bool]] = {
    "long": {},
    "typed operands": {"print_operand_shape": True},
    "without %": {"print_percent": False},
    "without layouts": {"include_layout_in_shapes": False},
    "without metadata": {"print_metadata": False},
}
"""Ways in which XLA prints a module."""


def stablehlo_of(text: str) -> str:
    """Return HLO text as the StableHLO text that XLA makes of it; XLA verifies it on the way."""
    computation = _hlo.XlaComputation(read_by_xla(text).as_serialized_hlo_module_proto())
    return str(_jax.mlir.xla_computation_to_mlir_module(computation))


def hlo_of(text: str) -> Any:
    """Return the HLO module that XLA makes of StableHLO text."""
    with jax_mlir.make_ir_context():
        bytecode = jax_mlir.module_to_bytecode(ir.Module.parse(text))
    computation = _jax.mlir.mlir_module_to_xla_computation(bytecode, use_tuple_args=False, return_tuple=False)
    return computation.get_hlo_module()


def run_hlo_on_xla(text: str, arrays: Sequence[Any]) -> list[np.ndarray]:
    """Return the results of HLO text, compiled and run by XLA."""
    return run_on_xla(stablehlo_of(text), [np.asarray(a) for a in arrays], strict=True)


def same_bits(found: Sequence[Any], expected: Sequence[Any]) -> bool:
    """Return whether arrays have the same types and bits; NaNs' payloads too."""
    pairs = [(np.asarray(x), np.asarray(y)) for x, y in zip(found, expected, strict=True)]
    return all(x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes() for x, y in pairs)


def assert_close(found: Sequence[Any], expected: Sequence[Any], bound: float) -> None:
    """Require equal types and shapes, equal integers, and real numbers within a bound."""
    assert len(found) == len(expected)
    for x, y in zip(map(np.asarray, found), map(np.asarray, expected), strict=True):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        if y.dtype.kind in "biu":
            np.testing.assert_array_equal(x, y)
            continue
        wide = np.complex128 if y.dtype.kind == "c" else np.float64
        np.testing.assert_allclose(x.astype(wide), y.astype(wide), bound, bound)


def check(text: str, *arrays: Any, bound: float = 1e-5) -> stablehlo.Module:
    """Read a text, run it, write it; XLA's results are the same, and what is written means the same to XLA.

    Returns the module for more questions.
    """
    expected = run_hlo_on_xla(text, arrays)
    for options in FORMS.values():
        stablehlo.from_hlo(printed_by_xla(read_by_xla(text), **options)).verify()
    module = stablehlo.from_hlo(text)
    assert_close(module.run("main", *arrays), expected, bound)
    written = module.as_hlo_text()
    assert same_bits(run_hlo_on_xla(written, arrays), expected)
    again = stablehlo.from_hlo(written)
    assert same_bits(again.interpret("main", *arrays), module.interpret("main", *arrays))
    check_protos(text, module)
    assert same_bits(proto_of(text).interpret("main", *arrays), module.interpret("main", *arrays))
    return module


def proto_of(text: str) -> stablehlo.Module:
    """Return what numhlo reads of the proto that XLA makes of a text."""
    return stablehlo.from_hlo(read_by_xla(text).as_serialized_hlo_module_proto())


def check_protos(text: str, module: stablehlo.Module) -> None:
    """Require that XLA's proto of a text is read as the text is, and that XLA reads ours as it reads our text."""
    assert ops_of(proto_of(text).as_text()) == ops_of(stablehlo.from_hlo(printed_by_xla(read_by_xla(text))).as_text())
    written = _hlo.HloModule.from_serialized_hlo_module_proto(module.as_hlo_proto())
    from_text = printed_by_xla(read_by_xla(module.as_hlo_text()))
    assert computations_of(printed_by_xla(written)) == computations_of(from_text)


def computations_of(text: str) -> str:
    """Return a module's text without its header, which says how many devices there are; protos don't."""
    return text.partition("\n")[2].strip()


def ops_of(text: str) -> list[str]:
    """Return the ops of StableHLO text with their types; XLA's printers and protos have them in different orders."""
    lines = [re.sub(r"[%@][\w.\"]+", "", line).strip() for line in text.splitlines()]
    return sorted([line for line in lines if "=" in line and not line.startswith("module")])


def entry(*lines: str, before: str = "") -> str:
    """Return a module whose entry has these instructions."""
    body = "\n".join([f"  {line}" for line in lines])
    return f"HloModule m\n{before}\nENTRY e {{\n{body}\n}}\n"


def normal(*shape: int, seed: int = 0, dtype: Any = np.float32) -> np.ndarray:
    """Return normal numbers, the same ones at each call."""
    return np.asarray(np.random.default_rng([seed, *shape]).standard_normal(shape)).astype(dtype)


assert jax.config.jax_enable_x64
