"""Kernel IR: what a kernel computes, typed and structured, between its text and its machine code.

`ir` defines it, `read` makes it of kernel text, `text` prints it, `verify` checks it, `identity` hashes it, `effects`
says what a statement reads and writes. Nothing here knows Numba: `numhlo.backend.compiler` gives types to calls and
lowers the IR.
"""
