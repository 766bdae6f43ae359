"""The processor that code is generated for: this one, or the one that Numba's own variables name in its place.

``NUMBA_CPU_NAME`` and ``NUMBA_CPU_FEATURES`` mean here what they mean to Numba. They are read once: object code is kept
under the processor that it was made for, so it must not change while a program runs. It is not checked whether this
processor can run the code.
"""

from __future__ import annotations

import os
from functools import lru_cache

import llvmlite.binding as llvm

NAME, FEATURES = "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"
GENERIC = "generic"
"""The oldest processor of an architecture: SSE2 on x86-64. Named alone, it has no other features."""


@lru_cache(maxsize=1)
def chosen() -> dict[str, str]:
    """Return those of the two variables that are set, for the processes that generate code."""
    return {name: os.environ[name] for name in (NAME, FEATURES) if os.environ.get(name)}


@lru_cache(maxsize=1)
def processor() -> tuple[str, str]:
    """Return the name and the features of the processor, as LLVM spells them."""
    name, features = chosen().get(NAME), chosen().get(FEATURES)
    if features is None:
        features = "" if name is not None and name.lower() == GENERIC else llvm.get_host_cpu_features().flatten()
    return name or llvm.get_host_cpu_name(), features


@lru_cache
def has_feature(feature: str) -> bool:
    """Return whether a feature, such as ``avx2``, is listed; what the processor's name alone implies is not."""
    return f"+{feature}" in processor()[1].split(",")
