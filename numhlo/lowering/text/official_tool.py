"""A process that reads and writes MLIR bytecode with jaxlib: a program of its own, which imports nothing of numhlo.

jaxlib's reader trusts what it reads: malformed bytecode can end its process, or make it take memory and time without
bound. So it runs here, within the limits that `numhlo.lowering.text.bytecode` gives, and only text or bytes come back.
The question is a line of JSON, then the data, on standard input; the answer is the same on standard output.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

_MHLO = re.compile(r"(?:^|=) *\"?mhlo\.", re.MULTILINE)
"""Where an op of mhlo stands: its forms are not all StableHLO's, the generic one is."""

ALLOW_OTHER_DIALECTS = True
"""Whether ops of chlo and attributes of sdy, which JAX exports, are written as they are, as ``jax.export`` does."""


def official() -> tuple[Any, Any, Any]:
    """Return MLIR, its StableHLO dialect and a context that knows the dialects, from jaxlib."""
    ir, dialects = import_module("jaxlib.mlir.ir"), import_module("jaxlib.mlir.dialects.stablehlo")
    others = [import_module(f"jaxlib.mlir.dialects.{name}") for name in ("chlo", "sdy")]
    mhlo = import_module("jaxlib.mlir.dialects.mhlo")
    upstream = import_module("jaxlib.mlir._mlir_libs._jax_mlir_ext")
    registry, context = ir.DialectRegistry(), ir.Context()
    context.enable_multithreading(False)
    upstream.register_dialects(registry)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for dialect in (dialects, *others):
        dialect.register_dialect(context)
    mhlo.register_mhlo_dialect(context)
    return ir, dialects, context


def read(data: bytes, *, portable: bool) -> bytes:
    """Return the text of a program in bytecode, with locations."""
    ir, stablehlo, context = official()
    with context:
        module = stablehlo.deserialize_portable_artifact(context, data) if portable else ir.Module.parse(data)
        text = str(module.operation.get_asm(enable_debug_info=True))
        if _MHLO.search(text) is not None:
            text = str(module.operation.get_asm(enable_debug_info=True, print_generic_op_form=True))
    return text.encode()


def write(data: bytes, *, version: str | None) -> bytes:
    """Return a text's program as a portable artifact that a version of StableHLO can read, by default jaxlib's own."""
    ir, stablehlo, context = official()
    with context:
        artifact: bytes = stablehlo.serialize_portable_artifact(
            ir.Module.parse(data.decode()), version or stablehlo.get_current_version(), ALLOW_OTHER_DIALECTS
        )
    return artifact


def limit(memory: int, seconds: int) -> None:
    """Let the system end this process when it takes too much, and leave no image of it."""
    with suppress(ImportError):  # Windows has no such limits
        resource = import_module("resource")
        for name, most in (("RLIMIT_AS", memory), ("RLIMIT_CPU", seconds), ("RLIMIT_CORE", 0)):
            with suppress(ValueError, OSError):  # a lower limit is set already
                resource.setrlimit(getattr(resource, name), (most, most))


TASKS: Mapping[str, Callable[..., bytes]] = {"read": read, "write": write}


def main() -> None:
    """Answer one question."""
    question = json.loads(sys.stdin.buffer.readline())
    limit(question["memory"], question["seconds"])
    sys.path[:0] = question["folders"]
    answer, result = {"error": ""}, b""
    try:
        result = TASKS[question["task"]](sys.stdin.buffer.read(), **question["options"])
    except ImportError as error:
        answer = {"missing": str(error), "error": ""}
    except MemoryError:
        answer = {"error": f"it takes more than {question['memory'] >> 20} MiB"}
    except Exception as error:  # noqa: BLE001 - whatever jaxlib raises is for whoever asked
        answer = {"error": str(error)[:4000] or type(error).__name__}
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n" + result)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
