"""Attributes of instructions: which there are, and how each is spelled.

An attribute that changes no value is kept as text. One that is not in the table is an error: an unknown attribute might
change what an instruction means.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.hlo.record import Computation
from numhlo.lowering.hlo.shapes import ShapeParser
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.dimension_numbers import ConvolutionDimensionNumbers

_LABELS = re.compile(r"([0-9bf?]+)_([0-9io?]+)->([0-9bf?]+)\Z", re.ASCII)
_SLICE = re.compile(r"\[\s*(\d{1,19})\s*:\s*(\d{1,19})\s*(?::\s*(\d{1,19})\s*)?\]", re.ASCII)
_WORD = re.compile(r"[A-Za-z_][\w-]*\Z", re.ASCII)
_PAD = re.compile(r"(-?\d{1,18})_(-?\d{1,18})(?:_(-?\d{1,18}))?\Z", re.ASCII)
_SIZE = re.compile(r"\d{1,18}\Z", re.ASCII)


@record(frozen=True)
class Window:
    """The ``window`` of a convolution or a reduction: one entry for each dimension that has windows."""

    size: tuple[int, ...] = ()
    stride: tuple[int, ...] = ()
    pad: tuple[tuple[int, int], ...] = ()
    lhs_dilate: tuple[int, ...] = ()
    rhs_dilate: tuple[int, ...] = ()
    rhs_reversal: tuple[int, ...] = ()


@record(frozen=True)
class Groups:
    """Groups of processes: rows of ``{{0,1},{2,3}}``."""

    rows: tuple[tuple[int, ...], ...]


class AttributeParser(ShapeParser):
    """Reads the value of an attribute by its name."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text, name)
        self.computations: dict[str, Computation] = {}

    def parse_attribute(self, name: str) -> Any:
        """Read an attribute's value; the cursor is behind the ``=``."""
        kind = KINDS.get(name)
        if kind is None:
            raise self.complaint(f"unknown attribute {name}", self.index - 2)
        return kind(self)

    # -- kinds

    def parse_integers(self) -> tuple[int, ...]:
        """Read ``{0,1}``."""
        self.expect("{")
        items: list[int] = []
        while not self.accept("}"):
            if items:
                self.expect(",")
            items.append(self.parse_integer())
        return tuple(items)

    def parse_float(self) -> float:
        """Read a number."""
        token = self.token
        try:
            value = float(token)
        except ValueError:
            raise self.error("a number") from None
        self.index += 1
        return value

    def parse_plain_word(self) -> str:
        """Read a word such as ``LT`` or ``rng_default``."""
        token = self.token
        if not _WORD.match(token):
            raise self.error("a word")
        self.index += 1
        return token

    def parse_computation(self) -> Computation:
        """Read the name of a computation that stands before."""
        index, name = self.index, self.parse_name()
        found = self.computations.get(name)
        if found is None:
            raise self.complaint(f"computation {name} is not defined before this", index)
        return found

    def parse_computations(self) -> tuple[Computation, ...]:
        """Read ``{%a, %b}``, or one name."""
        if not self.accept("{"):
            return (self.parse_computation(),)
        found: list[Computation] = []
        while not self.accept("}"):
            if found:
                self.expect(",")
            found.append(self.parse_computation())
        return tuple(found)

    def parse_words(self) -> tuple[str, ...]:
        """Read ``{highest,default}``."""
        self.expect("{")
        words: list[str] = []
        while not self.accept("}"):
            if words:
                self.expect(",")
            words.append(self.parse_plain_word())
        return tuple(words)

    def parse_slices(self) -> tuple[tuple[int, int, int], ...]:
        """Read ``{[0:6:2], [1:3]}``."""
        first = self.index
        text = self.parse_raw()
        inner, found = text[1:-1], [match.groups() for match in _SLICE.finditer(text)]
        if text[:1] != "{" or _SLICE.sub("", inner).replace(",", "").strip() or inner.count(",") > len(found):
            raise self.complaint("a slice is written as {[start:limit], [start:limit:stride]}", first)
        return tuple([(int(start), int(limit), int(stride or 1)) for start, limit, stride in found])

    def parse_padding(self) -> tuple[tuple[int, int, int], ...]:
        """Read ``0_1x2_3_1``: low, high and interior of each dimension."""
        first = self.index
        parts = [_PAD.match(part) for part in self.advance().split("x")]
        if None in parts:
            raise self.complaint("padding is written as low_high or low_high_interior, with an x between", first)
        return tuple([(int(m[1]), int(m[2]), int(m[3] or 0)) for m in parts if m is not None])

    def parse_window(self) -> Window:
        """Read ``{size=3x3 stride=2x2 pad=1_1x0_0}``."""
        found: dict[str, Any] = {}
        self.expect("{")
        while not self.accept("}"):
            index, name = self.index, self.parse_plain_word()
            if name in found or name not in Window.__dataclass_fields__:
                raise self.complaint(f"a window has no {name}, or has it already", index)
            self.expect("=")
            found[name] = self._parse_pads() if name == "pad" else self._parse_sizes()
        return Window(**found)

    def _parse_sizes(self) -> tuple[int, ...]:
        parts = self.token.split("x")
        if not all(_SIZE.match(part) for part in parts):
            raise self.error("numbers with an x between, such as 3x3")
        self.index += 1
        return tuple(map(int, parts))

    def _parse_pads(self) -> tuple[tuple[int, int], ...]:
        parts = [_PAD.match(part) for part in self.token.split("x")]
        if any(match is None or match[3] is not None for match in parts):
            raise self.error("pairs of numbers, such as 1_1x0_0")
        self.index += 1
        return tuple([(int(m[1]), int(m[2])) for m in parts if m is not None])

    def parse_labels(self) -> ConvolutionDimensionNumbers:
        """Read ``b01f_01io->b01f``."""
        match = _LABELS.match(self.token)
        if match is None:
            raise self.error("the dimensions of a convolution, such as b01f_01io->b01f")
        try:
            numbers = ConvolutionDimensionNumbers.from_letters(*match.groups())
        except ValueError as error:
            raise self.complaint(str(error)) from None
        self.index += 1
        return numbers

    def parse_groups(self) -> Groups:
        """Read ``{{0,1},{2,3}}``, ``{}``, or ``[2,4]<=[8]``."""
        if not self.at("{"):
            return self._parse_iota_groups()
        rows: list[tuple[int, ...]] = []
        self.expect("{")
        while not self.accept("}"):
            if rows:
                self.expect(",")
            rows.append(self.parse_integers())
        return Groups(tuple(rows))

    def _parse_iota_groups(self) -> Groups:
        """Read ``[2,4]<=[8]`` or ``[2,4]<=[4,2]T(1,0)``: the processes in order, transposed, in groups."""
        first = self.index
        groups = self._parse_extents("[", "]")
        self.expect("<=")
        extents = self._parse_extents("[", "]")
        axes = self._parse_extents("(", ")") if self.accept("T") else tuple(range(len(extents)))
        found = iota_groups(groups, extents, axes)
        if found is None:
            raise self.complaint(
                f"these groups must hold the same number of processes twice, up to {MOST_PROCESSES}", first
            )
        return found

    def _parse_extents(self, opening: str, closing: str) -> tuple[int, ...]:
        self.expect(opening)
        items = [self._parse_extent()]
        while self.accept(","):
            items.append(self._parse_extent())
        self.expect(closing)
        return tuple(items)

    def _parse_extent(self) -> int:
        value = self.parse_integer()
        if value < 0:
            raise self.error("a number that is not negative", self.index - 1)
        return value

    def parse_metadata(self) -> dict[str, Any]:
        """Read ``{op_name="f" source_file="x.py" source_line=3}``."""
        found: dict[str, Any] = {}
        self.expect("{")
        while not self.accept("}"):
            self.accept(",")
            name = self.parse_plain_word()
            self.expect("=")
            if self.token[:1] == '"':
                found[name] = self.parse_string()
            else:
                found[name] = self.parse_raw()
        return found


MOST_PROCESSES = 1 << 20
"""Processes that groups may name without writing each of them."""


def iota_groups(groups: Sequence[int], extents: Sequence[int], axes: Sequence[int]) -> Groups | None:
    """Return groups of the processes in order, in a shape, transposed, in rows; None where they don't fit.

    Examples
    --------
    >>> iota_groups((2, 2), (2, 2), (1, 0))
    Groups(rows=((0, 2), (1, 3)))
    """
    size = math.prod(extents)
    fits = 0 <= size <= MOST_PROCESSES and math.prod(groups) == size and sorted(axes) == list(range(len(extents)))
    if not fits or min([*groups, *extents], default=1) < 1:
        return None
    table = np.arange(size).reshape(extents).transpose(axes).reshape(groups[0] if groups else 1, -1)
    return Groups(tuple([tuple(row) for row in table.tolist()]))


Kind = Callable[[AttributeParser], Any]


def _kinds(*rows: tuple[Kind, str]) -> dict[str, Kind]:
    return {name: kind for kind, names in rows for name in names.split()}


COMMON = frozenset({
    "async_execution_thread", "backend_config", "control-predecessors", "execution_thread", "frontend_attributes",
    "metadata", "operand_precision", "origin", "original_value", "parameter_replication", "schedule",
    "sharding", "statistics",
})  # fmt: skip
"""Attributes that any instruction may have."""

KINDS: dict[str, Kind] = _kinds(
    (
        AttributeParser.parse_integers,
        "dimensions lhs_contracting_dims rhs_contracting_dims lhs_batch_dims rhs_batch_dims offset_dims "
        "collapsed_slice_dims start_index_map operand_batching_dims start_indices_batching_dims slice_sizes "
        "update_window_dims inserted_window_dims scatter_dims_to_operand_dims input_batching_dims "
        "scatter_indices_batching_dims dynamic_slice_sizes fft_length lhs_ragged_dims rhs_group_dims",
    ),
    (
        AttributeParser.parse_integer,
        "index index_vector_dim iota_dimension feature_group_count batch_group_count exponent_bits mantissa_bits "
        "feature_index channel_id k delta inferred_dimension cross_program_prefetch_index concat_dimension",
    ),
    (
        AttributeParser.parse_boolean,
        "is_stable indices_are_sorted unique_indices lower left_side unit_diagonal use_global_device_ids largest "
        "is_host_transfer custom_call_has_side_effect constrain_layout is_cross_program_prefetch is_reverse "
        "is_associative is_composite",
    ),
    (
        AttributeParser.parse_plain_word,
        "direction type algorithm distribution kind fft_type transpose_a api_version custom_call_schedule "
        "padding_type mode",
    ),
    (AttributeParser.parse_computation, "to_apply calls condition body select scatter true_computation"),
    (AttributeParser.parse_computation, "false_computation"),
    (AttributeParser.parse_computations, "branch_computations called_computations"),
    (AttributeParser.parse_string, "custom_call_target infeed_config outfeed_config async_execution_thread"),
    (AttributeParser.parse_string, "execution_thread"),
    (AttributeParser.parse_groups, "replica_groups source_target_pairs"),
    (AttributeParser.parse_float, "epsilon"),
    (AttributeParser.parse_window, "window"),
    (AttributeParser.parse_shape, "outfeed_shape"),
    (AttributeParser.parse_labels, "dim_labels"),
    (AttributeParser.parse_padding, "padding"),
    (AttributeParser.parse_slices, "slice"),
    (AttributeParser.parse_metadata, "metadata"),
    (AttributeParser.parse_words, "operand_precision"),
    (
        AttributeParser.parse_raw,
        "sharding frontend_attributes backend_config control-predecessors statistics origin original_value "
        "parameter_replication result_accuracy literal operand_layout_constraints output_to_operand_aliasing domain "
        "schedule",
    ),
)
"""How the value of each attribute is read."""
