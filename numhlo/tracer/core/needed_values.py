"""What to say where an operation outside tracing needs a traced array: in a block that computes, or in a thread."""

from __future__ import annotations

import sys
from types import FrameType


def needed_at_once(opener: int) -> tuple[str, str]:
    """Return what needs a value, and what to write instead.

    Parameters
    ----------
    opener : int
        Identity of the frame that the array's trace is open in, 0 where that is not known.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and id(frame) != opener:
        frame = frame.f_back
    if frame is None and opener:
        return "an operation in another thread", "use it in the thread that traces, and give others arrays or numbers"
    return "an operation at once", "move it out of the block that computes now"
