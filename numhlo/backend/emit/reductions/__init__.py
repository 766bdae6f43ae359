"""Reductions: loops for each layout of a reduction, and what they share. `emit.reduction` says what can be reduced."""
