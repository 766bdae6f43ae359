"""Writing the records of a module as an `HloModuleProto`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple
from typing import Any

from numhlo.lowering.hlo.accuracy import Accuracy, accuracy_of_hlo
from numhlo.lowering.hlo.attributes import Groups, Window
from numhlo.lowering.hlo.custom_calls import VERSIONS, aliases_of
from numhlo.lowering.hlo.lexer import HloCursor
from numhlo.lowering.hlo.proto import (
    ALGORITHMS,
    CONVOLUTION,
    DISTRIBUTIONS,
    DOT,
    FFT_TYPES,
    GATHER,
    PRECISIONS,
    RNG_ALGORITHMS,
    SCATTER,
    TRANSPOSES,
)
from numhlo.lowering.hlo.proto_reader import CALLED, LISTS
from numhlo.lowering.hlo.proto_shapes import write_literal, write_shape
from numhlo.lowering.hlo.record import Computation, HloModule, Instruction, Shape
from numhlo.lowering.hlo.shapes import ShapeParser
from numhlo.lowering.hlo.wire import MessageWriter
from numhlo.lowering.ops.dimension_numbers import ConvolutionDimensionNumbers


def write_proto(module: HloModule) -> bytes:
    """Return a module as the bytes of an `HloModuleProto`.

    Parameters
    ----------
    module : HloModule
        Whose instructions all have shapes, as those that numhlo writes do.
    """
    return _ProtoWriter(module).module().data()


class _ProtoWriter:
    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._numbers: dict[Computation | Instruction, int] = {}

    def module(self) -> MessageWriter:
        entry = self._module.entry
        for number, computation in enumerate(self._module.computations, 1):
            self._numbers[computation] = number
        w = MessageWriter().text(1, self._module.name).text(2, entry.name)
        w.messages(3, [self._computation(computation) for computation in self._module.computations])
        w.message(4, _signature(entry, self._module.layouts)).number(6, self._numbers[entry])
        return w

    def _computation(self, computation: Computation) -> MessageWriter:
        number = self._numbers[computation]
        for place, instruction in enumerate(computation.instructions, 1):
            self._numbers[instruction] = number << 32 | place
        root = computation.root
        assert root is not None
        w = MessageWriter().text(1, computation.name)
        w.messages(2, [self._instruction(instruction) for instruction in computation.instructions])
        return w.message(4, _signature(computation)).number(5, number).number(6, self._numbers[root])

    def _instruction(self, instruction: Instruction) -> MessageWriter:
        shape = instruction.shape
        assert shape is not None
        w = MessageWriter().text(1, instruction.name).text(2, instruction.opcode).message(3, write_shape(shape))
        w.number(35, self._numbers[instruction]).numbers(36, [self._numbers[o] for o in instruction.operands])
        w.numbers(38, [self._numbers[called] for called in _called(instruction)])
        if instruction.opcode == "parameter":
            w.number(9, instruction.payload)
        elif instruction.opcode == "constant":
            w.message(8, write_literal(instruction.payload))
        write_attributes(w, instruction)
        return w


def _signature(computation: Computation, layouts: tuple[Sequence[Shape], Shape] | None = None) -> MessageWriter:
    w = MessageWriter()
    assert computation.root is not None
    shapes = [*[parameter.shape for parameter in computation.parameters()], computation.root.shape]
    for number, shape in enumerate(shapes if layouts is None else [*layouts[0], layouts[1]], 1):
        assert shape is not None
        w.message(2 if number == len(shapes) else 1, write_shape(shape))
    for parameter in computation.parameters():
        w.text(3, parameter.name)
    return w


def _called(instruction: Instruction) -> Iterator[Computation]:
    """Yield the computations that an instruction names, in the order that XLA has them."""
    attributes = instruction.attributes
    if instruction.opcode in LISTS:
        pair = [attributes[name] for name in ("true_computation", "false_computation") if name in attributes]
        yield from attributes.get(LISTS[instruction.opcode], pair)
        return
    for name in CALLED.get(instruction.opcode, ("to_apply",)):
        if name in attributes:
            yield attributes[name]


# -- attributes

Attributes = dict[str, Any]


def write_attributes(w: MessageWriter, instruction: Instruction) -> None:
    """Write an instruction's attributes, but for the computations that they name."""
    attributes = instruction.attributes
    for name, value in attributes.items():
        if name in PLAIN:
            PLAIN[name](w, value)
    if instruction.opcode in BY_OPCODE:
        BY_OPCODE[instruction.opcode](w, attributes)


def _lists(table: dict[str, int], given: Attributes) -> MessageWriter:
    w = MessageWriter()
    for name, field in table.items():
        w.numbers(field, given.get(name, ()))
    return w


def _precision(w: MessageWriter, given: Attributes) -> None:
    inner = MessageWriter()
    words = given.get("operand_precision", ())
    if set(words) - {"default"}:
        inner.numbers(1, [PRECISIONS.index(word) for word in words])
    w.message(51, inner.number(2, ALGORITHMS.index(given.get("algorithm", ALGORITHMS[0]))))


def _dot(w: MessageWriter, given: Attributes) -> None:
    w.message(30, _lists(DOT, given))
    _precision(w, given)


def _convolution(w: MessageWriter, given: Attributes) -> None:
    if "window" not in given:  # there are no spatial dimensions
        w.message(15, MessageWriter())
    _precision(w, given)


def _gather(w: MessageWriter, given: Attributes) -> None:
    w.message(33, _lists(GATHER, given).number(4, given["index_vector_dim"])).numbers(34, given["slice_sizes"])


def _scatter(w: MessageWriter, given: Attributes) -> None:
    w.message(48, _lists(SCATTER, given).number(4, given["index_vector_dim"]))


def _solve(w: MessageWriter, given: Attributes) -> None:
    inner = MessageWriter()
    for field, name in enumerate(("left_side", "lower", "unit_diagonal"), 1):
        inner.number(field, given.get(name, False))
    w.message(59, inner.number(4, TRANSPOSES.index(given.get("transpose_a", "NO_TRANSPOSE"))))


def _cholesky(w: MessageWriter, given: Attributes) -> None:
    w.message(62, MessageWriter().number(1, given.get("lower", False)))


def _random_bits(w: MessageWriter, given: Attributes) -> None:
    w.number(70, RNG_ALGORITHMS.index(given.get("algorithm", RNG_ALGORITHMS[0])))


def _custom_call(w: MessageWriter, given: Attributes) -> None:
    w.number(77, VERSIONS.index(given.get("api_version", VERSIONS[1])))
    for result, operand, path in aliases_of(given.get("output_to_operand_aliasing", "")):
        w.message(74, MessageWriter().numbers(1, result).number(2, operand).numbers(3, path))
    if "operand_layout_constraints" in given:
        shapes = ShapeParser(given["operand_layout_constraints"], "types").parse_shapes()
        w.number(56, 1).messages(57, [write_shape(shape) for shape in shapes])


BY_OPCODE: dict[str, Callable[[MessageWriter, Attributes], object]] = {
    "cholesky": _cholesky,
    "convolution": _convolution,
    "custom-call": _custom_call,
    "dot": _dot,
    "gather": _gather,
    "rng-bit-generator": _random_bits,
    "scatter": _scatter,
    "triangular-solve": _solve,
}
"""Attributes that are parts of a message, by the opcode that has them."""


def _window(w: MessageWriter, window: Window) -> None:
    rank = max(map(len, astuple(window)))
    parts = [getattr(window, name) or (1,) * rank for name in ("size", "stride", "rhs_dilate", "lhs_dilate")]
    pads, reversed_ = window.pad or ((0, 0),) * rank, window.rhs_reversal or (0,) * rank
    rows = []
    for size, stride, dilation, base, (low, high), flag in zip(*parts, pads, reversed_, strict=True):
        row = MessageWriter().number(1, size).number(2, stride).number(3, low).number(4, high)
        rows.append(row.number(5, dilation).number(6, base).number(7, flag))
    w.message(15, MessageWriter().messages(1, rows))


def _labels(w: MessageWriter, numbers: ConvolutionDimensionNumbers) -> None:
    inner = MessageWriter()
    for field, value in zip(CONVOLUTION, astuple(numbers), strict=True):
        if isinstance(value, tuple):
            inner.numbers(field, value)
        else:
            inner.number(field, value)
    w.message(16, inner)


def _padding(w: MessageWriter, value: Sequence[tuple[int, int, int]]) -> None:
    rows = [MessageWriter().number(1, low).number(2, high).number(3, inner) for low, high, inner in value]
    w.message(21, MessageWriter().messages(1, rows))


def _groups(w: MessageWriter, value: Groups) -> None:
    w.messages(49, [MessageWriter().numbers(1, row) for row in value.rows])


def _pairs(w: MessageWriter, value: Groups) -> None:
    w.messages(52, [MessageWriter().number(1, source).number(2, target) for source, target in value.rows])


def _accuracy(w: MessageWriter, value: str) -> None:
    asked = accuracy_of_hlo(value) or Accuracy()
    if asked.mode != "TOLERANCE":
        w.message(91, MessageWriter().number(1, ("DEFAULT", "HIGHEST").index(asked.mode)))
        return
    inner = MessageWriter().double(1, asked.atol).double(2, asked.rtol).number(3, asked.ulps)
    w.message(91, MessageWriter().message(2, inner))


def _slices(w: MessageWriter, value: Sequence[tuple[int, int, int]]) -> None:
    w.messages(17, [MessageWriter().number(1, a).number(2, b).number(3, c) for a, b, c in value])


def _number(field: int) -> Callable[[MessageWriter, Any], object]:
    return lambda w, value: w.number(field, value)


def _numbers(field: int) -> Callable[[MessageWriter, Any], object]:
    return lambda w, value: w.numbers(field, value)


def _text(field: int) -> Callable[[MessageWriter, Any], object]:
    return lambda w, value: w.text(field, value)


def _word(field: int, table: Sequence[str]) -> Callable[[MessageWriter, Any], object]:
    return lambda w, value: w.number(field, table.index(value))


def _configuration(w: MessageWriter, value: str) -> None:
    w.text(43, HloCursor(value, "backend_config").unescape(value) if value[0] == '"' else value)


def _metadata(w: MessageWriter, value: dict[str, str]) -> None:
    inner = MessageWriter().text(2, value.get("op_name", "")).text(3, value.get("source_file", ""))
    w.message(7, inner.number(4, int(value.get("source_line", "0"))))


PLAIN: dict[str, Callable[[MessageWriter, Any], object]] = {
    "backend_config": _configuration,
    "batch_group_count": _number(58),
    "channel_id": _number(26),
    "custom_call_has_side_effect": _number(65),
    "custom_call_target": _text(28),
    "dim_labels": _labels,
    "dimensions": _numbers(14),
    "direction": _text(63),
    "distribution": _word(23, DISTRIBUTIONS),
    "dynamic_slice_sizes": _numbers(20),
    "epsilon": lambda w, value: w.float(24, value),
    "exponent_bits": _number(18),
    "feature_group_count": _number(50),
    "feature_index": _number(25),
    "fft_length": _numbers(32),
    "fft_type": _word(31, FFT_TYPES),
    "index": _number(13),
    "indices_are_sorted": _number(67),
    "infeed_config": _text(27),
    "iota_dimension": lambda w, value: w.numbers(14, [value]),
    "is_host_transfer": _number(47),
    "is_stable": _number(60),
    "k": _number(81),
    "largest": _number(85),
    "mantissa_bits": _number(19),
    "metadata": _metadata,
    "outfeed_config": _text(22),
    "padding": _padding,
    "outfeed_shape": lambda w, value: w.message(29, write_shape(value)),
    "replica_groups": _groups,
    "result_accuracy": _accuracy,
    "slice": _slices,
    "source_target_pairs": _pairs,
    "type": _text(72),
    "unique_indices": _number(69),
    "use_global_device_ids": _number(71),
    "window": _window,
}  # fmt: skip
"""Attributes that are a field of their own."""
