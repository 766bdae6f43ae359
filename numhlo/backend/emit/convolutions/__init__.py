"""Convolutions: on paper, as tiles in registers. `emit.convolution` chooses."""
