"""What jaxlib's own reader and writer of MLIR bytecode make of a program: the oracle of these tests."""

import io
from functools import cache

import jax
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import mhlo, stablehlo

from benchmarks.exported_programs import PROGRAMS

VERSIONS = (
    "0.9.0", "0.10.0", "0.12.0", "0.14.0", "0.19.0", "1.0.0", "1.4.0", "1.5.0", "1.8.0", "1.9.0", "1.11.0", "1.13.0",
    "1.17.0",
)  # fmt: skip
"""Versions of StableHLO on both sides of every change to an op or to the container."""

CONTAINERS = range(7)
"""Versions of MLIR bytecode."""


@cache
def context():
    """Return a context that knows JAX's dialects and mhlo; unknown ones are read, too."""
    found = jax_mlir.make_ir_context()
    mhlo.register_mhlo_dialect(found)
    found.allow_unregistered_dialects = True
    return found


def artifact(text, version):
    """Return a program as a portable artifact, or None where jaxlib refuses to write it for this version."""
    with context():
        try:
            return stablehlo.serialize_portable_artifact(ir.Module.parse(text), version, True)
        except ValueError:
            return None


def bytecode(text, version=6):
    """Return a program as bytecode, in a version of the container."""
    data = io.BytesIO()
    with context():
        ir.Module.parse(text).operation.write_bytecode(data, desired_version=version)
    return data.getvalue()


def text_of(data):
    """Return the text of bytecode, in the generic form with locations; vhlo is turned into StableHLO."""
    with context() as known:
        is_portable = b"StableHLO_v" in data[:20]
        module = stablehlo.deserialize_portable_artifact(known, data) if is_portable else ir.Module.parse(data)
        return str(module.operation.get_asm(enable_debug_info=True, print_generic_op_form=True))


def exported(names=None):
    """Yield name and artifact of the programs that the benchmarks export, as ``jax.export`` writes them."""
    for name in names or PROGRAMS:
        make, small, _ = PROGRAMS[name]
        function, arguments = make(small)
        yield name, jax.export.export(jax.jit(function))(*arguments).mlir_module_serialized
