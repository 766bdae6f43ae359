"""From graphs to machine code: fusion into kernels, compiler processes, memory plan, runtime, caches.

Stands on `numhlo.lowering` alone, and takes any StableHLO program, traced or parsed. It refuses to know Python
functions and traced arrays. Only `compiler` imports Numba. Begin with `program`, what an executable is made of.
"""
