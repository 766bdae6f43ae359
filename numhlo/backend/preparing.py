"""What every program may need, compiled before there is one: the runtime's own kernels, and functions of vector math.

They go into a folder of kernels: the user's, or one inside this package, where all who use this installation find them.
"""

from __future__ import annotations

import os
from pathlib import Path

from numhlo.backend.compiler.process import CompilerProcess
from numhlo.backend.compiler.service import object_code
from numhlo.backend.disk_cache import DiskCache
from numhlo.backend.runtime.native_functions import FILES, native_kernel
from numhlo.lowering.ir.errors import InternalError


def prepare(folder: Path) -> tuple[int, int]:
    """Fill a folder, and return how many kernels and how many functions there are.

    Raises
    ------
    InternalError
        If something can't be compiled.
    CompilerDiedError
        If the compiler ends meanwhile.
    """
    cache, kernels = DiskCache(folder), [native_kernel(name) for name in FILES]
    process = CompilerProcess()
    try:
        reply = process.prepare(os.path.abspath(folder))
        if "error" in reply.header:
            raise InternalError("functions of vector math can't be compiled", why=reply.header["traceback"])
        for kernel in kernels:
            cache.write(kernel, object_code(kernel, process.compile(kernel.name, kernel.source)))
    finally:
        process.close()
    return len(kernels), reply.header["functions"]
