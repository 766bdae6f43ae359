"""Kernel IR: what a kernel computes, typed and structured, between its text and its machine code.

`ir` defines it, `read` makes it of kernel text, `transform` changes it, `text` prints it, `verify` checks it,
`identity` hashes it, `effects` says what a statement reads and writes, `result_types` what type a call has. `draft` is
what a kernel is made of before it is text. Nothing here knows Numba: `numhlo.backend.compiler` lowers the IR.
"""
