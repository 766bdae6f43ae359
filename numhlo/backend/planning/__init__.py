"""From an optimized function to a program: which ops share a kernel, where values live, in which order steps run.

Begin with `plan`; the README of `numhlo.backend.emit` is the map of both folders.
"""

from numhlo.backend.planning.explain import explain
from numhlo.backend.planning.plan import plan
from numhlo.backend.planning.recipes import plan_again

__all__ = ["explain", "plan", "plan_again"]
