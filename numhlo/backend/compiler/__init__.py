"""Kernel source to object code, in processes of their own. Only this package imports Numba.

`service` and `process` are the user's side; `worker`, `kernel_compiler` and `intrinsics` run in a compiler process.
"""
