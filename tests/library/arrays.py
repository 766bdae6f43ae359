"""Arrays that tests feed to the namespace: every dtype, special values, awkward shapes and layouts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

DTYPES = [np.dtype(c) for c in "?bhiqBHIQefdFD"]
INTEGERS = [d for d in DTYPES if d.kind in "iu"]
FLOATS = [d for d in DTYPES if d.kind == "f"]
COMPLEX = [d for d in DTYPES if d.kind == "c"]
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 2.0, -2.0, 1e-3, 1e4])
SHAPES = [(), (0,), (1,), (5,), (2, 3), (0, 3), (3, 1, 2), (1, 1)]


def sample(rng: np.random.Generator, dtype: np.dtype, shape: Sequence[int] = (40,), special: bool = True) -> np.ndarray:
    """Return an array of a dtype: small and extreme integers, ordinary and special floats."""
    shape = tuple(shape)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        small = rng.integers(0 if dtype.kind == "u" else -5, 6, shape).astype(dtype)
        if not special:
            return small
        wide = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
        return np.where(rng.random(shape) < 0.3, wide, small).astype(dtype)
    values = _floats(rng, shape, special)
    if dtype.kind == "c":
        parts = np.stack([values, _floats(rng, shape, special)], -1)
        values = parts.view(np.complex128)[..., 0]
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(dtype)


def _floats(rng: np.random.Generator, shape: tuple[int, ...], special: bool) -> np.ndarray:
    values = np.asarray(rng.normal(size=shape) * 3)
    if special:
        chosen = SPECIAL[rng.integers(0, len(SPECIAL), shape)]
        values = np.where(rng.random(shape) < 0.4, chosen, values)
    return values


def layouts(array: np.ndarray) -> list[np.ndarray]:
    """Return equal arrays that lie in memory in different ways."""
    found = [array]
    if array.ndim:
        doubled = np.repeat(array, 2, axis=-1)
        found += [doubled[..., ::2], np.flip(array).copy()[tuple([slice(None, None, -1)] * array.ndim)]]
    if array.ndim > 1:
        found.append(np.asfortranarray(array))
    read_only = array.copy()
    read_only.flags.writeable = False
    return [*found, read_only]
