"""Independent judges of StableHLO text: the official parser and verifier, and XLA on the CPU, both from jaxlib.

Tests import `official_parse` and `run_on_xla`; nothing here imports numhlo. JAX's 64-bit types are switched on as soon
as this module is imported, since numhlo has NumPy's dtypes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import jax
import numpy as np
from jax._src.interpreters import mlir as jax_mlir
from jaxlib import _jax, xla_client
from jaxlib.mlir import ir

jax.config.update("jax_enable_x64", True)


def official_parse(text: str) -> str:
    """Return ``text`` as the official StableHLO parser reads, verifies and prints it again.

    Raises
    ------
    jaxlib.mlir.ir.MLIRError
        If the parser or the verifier rejects it; the message has the line and the reason.
    """
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(text)
        assert module.operation.verify()
        return str(module)


def official_generic(text: str) -> str:
    """Return ``text`` as the official printer writes it in the generic form."""
    with jax_mlir.make_ir_context():
        return str(ir.Module.parse(text).operation.get_asm(print_generic_op_form=True))


def is_verified_by_xla(text: str) -> bool:
    """Return whether XLA's verifier accepts ``text``, be it that XLA can't run it: it knows quantized types."""
    try:
        _jax.mlir.mlir_module_to_xla_computation(text, use_tuple_args=False, return_tuple=False)
    except jax.errors.JaxRuntimeError as error:
        return "Invalid element type" in str(error)  # that is found after the text was verified
    return True


STRICT = {
    "xla_allow_excess_precision": False,
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
}
"""Options with which XLA rounds after every op, and compiles as quickly as it can."""

SLOWLY_RIGHT = ("stablehlo.reduce_precision", "stablehlo.gather")
"""Ops for which XLA needs the emitters that `tests/conftest.py` turns off: without, NaNs and empty slices are wrong."""


@lru_cache(maxsize=64)
def _compile(text: str, strict: bool) -> Any:
    device = jax.devices("cpu")[0]
    client: Any = device.client
    options = xla_client.CompileOptions()
    overrides = STRICT.copy() if strict else {}
    if any(op in text for op in SLOWLY_RIGHT):
        overrides["xla_cpu_use_fusion_emitters"] = True
    options.env_option_overrides = list(overrides.items())
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(text)
        bytecode = jax_mlir.module_to_bytecode(module)
    return client.compile_and_load(bytecode, xla_client.DeviceList((device,)), options)


@lru_cache(maxsize=1)
def _initialize_lapack() -> None:
    """Make JAX find its LAPACK, which it does when it first traces a factorization; XLA crashes without."""
    jax.jit(jax.numpy.linalg.qr).lower(np.eye(2))


def run_on_xla(text: str, arrays: Sequence[np.ndarray], *, strict: bool = False) -> list[np.ndarray]:
    """Return the results of the text's ``@main`` on ``arrays``, compiled and run by XLA on the CPU.

    Parameters
    ----------
    text : str
        A StableHLO module; its entry function must be called ``main``.
    arrays : sequence of numpy.ndarray
        One array an argument, of exactly the argument's shape and dtype.
    strict : bool
        Round after every op, as it is written, and compile as quickly as possible.

    Raises
    ------
    NotImplementedError
        For six-bit floats, which make XLA abort the process.

    Examples
    --------
    >>> run_on_xla("func.func @main(%x: tensor<i32>) -> tensor<i32> { return %x : tensor<i32> }", [np.int32(3)])
    [array(3, dtype=int32)]
    """
    if "@lapack_" in text:
        _initialize_lapack()
    if "f6E" in text:
        raise NotImplementedError("XLA has no six-bit floats")
    executable = _compile(text, strict)
    device = jax.devices("cpu")[0]
    buffers = [jax.device_put(np.asarray(array), device) for array in arrays]
    results = executable.execute_sharded(buffers).disassemble_into_single_device_arrays()
    return [np.asarray(result[0]) for result in results]
