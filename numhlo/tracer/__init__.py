"""From Python functions to StableHLO graphs: traced arrays, pytrees, NumPy's names, control flow, vmap and grad.

Stands on `numhlo.lowering` alone. It refuses to know how a graph is run: no kernel, no Numba, no cache of executables.
Begin with `trace` (what a traced array is), then `function_tracing`.
"""
