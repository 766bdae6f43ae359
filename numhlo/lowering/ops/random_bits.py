"""Random numbers: ``rng_bit_generator``, whose bits follow from its state, and ``rng``, which StableHLO leaves open.

Bits are those of XLA: Threefry 2x32 in 20 rounds and Philox 4x32 in 10 (Salmon et al., "Parallel random numbers: as
easy as 1, 2, 3", SC 2011), the state's first word being the key, the rest the counter. ``DEFAULT`` is Philox.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, Type
from numhlo.lowering.ir.errors import ShapeError
from numhlo.lowering.ir.types import BOOL, FLOATS, INTEGERS, SIGNED, UNSIGNED
from numhlo.lowering.ops.counter_based import philox4x32, threefry2x32
from numhlo.lowering.ops.extents import same_shape
from numhlo.lowering.ops.primitive import RESULT_TYPES, Arrays, Attribute, Primitive, RegionFunction, Signature

ALGORITHMS = ("DEFAULT", "THREE_FRY", "PHILOX")
STATE_SIZES = {"DEFAULT": (2, 3), "THREE_FRY": (2,), "PHILOX": (2, 3)}
DISTRIBUTIONS = ("UNIFORM", "NORMAL")
U32, U64 = np.dtype(np.uint32), np.dtype(np.uint64)
LOW_WORD = np.uint64(0xFFFFFFFF)


class RandomBits(Primitive):
    """A source of random numbers."""

    __slots__ = ()


def infer_rng_bit_generator(signature: Signature) -> Sequence[Type]:
    """(C1), (C2); the output's type is given."""
    require = signature.require
    algorithm, state = signature.attributes["rng_algorithm"], signature.tensor(0)
    require(algorithm in ALGORITHMS, f"(I1) rng_algorithm must be one of {', '.join(ALGORITHMS)}, not {algorithm}")
    require(state.dtype == U64 and state.ndim == 1, "(I2) initial_state must be a one-dimensional tensor of ui64")
    after, output = signature.result_tensor(0), signature.result_tensor(1)
    require(state == after, "(C1) initial_state and output_state must have the same type")
    sizes = STATE_SIZES[algorithm]
    require(
        state.shape[0] in sizes,
        f"(C2) initial_state of {algorithm} must have {' or '.join(map(str, sizes))} elements, not {state.shape[0]}",
    )
    require(output.dtype in INTEGERS | FLOATS, "(O2) output must be a tensor of integers or floats")
    return [after, output]


def evaluate_rng_bit_generator(
    arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]
) -> Arrays:
    """Fill the output with bits, and count the state up by what was used."""
    (state,) = arrays
    output: TensorType = attributes[RESULT_TYPES][1]
    bits = 8 * output.dtype.itemsize
    generate = _threefry_bits if attributes["rng_algorithm"] == "THREE_FRY" else _philox_bits
    with np.errstate(over="ignore"):
        after, words = generate(state, output.shape, bits == 64)
    return [after, words.astype(f"uint{bits}").view(output.dtype)]


def _words(x: np.ndarray | np.uint64) -> tuple[Any, Any]:
    """Return the low and the high word."""
    return (x & LOW_WORD).astype(U32), (x >> np.uint64(32)).astype(U32)


def _joined(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    joined: np.ndarray = low.astype(U64) | (high.astype(U64) << np.uint64(32))
    return joined


def split_place(shape: Sequence[int]) -> int:
    """Return the dimension whose halves are the two words of Threefry: the first even one, else the first largest."""
    even = [k for k, n in enumerate(shape) if n % 2 == 0]
    return even[0] if even else max(range(len(shape)), key=lambda k: shape[k])


def _counters(start: np.uint64, shape: Sequence[int]) -> np.ndarray:
    """Return a number for each element: the last dimension of at least two elements counts fastest."""
    return (start + np.arange(math.prod(shape), dtype=U64)).reshape(tuple(shape))


def _threefry_bits(state: np.ndarray, shape: tuple[int, ...], wide: bool) -> tuple[np.ndarray, np.ndarray]:
    key, start = _words(state[0]), state[1]
    if wide:
        half: tuple[int, ...] = shape
        place = 0
    else:
        place = split_place(shape) if shape else 0
        half = tuple((n + 1) // 2 if k == place else n for k, n in enumerate(shape)) or (1,)
    first, second = threefry2x32(*key, *_words(_counters(start, half)))
    after = np.array([state[0], start + np.uint64(math.prod(half))], U64)
    if wide:
        return after, _joined(first, second)
    if not shape:
        return after, first.reshape(())
    pairs = np.stack([first, second], axis=place + 1)
    flat = pairs.reshape(tuple(2 * n if k == place else n for k, n in enumerate(half)))
    return after, flat[tuple(slice(n) for n in shape)]


def _philox_bits(state: np.ndarray, shape: tuple[int, ...], wide: bool) -> tuple[np.ndarray, np.ndarray]:
    count = math.prod(shape) * (2 if wide else 1)
    blocks = -(-count // 4)
    low = state[1]
    high = state[2] if len(state) > 2 else state[0]  # as XLA has it: a state of two words is counter and key in one
    counters = low + np.arange(blocks, dtype=U64)
    carried = high + (counters < low).astype(U64)
    words = philox4x32(*_words(counters), *_words(carried), *_words(state[0]))
    flat = np.stack(words, axis=1).reshape(-1)
    if wide:
        flat = _joined(flat[0::2], flat[1::2])
    end = low + np.uint64(blocks)
    after = np.array([state[0], end, high + U64.type(end < low)][: len(state)], U64)
    return after, flat[: math.prod(shape)].reshape(shape)


def infer_rng(signature: Signature) -> Sequence[Type]:
    """(C1)-(C3)."""
    require = signature.require
    a, b, shape, result = (*signature.tensors, signature.result_tensor())
    distribution = signature.attributes["rng_distribution"]
    allowed = INTEGERS | FLOATS | {BOOL}
    require(distribution in DISTRIBUTIONS, f"(I4) rng_distribution must be UNIFORM or NORMAL, not {distribution}")
    require(a.shape == () and a.dtype in allowed, "(I1) a must be a scalar of an integer, boolean or float type")
    require(b.shape == () and b.dtype in allowed, "(I2) b must be a scalar of an integer, boolean or float type")
    require(
        shape.ndim == 1 and shape.dtype in SIGNED | UNSIGNED, "(I3) shape must be a one-dimensional tensor of integers"
    )
    require(a.dtype == b.dtype == result.dtype, "(C1) a, b and the result must have the same element type")
    require(distribution == "UNIFORM" or a.dtype in FLOATS, "(C2) NORMAL needs floats")
    require(result.ndim == shape.shape[0], "(C3) the result must have a dimension for each element of shape")
    return [result]


def evaluate_rng(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Draw from NumPy's generator, seeded by the system: another result on each run."""
    a, b, shape = arrays
    extents = tuple(int(n) for n in shape)
    (result,) = attributes.get(RESULT_TYPES, (None,))
    if min(extents, default=0) < 0 or (result is not None and not same_shape(result.shape, extents)):
        wanted = "" if result is None else f", and the result is {result.short()}"
        raise ShapeError(f"rng: shape is {list(extents)}{wanted}", why="StableHLO specification, rng (C3)")
    generator = np.random.default_rng()
    dtype = a.dtype
    if attributes["rng_distribution"] == "NORMAL":
        drawn = _stretched(generator.standard_normal(extents), float(a), float(b))
    elif dtype in FLOATS:
        return [_below(b, a, _stretched(generator.random(extents), float(a), float(b) - float(a)).astype(dtype))]
    else:
        drawn = generator.integers(int(a), max(int(b), int(a) + 1), extents, U64 if dtype in UNSIGNED else np.int64)
    return [np.asarray(drawn).astype(dtype)]


def _stretched(drawn: np.ndarray, start: float, width: float) -> np.ndarray:
    """Return numbers of the unit's scale moved to another, whatever that is: negative, infinite and NaN too."""
    with np.errstate(invalid="ignore", over="ignore"):
        return start + width * drawn


def _below(end: np.ndarray, start: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Return numbers of [start, end), without those that were rounded up to its end."""
    if not start < end:
        return drawn
    last = np.nextafter(end, start)
    return np.where(drawn < end, drawn, last if np.isfinite(last) else start)


RNG_BIT_GENERATOR = RandomBits(
    "rng_bit_generator",
    infer_rng_bit_generator,
    evaluate_rng_bit_generator,
    ("initial_state",),
    (Attribute("rng_algorithm", "enum:rng_algorithm"),),
    explicit_result=True,
)
RNG = RandomBits(
    "rng",
    infer_rng,
    evaluate_rng,
    ("a", "b", "shape"),
    (Attribute("rng_distribution", "enum:rng_distribution"),),
    explicit_result=True,
    has_effects=True,  # two of them are two draws
)
