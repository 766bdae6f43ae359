"""Signatures of calls, found once in each kernel: Numba looks for them anew at every call, through all templates.

A kernel of a thousand lines calls the same few dozen functions of the same types. What a signature's discovery leaves
behind in Numba (lowering functions, keys of implementations) is there after the first time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from numba.core import types


@contextlib.contextmanager
def remembered_signatures(context: Any) -> Iterator[None]:
    """Let a typing context remember what it finds; the caller holds Numba's lock, and nothing is kept afterwards.

    Only plain functions' signatures depend on nothing but their arguments' types; what raises is looked for again.
    """
    search = types.Function.get_call_type
    found: dict[Any, Any] = {}

    def get_call_type(function: Any, asking: Any, arguments: Any, keywords: Any) -> Any:
        if keywords or asking is not context:
            return search(function, asking, arguments, keywords)
        key = function, tuple(arguments)
        if key not in found:
            found[key] = search(function, asking, arguments, keywords)
        return found[key]

    types.Function.get_call_type = get_call_type
    try:
        yield
    finally:
        del types.Function.get_call_type  # what it inherits is seen again
