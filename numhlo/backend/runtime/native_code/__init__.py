"""The runtime's own native code: modules that are kernel source, compiled, cached and loaded like any kernel.

Functions with the kernel signature are entry points, those marked jitable are inlined into them.
`numhlo.backend.runtime.native_functions` loads them; run as plain Python they mean the same.
"""
