"""From Python functions to StableHLO graphs: traced arrays, pytrees, control flow, vmap and grad.

Stands on `numhlo.lowering` alone. It knows neither how a graph is run (no kernel, no Numba, no cache of executables)
nor what NumPy's functions mean (`numhlo.library` does, and registers it). Begin with `core.trace` (what a traced array
is), then `python.function_tracing`. The rooms, each of which may import those after it:

building
    The vocabulary that the library is written in: all that it uses of the tracer.
transformations, differentiation, batching
    grad, vmap and their family; one derivative rule and one batching rule for each op.
python
    What Python does to traced values: ``if`` and ``while`` rewritten, functions that only say ``import numpy as np``,
    captured state, callbacks.
control_flow
    Branches, loops and scans of traced values.
trees
    Pytrees, in which arguments and results come.
core
    Traces, traced arrays, their storage and views, binding of ops.
"""
