"""What einops must know to take traced arrays: which of its backends is theirs.

It asks the classes derived from its `AbstractBackend`, and that of NumPy does all that is needed, through NumPy's
protocols. einops itself is never imported here: where it is loaded, its users have done that.
"""

from __future__ import annotations

import sys
from typing import Any

from numhlo.tracer.building import Tracer

EINOPS = "einops._backends"

_registered: list[type] = []


def _takes_traced(backend: object, array: object) -> bool:
    return isinstance(array, Tracer)


def register_einops_backend() -> None:
    """Let einops know traced arrays, once it is imported.

    Notes
    -----
    Source: einops' contract for backends, at the head of its module of that name: it finds them as subclasses whose
    framework, by name, is an imported module.
    """
    module: Any = sys.modules.get(EINOPS)
    if module is None or _registered or not hasattr(module, "NumpyBackend"):
        return
    facts = {"framework_name": "numhlo", "is_appropriate_type": _takes_traced}
    _registered.append(type("TracedBackend", (module.NumpyBackend,), facts))
