"""From Python functions to StableHLO graphs: traced arrays, pytrees, NumPy's names, control flow, vmap and grad.

Stands on `numhlo.lowering` alone. It refuses to know how a graph is run: no kernel, no Numba, no cache of executables.
Begin with `trace` (what a traced array is), then `function_tracing`. The folders:

namespace, linear_algebra, sampling, distributions, scientific
    What users call: NumPy's functions and their kin, each in terms of ops that `bind` puts into the graph.
control_flow, autograph
    Branches and loops of traced values, and Python's own ``if`` and ``while`` rewritten to them.
plain_python, aliasing
    Functions that only say ``import numpy as np``, and arrays that are written: both over a graph without either.
transformations, batching, differentiation
    vmap, grad and their family; one batching rule and one derivative rule for each op.
trees
    Pytrees, in which arguments and results come.
"""
