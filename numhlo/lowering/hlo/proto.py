"""`HloModuleProto`: what its fields are, and how instructions' attributes are read from it.

Records are the same as those of text, so that what an instruction means is said once. Field numbers are those of XLA's
``hlo.proto`` and ``xla_data.proto``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numhlo.lowering.hlo.accuracy import Accuracy
from numhlo.lowering.hlo.attributes import Groups, Window, iota_groups
from numhlo.lowering.hlo.contraction import ALGORITHMS as DOT_ALGORITHMS
from numhlo.lowering.hlo.contraction import EIGHT_BITS
from numhlo.lowering.hlo.custom_calls import VERSIONS
from numhlo.lowering.hlo.wire import Message, WireError
from numhlo.lowering.hlo.writer import quoted
from numhlo.lowering.ops.dimension_numbers import ConvolutionDimensionNumbers

DIMENSIONS = frozenset({
    "all-gather", "all-gather-start", "all-to-all", "broadcast", "concatenate", "get-dimension-size", "map", "reduce",
    "reduce-scatter", "reduce-scatter-start", "reverse", "set-dimension-size", "sort", "transpose",
})  # fmt: skip
"""Opcodes whose ``dimensions`` are HLO's attribute of that name, be they empty."""

LAST_FIELD = 92
"""The largest number of an instruction's fields that is known."""

FFT_TYPES = ("FFT", "IFFT", "RFFT", "IRFFT")
TRANSPOSES = ("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
DISTRIBUTIONS = ("rng_invalid", "rng_uniform", "rng_normal")
RNG_ALGORITHMS = ("rng_default", "rng_three_fry", "rng_philox")
PRECISIONS = ("default", "high", "highest")
ALGORITHMS = (
    "dot_unset", "dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum", "dot_f16_f16_f16", "dot_f16_f16_f32",
    "dot_bf16_bf16_bf16", "dot_bf16_bf16_f32", "dot_bf16_bf16_f32_x3", "dot_bf16_bf16_f32_x6", "dot_tf32_tf32_f32",
    "dot_tf32_tf32_f32_x3", "dot_f32_f32_f32", "dot_f64_f64_f64", "dot_bf16_bf16_f32_x9",
)  # fmt: skip
assert set(ALGORITHMS) == {"dot_unset", *DOT_ALGORITHMS, *EIGHT_BITS}

DOT = {"lhs_contracting_dims": 1, "rhs_contracting_dims": 2, "lhs_batch_dims": 3, "rhs_batch_dims": 4}
GATHER = {
    "offset_dims": 1,
    "collapsed_slice_dims": 2,
    "start_index_map": 3,
    "operand_batching_dims": 5,
    "start_indices_batching_dims": 6,
}
SCATTER = {
    "update_window_dims": 1,
    "inserted_window_dims": 2,
    "scatter_dims_to_operand_dims": 3,
    "input_batching_dims": 5,
    "scatter_indices_batching_dims": 6,
}
CONVOLUTION = (7, 8, 11, 3, 4, 6, 9, 10, 12)
"""Fields of a convolution's dimension numbers, in the order of the record's."""

Attributes = dict[str, Any]
Read = Callable[[Message, Attributes], None]


def _word(table: tuple[str, ...], number: int, what: str) -> str:
    if not 0 <= number < len(table):
        raise WireError(f"{number} is no {what}")
    return table[number]


# -- parts that several opcodes have


def read_attributes(opcode: str, m: Message) -> Attributes:
    """Return the attributes of an instruction, as text has them; computations are the caller's."""
    unknown = [field for field, values in m.fields.items() if field > LAST_FIELD and any(values)]
    if unknown:
        raise WireError(f"field {unknown[0]} of an instruction is not known, and might change what it means")
    found: Attributes = {}
    for fields, read in READERS.items():
        if any(m.has(field) for field in fields):
            read(m, found)
    if opcode in DIMENSIONS and (m.has(14) or opcode != "all-to-all"):
        found["dimensions"] = m.numbers(14)
    if opcode in BY_OPCODE:
        found |= BY_OPCODE[opcode](m)
    return found


def _slices(m: Message) -> Attributes:
    parts = [(d.number(1), d.number(2), d.number(3)) for d in m.messages(17)]
    return {"slice": tuple([(start, limit, stride or 1) for start, limit, stride in parts])}


def _normalization(m: Message) -> Attributes:
    epsilon = float(m.word_32(24).sum())  # of one number, or of none
    return {"epsilon": epsilon, "feature_index": m.number(25)}


def _pairs(m: Message) -> Attributes:
    return {"source_target_pairs": Groups(tuple([(p.number(1), p.number(2)) for p in m.messages(52)]))}


BY_OPCODE: dict[str, Callable[[Message], Attributes]] = {
    "get-tuple-element": lambda m: {"index": m.number(13)},
    "iota": lambda m: {"iota_dimension": (m.numbers(14) or (0,))[0]},
    "fft": lambda m: {"fft_type": _word(FFT_TYPES, m.number(31), "fft_type"), "fft_length": m.numbers(32)},
    "rng-bit-generator": lambda m: {"algorithm": _word(RNG_ALGORITHMS, m.number(70), "algorithm")},
    "rng": lambda m: {"distribution": _word(DISTRIBUTIONS, m.number(23), "distribution")},
    "reduce-precision": lambda m: {"exponent_bits": m.number(18), "mantissa_bits": m.number(19)},
    "slice": _slices,
    "dynamic-slice": lambda m: {"dynamic_slice_sizes": m.numbers(20)},
    "gather": lambda m: {"index_vector_dim": m.message(33).number(4), "slice_sizes": m.numbers(34)},
    "scatter": lambda m: {"index_vector_dim": m.message(48).number(4)},
    "topk": lambda m: {"k": m.number(81), "largest": bool(m.number(85))},
    "collective-permute": _pairs,
    "collective-permute-start": _pairs,
    **dict.fromkeys(("batch-norm-training", "batch-norm-inference", "batch-norm-grad"), _normalization),
}
"""What an opcode needs, be it the value that a message leaves out."""


def _read_window(m: Message, found: Attributes) -> None:
    rows = m.message(15).messages(1)
    if rows:
        found["window"] = Window(
            size=tuple([d.number(1) for d in rows]),
            stride=tuple([d.number(2, 1) or 1 for d in rows]),
            pad=tuple([(d.number(3), d.number(4)) for d in rows]),
            lhs_dilate=tuple([d.number(6, 1) or 1 for d in rows]),
            rhs_dilate=tuple([d.number(5, 1) or 1 for d in rows]),
            rhs_reversal=tuple([d.number(7) for d in rows]),
        )


def _read_convolution(m: Message, found: Attributes) -> None:
    numbers = m.message(16)
    is_list = (11, 6, 12)
    values = [numbers.numbers(field) if field in is_list else numbers.number(field) for field in CONVOLUTION]
    found["dim_labels"] = ConvolutionDimensionNumbers(*values)  # type: ignore[arg-type]


def _read_lists(field: int, names: dict[str, int]) -> Read:
    def read(m: Message, found: Attributes) -> None:
        inner = m.message(field)
        found.update({name: inner.numbers(number) for name, number in names.items() if inner.has(number)})

    return read


def _read_precision(m: Message, found: Attributes) -> None:
    inner = m.message(51)
    words = tuple([_word(PRECISIONS, number, "precision") for number in inner.numbers(1)])
    if set(words) - {"default"}:
        found["operand_precision"] = words
    if inner.number(2):
        found["algorithm"] = _word(ALGORITHMS, inner.number(2), "algorithm")


def _read_padding(m: Message, found: Attributes) -> None:
    found["padding"] = tuple([(d.number(1), d.number(2), d.number(3)) for d in m.message(21).messages(1)])


def _read_solve(m: Message, found: Attributes) -> None:
    inner = m.message(59)
    found |= {name: bool(inner.number(k)) for k, name in enumerate(("left_side", "lower", "unit_diagonal"), 1)}
    if inner.number(4):
        found["transpose_a"] = _word(TRANSPOSES, inner.number(4), "transpose")


def _read_groups(m: Message, found: Attributes) -> None:
    devices = m.message(87)
    if m.has(92) or devices.has(2):
        found["replica_groups"] = _iota_groups(m.message(92) if m.has(92) else devices.message(2))
        return
    if devices.fields.keys() - {1, 2}:
        raise WireError("groups of processes by the axes of a mesh have no meaning in StableHLO")
    lists = devices.messages(1) or m.messages(49)
    found["replica_groups"] = Groups(tuple([group.numbers(1) for group in lists]))


def _iota_groups(m: Message) -> Groups:
    extents = m.numbers(3)
    axes = m.numbers(4) or tuple(range(len(extents)))
    found = iota_groups((m.number(1), m.number(2)), extents, axes)
    if found is None:
        raise WireError("these groups must hold the same number of processes twice")
    return found


def _read_target(m: Message, found: Attributes) -> None:
    found["custom_call_target"] = m.text(28)
    found["api_version"] = _word(VERSIONS, m.number(77, 1), "api_version")
    if m.has(74):
        found["output_to_operand_aliasing"] = ", ".join([_alias(alias) for alias in m.messages(74)])


def _alias(m: Message) -> str:
    result, operand = (", ".join(map(str, m.numbers(field))) for field in (1, 3))
    return f"{{{result}}}: ({m.number(2)}, {{{operand}}})"


def _read_accuracy(m: Message, found: Attributes) -> None:
    inner = m.message(91)
    mode, tolerance = inner.number(1), inner.message(2)
    asked = Accuracy(_word(("DEFAULT", "HIGHEST"), mode, "accuracy"))
    if inner.has(2):
        atol, rtol = (tolerance.word_64(field) for field in (1, 2))
        asked = Accuracy("TOLERANCE", atol, rtol, tolerance.number(3))
    if asked.mode != "DEFAULT":
        found["result_accuracy"] = asked.hlo()


def read_metadata(m: Message) -> dict[str, Any]:
    """Return where an instruction comes from, as the metadata of text has it."""
    inner = m.message(7)
    named = {"op_name": inner.text(2), "source_file": inner.text(3)}
    numbers = {"source_line": inner.number(4), "stack_frame_id": inner.number(15)}
    return {k: str(v) for k, v in {**named, **numbers}.items() if v}


def _plain(field: int, name: str, get: Callable[[Message, int], Any]) -> tuple[tuple[int, ...], Read]:
    return (field,), lambda m, found: found.update({name: get(m, field)})


def _flag(m: Message, field: int) -> bool:
    return bool(m.number(field))


def _quoted(m: Message, field: int) -> str:
    return quoted(m.text(field))


READERS: dict[tuple[int, ...], Read] = {
    (15,): _read_window,
    (16,): _read_convolution,
    (21,): _read_padding,
    (28,): _read_target,
    (30,): _read_lists(30, DOT),
    (33,): _read_lists(33, GATHER),
    (48,): _read_lists(48, SCATTER),
    (49, 87, 92): _read_groups,
    (51,): _read_precision,
    (59,): _read_solve,
    (91,): _read_accuracy,
    (62,): lambda m, found: found.update(lower=bool(m.message(62).number(1))),
    **dict([
        _plain(22, "outfeed_config", Message.text),
        _plain(26, "channel_id", Message.number),
        _plain(27, "infeed_config", Message.text),
        _plain(43, "backend_config", _quoted),
        _plain(47, "is_host_transfer", _flag),
        _plain(50, "feature_group_count", Message.number),
        _plain(58, "batch_group_count", Message.number),
        _plain(60, "is_stable", _flag),
        _plain(63, "direction", Message.text),
        _plain(65, "custom_call_has_side_effect", _flag),
        _plain(67, "indices_are_sorted", _flag),
        _plain(69, "unique_indices", _flag),
        _plain(71, "use_global_device_ids", _flag),
        _plain(72, "type", Message.text),
        _plain(89, "is_composite", _flag),
    ]),
}  # fmt: skip
"""By the fields of which one at least must be there: what they mean."""
