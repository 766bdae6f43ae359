"""Rewrites of a program that keep its meaning: inlining, simplification, folding, sharing, and removal of dead ops.

Begin with `pipeline`, which says what runs in which order. Files `legalize_*` replace what only programs from outside
have, `refine_*` find extents that are unknown, `simplify_*` make less of what is there.
"""

from numhlo.lowering.passes.pipeline import optimize

__all__ = ["optimize"]
