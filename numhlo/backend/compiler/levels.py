"""How much LLVM optimizes kernels: all it can, and what is tried where it crashes on a kernel."""

HIGHEST = 3
LOWER = 1
"""Loops stay as they are written, and instructions are chosen by the same code as ever, which is well tested."""
