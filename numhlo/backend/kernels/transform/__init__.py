"""Transformations: kernel IR to kernel IR, with the same results to the bit.

Each has a file, named as compilers name it, and is a function that changes a module in place and returns whether it
did; `pipeline` lists them in order. They know neither text nor Numba, and find by themselves what they may change, from
effects and from the form of statements: no writer marks anything for them. `rewriting` has what they share.

Their tests print small kernels before and after, and run both. What a change to them does to all kernels of the suite
shows ``python -m tests.backend.kernels.identities``, before and after it.
"""
