"""The StableHLO language: types and graph, one definition per op, text, analyses, the reference interpreter, passes.

The vocabulary that the other rooms share; it imports neither of them. It refuses to know where a graph comes from and
how it is compiled. Begin with `ir.graph`, then `ops.primitive`.
"""
