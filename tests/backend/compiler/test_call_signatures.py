"""Signatures of calls are looked for once in a kernel, and nothing of that is left in Numba."""

import pytest
from numba.core import types
from numba.core.errors import TypingError
from numba.core.registry import cpu_target

from numhlo.backend.compiler.call_signatures import remembered_signatures
from numhlo.backend.compiler.kernel_compiler import compile_source
from numhlo.backend.front_ends import NUMBA
from tests.backend.hand_written import F64, elementwise_kernel


def test_a_signature_is_looked_for_once(monkeypatch):
    """Sixty sums of the same types ask as often as three."""
    asked = []
    search = types.BaseFunction.get_call_type

    def counted(function, context, arguments, keywords):
        asked.append((function, arguments))
        return search(function, context, arguments, keywords)

    monkeypatch.setattr(types.BaseFunction, "get_call_type", counted)
    counts = []
    for length in (3, 60):
        kernel = elementwise_kernel(f"sums{length}", F64, 1, " + ".join(["a0"] * length))
        asked.clear()
        compile_source(kernel.name, kernel.source, through=NUMBA)
        counts.append(len(asked))
    assert counts[0] == counts[1] > 0


def test_nothing_is_left_behind():
    with pytest.raises(TypingError):
        compile_source("wrong", "def wrong(ctx, bufs, dims, lo, hi):\n    return 'text' + bufs\n")
    assert "get_call_type" not in vars(types.Function)


def test_same_signatures():
    context = cpu_target.typing_context
    context.refresh()
    function = context.resolve_value_type(pow)
    for arguments in ((types.int64, types.int64), (types.float64, types.int64), (types.float32, types.float32)):
        wanted = context.resolve_function_type(function, arguments, {})
        with remembered_signatures(context):
            first, second = (context.resolve_function_type(function, arguments, {}) for _ in range(2))
        assert first == second == wanted and first is second
