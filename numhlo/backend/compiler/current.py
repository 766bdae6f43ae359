"""The compiler service of this process, for those who mostly need none: a process that finds its kernels on disk.

`service` has what it is and what it takes: threads, pipes and subprocesses, which are loaded with the first kernel that
has to be compiled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numhlo.lowering.ir.errors import InternalError
from numhlo.lowering.ir.late_modules import late

if TYPE_CHECKING:
    from numhlo.backend.compiler.service import CompilerService

_module = late("numhlo.backend.compiler.service")
BUG = "this is a bug of numhlo, please report it with this message"


class KernelCompileError(InternalError):
    """A kernel's source could not be compiled: a bug of ours, whose message carries the source."""


class CompilerClosedError(KernelCompileError):
    """A kernel was not compiled because the interpreter ends: NumPy does its work, which nobody needs to be told."""


class Current:
    """Where the service is kept.

    Attributes
    ----------
    service : CompilerService or None
        None before somebody needed one, and in a fork.
    """

    __slots__ = ("service",)

    def __init__(self) -> None:
        self.service: CompilerService | None = None


CURRENT = Current()


def compiler_service() -> CompilerService:
    """Return this process's compiler service, and load it if there is none."""
    service: CompilerService = _module.compiler_service()
    return service


def say_answered() -> None:
    """Let compilers start, where some are about to: there is an answer."""
    if CURRENT.service is not None:
        CURRENT.service.answered.set()


def are_cores_short() -> bool:
    """Return whether compilers have work for as many cores as leave none to who asks."""
    return CURRENT.service is not None and CURRENT.service.is_short_of_cores()
