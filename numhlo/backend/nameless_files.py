"""Files without a name: in memory where the system has such, else in the folder for temporary files."""

from __future__ import annotations

import os
import tempfile


def open_nameless(purpose: str) -> int:
    """Return the descriptor of a new file, which goes when it is closed.

    Raises
    ------
    OSError
        If no file can be made.

    Examples
    --------
    >>> handle = open_nameless("example")
    >>> os.write(handle, b"text")
    4
    >>> os.close(handle)
    """
    if hasattr(os, "memfd_create"):
        try:
            return os.memfd_create(purpose)
        except OSError:  # forbidden in some containers
            pass
    handle, path = tempfile.mkstemp(prefix=purpose)
    os.unlink(path)
    return handle
