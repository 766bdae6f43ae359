"""The error for a program whose results or intermediate values there is no memory for: which program, and for what.

NumPy's own error names bytes of a block that no user has heard of. This file knows sizes in words; what is allocated
when is in `result_memory` and `arenas`.
"""

from __future__ import annotations

from numhlo.backend.program import Place, Program
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import OutOfMemoryError
from numhlo.lowering.ir.location import is_library
from numhlo.lowering.ir.types import MOST_BYTES

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
SHOWN_RESULTS = 3


def no_memory(program: Program, name: str) -> OutOfMemoryError:
    """Return the error for a call that did not get its memory."""
    results = [b.type for b in program.buffers if b.place is Place.RESULT]
    inner = program.arena_bytes
    if sum(t.nbytes for t in results) < inner:
        what = f"its intermediate values ({size_in_words(inner)})"
    else:
        shown = [f"{t.short()} ({size_in_words(t.nbytes)})" for t in sorted(results, key=lambda t: -t.nbytes)]
        what = f"its results {', '.join(shown[:SHOWN_RESULTS])}{', ...' if shown[SHOWN_RESULTS:] else ''}"
    return OutOfMemoryError(
        f"{name or 'a program'}: no memory for {what}", where=capture_location(), fix="work on parts of the arrays"
    )


def is_the_users(error: MemoryError) -> bool:
    """Return whether the user's code raised an error: a callback, or the handler of a signal."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and not is_library(traceback.tb_frame.f_code.co_filename)


def require_addresses(program: Program, name: str) -> None:
    """Raise for a program that needs more memory than there are addresses: no call of it ever gets that.

    Raises
    ------
    OutOfMemoryError
    """
    if program.arena_bytes > MOST_BYTES or any(b.type.nbytes > MOST_BYTES for b in program.buffers):
        raise no_memory(program, name)


def size_in_words(nbytes: int) -> str:
    """Return a number of bytes in the largest unit that leaves a whole one.

    Examples
    --------
    >>> size_in_words(100), size_in_words(3 << 20), size_in_words(1 << 72)
    ('100 bytes', '3 MiB', '4096 EiB')
    """
    power = min((max(nbytes, 1).bit_length() - 1) // 10, len(UNITS) - 1)
    return f"{nbytes / 1024**power:.4g} {UNITS[power]}"
