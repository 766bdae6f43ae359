"""Rewrites of a program that keep its meaning: inlining, simplification, folding, sharing, and removal of dead ops."""

from numhlo.lowering.passes.pipeline import optimize

__all__ = ["optimize"]
