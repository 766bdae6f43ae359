"""Fourier transforms: lines, their copies, tiles and passes. `emit.fourier` says which lines are transformed."""
