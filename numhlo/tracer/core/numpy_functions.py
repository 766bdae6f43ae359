"""What NumPy's functions mean while tracing: the library says so, a family of functions a file, some of them late."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.lowering.ir.late_modules import LateTable


def _is_numpys(function: Any) -> bool:
    module = getattr(function, "__module__", None)
    return isinstance(function, np.ufunc) or (isinstance(module, str) and module.partition(".")[0] == "numpy")


FUNCTIONS: LateTable[Callable[..., Any]] = LateTable(_is_numpys)
"""NumPy function (for ``__array_function__``) or ufunc (for ``__array_ufunc__``) to our traced implementation."""
