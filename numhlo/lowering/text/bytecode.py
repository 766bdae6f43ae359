"""MLIR bytecode, by the official reader and writer where jaxlib is installed; numhlo itself reads and writes text.

A portable artifact is bytecode of the dialect vhlo, which later versions of StableHLO read, too. This file knows how to
turn either into text and text into an artifact; it refuses to know what the text says.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from numhlo.lowering.ir.errors import UnsupportedError

MAGIC = b"ML\xefR"
"""The first bytes of MLIR's binary form."""

PORTABLE = b"StableHLO_v"
"""What a portable artifact has for its producer, behind `MAGIC` and one byte."""

ALLOW_OTHER_DIALECTS = True
"""Whether ops of chlo and attributes of sdy, which JAX exports, are written as they are, as ``jax.export`` does."""


_MHLO = re.compile(r"(?:^|=) *\"?mhlo\.", re.MULTILINE)
"""Where an op of mhlo stands: its forms are not all StableHLO's, the generic one is."""


def _official() -> tuple[Any, Any, Any]:
    """Return MLIR, its StableHLO dialect and a context that knows the dialects, from jaxlib."""
    try:
        ir, dialects = import_module("jaxlib.mlir.ir"), import_module("jaxlib.mlir.dialects.stablehlo")
        others = [import_module(f"jaxlib.mlir.dialects.{name}") for name in ("chlo", "sdy")]
        mhlo = import_module("jaxlib.mlir.dialects.mhlo")
        upstream = import_module("jaxlib.mlir._mlir_libs._jax_mlir_ext")
    except ImportError as error:
        raise UnsupportedError(
            "MLIR bytecode is read and written by jaxlib, which can't be imported",
            why=str(error),
            fix="install jaxlib; or use text: str(exported.mlir_module()) for jax.export, "
            "or stablehlo-translate --deserialize",
        ) from error
    registry, context = ir.DialectRegistry(), ir.Context()
    upstream.register_dialects(registry)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for dialect in (dialects, *others):
        dialect.register_dialect(context)
    mhlo.register_mhlo_dialect(context)
    return ir, dialects, context


def read_bytecode(data: bytes) -> str:
    """Return the text of a program in bytecode, with locations.

    Raises
    ------
    UnsupportedError
        If jaxlib is not there, or does not understand the data.
    """
    ir, stablehlo, context = _official()
    is_portable = data[len(MAGIC) + 1 :].startswith(PORTABLE)
    try:
        with context:
            module = stablehlo.deserialize_portable_artifact(context, data) if is_portable else ir.Module.parse(data)
            text = str(module.operation.get_asm(enable_debug_info=True))
            if _MHLO.search(text) is None:
                return text
            return str(module.operation.get_asm(enable_debug_info=True, print_generic_op_form=True))
    except Exception as error:
        raise UnsupportedError(
            "jaxlib can't read this bytecode",
            why=str(error),
            fix="it knows StableHLO, CHLO, mhlo and sdy: export text, which may hold more",
        ) from error


def write_bytecode(text: str, version: str | None = None) -> bytes:
    """Return a program as a portable artifact.

    Parameters
    ----------
    text : str
        Of the program.
    version : str, optional
        The version of StableHLO that must be able to read it, such as ``"1.0.0"``; by default jaxlib's own.

    Raises
    ------
    UnsupportedError
        If jaxlib is not there, or refuses the program.
    """
    ir, stablehlo, context = _official()
    try:
        with context:
            artifact: bytes = stablehlo.serialize_portable_artifact(
                ir.Module.parse(text), version or stablehlo.get_current_version(), ALLOW_OTHER_DIALECTS
            )
    except Exception as error:
        raise UnsupportedError("jaxlib can't write this program as a portable artifact", why=str(error)) from error
    return artifact
