"""Functions of vector math that are kept on disk as LLVM bitcode, beside kernels: Numba takes 30 to 500 ms for one.

A kernel needs their code, not only machine code, to inline it. What is kept of one, for certain types of arguments, is
the name of its symbol, what it returns, and a module with everything that it calls. It is found as a kernel is: by a
name, a text, and all that `disk_cache.fingerprint` holds.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba.core import types
from numba.core.base import _wrap_impl, user_function

from numhlo.backend import vector_math
from numhlo.backend.compiler.pipelines import LOWERED
from numhlo.backend.disk_cache import DiskCache
from numhlo.backend.program import Kernel
from numhlo.backend.vector_math.jitable import JITABLE
from numhlo.lowering.ir.records import record

ROOM = "numhlo.backend.vector_math."
"""Where the functions are that are kept: others may change while their names stay."""

SUFFIXES = {
    "f32": types.float32,
    "f64": types.float64,
    "c64": types.complex64,
    "c128": types.complex128,
}
"""What functions of vector math take, by the end of their names; those of integers are small."""

SCALARS = {str(type): type for type in (*types.number_domain, types.boolean)}
END_OF_HEADER = b"\n"


class StoredLibrary:
    """Bitcode, as Numba shows a library that is linked into others."""

    def __init__(self, bitcode: bytes) -> None:
        self.module = llvm.parse_bitcode(bitcode)

    def _ensure_finalized(self) -> None:
        """Do nothing: nothing is added any more."""

    def _get_module_for_linking(self) -> llvm.ModuleRef:
        return self.module


@record(frozen=True, eq=False)
class StoredDescriptor:
    """What Numba's code generation asks of a function that is called."""

    mangled_name: str
    restype: types.Type
    argtypes: tuple[types.Type, ...]
    args: tuple[str, ...]
    noalias: bool = False
    inline: bool = False


class StoredFunctions:
    """The functions in a folder of kernels.

    Attributes
    ----------
    cache : DiskCache
    """

    def __init__(self) -> None:
        self.cache = DiskCache(None)

    def look_in(self, folder: str) -> None:
        """Read from a folder and write to it from now on; "" is none."""
        path = Path(folder) if folder else None
        if path != self.cache.folder:
            self.cache = DiskCache(path)

    def read(self, context: Any, callee: Any, given: tuple[types.Type, ...]) -> tuple[Any, Callable[..., Any]] | None:
        """Return the signature of a function of vector math and what emits a call of it, None where it is not kept."""
        key = _key(callee, given)
        data = None if key is None else self.cache.read(key)
        if data is None:
            return None
        header, _, bitcode = data.partition(END_OF_HEADER)
        said = json.loads(header)
        result, *arguments = [SCALARS[name] for name in said["types"]]
        names = tuple(f"arg.{k}" for k in range(len(arguments)))
        descriptor = StoredDescriptor(said["symbol"], result, tuple(arguments), names)
        signature = result(*arguments)
        call = user_function(descriptor, (StoredLibrary(bitcode),))
        return signature, _wrap_impl(call, context, signature)

    def write(self, callee: Any, given: tuple[types.Type, ...], signature: Any) -> None:
        """Keep what Numba has just made of a function."""
        key, lowered = _key(callee, given), LOWERED.get((JITABLE.get(callee), tuple(signature.args)))
        names = [str(type) for type in (signature.return_type, *signature.args)]
        if key is None or lowered is None or not all(name in SCALARS for name in names):
            return
        descriptor, library = lowered
        header = json.dumps({"symbol": descriptor.mangled_name, "types": names}).encode()
        self.cache.write(key, header + END_OF_HEADER + library._get_module_for_linking().as_bitcode())


def functions_of_kernels() -> list[tuple[Any, tuple[types.Type, ...]]]:
    """Return the functions of vector math that kernels call, each with the types that it takes."""
    found = []
    for name in vector_math.__all__:
        type, function = SUFFIXES.get(name.rpartition("_")[2]), getattr(vector_math, name)
        if type is not None and function in JITABLE:
            found.append((function, (type,) * len(inspect.signature(JITABLE[function]).parameters)))
    return found


def _key(callee: Any, given: tuple[types.Type, ...]) -> Kernel | None:
    module = getattr(callee, "__module__", None)
    if not isinstance(module, str) or not module.startswith(ROOM) or callee not in JITABLE:
        return None
    return Kernel(f"{module}.{callee.__qualname__}", f"bitcode for {', '.join(map(str, given))}")
