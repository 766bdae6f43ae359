"""Records that say which dimension plays which part in gather, scatter, dot_general and convolution; and two more.

Each spells itself, with ``str``, as StableHLO text does: fields in the specification's order, empty lists and an
``index_vector_dim`` of 0 left out. This module knows spelling, and what follows from the fields alone; constraints live
with the ops that carry the records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from numhlo.lowering.ir.records import record

Axes = tuple[int, ...]


class _Spelled:
    """Spells a dataclass as ``#stablehlo.mnemonic<field = value, ...>``, leaving out empty lists and zeros."""

    __slots__ = ()
    mnemonic = ""

    def __str__(self) -> str:
        parts = []
        for item in fields(self):  # type: ignore[arg-type]
            value = getattr(self, item.name)
            if value:
                parts.append(f"{item.name} = {list(value) if isinstance(value, tuple) else value}")
        return f"#stablehlo.{self.mnemonic}<{', '.join(parts)}>"


class SpelledInFull:
    """Spells a dataclass as ``#stablehlo.mnemonic<field = value, ...>``; text must have all fields, too."""

    __slots__ = ()
    mnemonic = ""

    def __str__(self) -> str:
        values = [(item.name, getattr(self, item.name)) for item in fields(self)]  # type: ignore[arg-type]
        parts = [f"{name} = {str(value).lower() if isinstance(value, bool) else value}" for name, value in values]
        return f"#stablehlo.{self.mnemonic}<{', '.join(parts)}>"


@record(frozen=True)
class GatherDimensionNumbers(_Spelled):
    """Dimension numbers of ``gather``; field names are the specification's.

    Parameters
    ----------
    offset_dims : tuple of int
        Dimensions of the result that run through a window.
    collapsed_slice_dims : tuple of int
        Dimensions of the operand, 1 wide in a window, that the result drops.
    operand_batching_dims, start_indices_batching_dims : tuple of int
        Pairs of dimensions that advance together.
    start_index_map : tuple of int
        The operand's dimension of each component of an index vector.
    index_vector_dim : int
        Along which index vectors lie; the rank of the indices where these are scalars.

    Examples
    --------
    >>> str(GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,)))
    '#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0]>'
    """

    offset_dims: Axes = ()
    collapsed_slice_dims: Axes = ()
    operand_batching_dims: Axes = ()
    start_indices_batching_dims: Axes = ()
    start_index_map: Axes = ()
    index_vector_dim: int = 0

    mnemonic = "gather"

    def window_axes(self, rank: int) -> Axes:
        """Return the dimensions of an operand that the result's window dimensions run through, in their order."""
        dropped = {*self.collapsed_slice_dims, *self.operand_batching_dims}
        return tuple([k for k in range(rank) if k not in dropped])

    def as_scatter(self) -> ScatterDimensionNumbers:
        """Return the dimension numbers with which a scatter writes what a gather with these reads."""
        return ScatterDimensionNumbers(
            update_window_dims=self.offset_dims,
            inserted_window_dims=self.collapsed_slice_dims,
            input_batching_dims=self.operand_batching_dims,
            scatter_indices_batching_dims=self.start_indices_batching_dims,
            scatter_dims_to_operand_dims=self.start_index_map,
            index_vector_dim=self.index_vector_dim,
        )


@record(frozen=True)
class ScatterDimensionNumbers(_Spelled):
    """Dimension numbers of ``scatter``; field names are the specification's.

    Parameters
    ----------
    update_window_dims : tuple of int
        Dimensions of the updates that run through a window.
    inserted_window_dims : tuple of int
        Dimensions of the operand, 1 wide in a window, that the updates lack.
    input_batching_dims, scatter_indices_batching_dims : tuple of int
        Pairs of dimensions that advance together.
    scatter_dims_to_operand_dims : tuple of int
        The operand's dimension of each component of an index vector.
    index_vector_dim : int
        Along which index vectors lie; the rank of the indices where these are scalars.

    Examples
    --------
    >>> str(ScatterDimensionNumbers(inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,), index_vector_dim=1))
    '#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>'
    """

    update_window_dims: Axes = ()
    inserted_window_dims: Axes = ()
    input_batching_dims: Axes = ()
    scatter_indices_batching_dims: Axes = ()
    scatter_dims_to_operand_dims: Axes = ()
    index_vector_dim: int = 0

    mnemonic = "scatter"

    def as_gather(self) -> GatherDimensionNumbers:
        """Return the dimension numbers with which a gather reads what a scatter with these writes."""
        return GatherDimensionNumbers(
            offset_dims=self.update_window_dims,
            collapsed_slice_dims=self.inserted_window_dims,
            operand_batching_dims=self.input_batching_dims,
            start_indices_batching_dims=self.scatter_indices_batching_dims,
            start_index_map=self.scatter_dims_to_operand_dims,
            index_vector_dim=self.index_vector_dim,
        )

    def window_axes(self, rank: int) -> Axes:
        """Return the dimensions of an operand that the updates' window dimensions run through, in their order."""
        dropped = {*self.inserted_window_dims, *self.input_batching_dims}
        return tuple([k for k in range(rank) if k not in dropped])

    def window(self, rank: int, updates: Sequence[int]) -> Axes:
        """Return a window's extents in the operand's dimensions, from the updates' shape."""
        extents = dict(zip(self.window_axes(rank), [updates[k] for k in self.update_window_dims], strict=False))
        return tuple([extents.get(k, 1) for k in range(rank)])


@record(frozen=True)
class DotDimensionNumbers(_Spelled):
    """Dimension numbers of ``dot_general``; field names are the specification's.

    Parameters
    ----------
    lhs_batching_dimensions, rhs_batching_dimensions : tuple of int
        Which advance together, and come first in the result.
    lhs_contracting_dimensions, rhs_contracting_dimensions : tuple of int
        Over which products are summed.

    Examples
    --------
    >>> str(DotDimensionNumbers((), (), (1,), (0,)))
    '#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>'
    """

    lhs_batching_dimensions: Axes = ()
    rhs_batching_dimensions: Axes = ()
    lhs_contracting_dimensions: Axes = ()
    rhs_contracting_dimensions: Axes = ()

    mnemonic = "dot"


@record(frozen=True)
class DotAlgorithm(SpelledInFull):
    """The ``algorithm`` attribute of ``dot_general``; types are spelled as in text (``"tf32"``, ``"bf16"``, ``"f32"``).

    Examples
    --------
    >>> print(DotAlgorithm("f32", "f32", "f32"))
    #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32,
    lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1,
    allow_imprecise_accumulation = false>
    """

    lhs_precision_type: str
    rhs_precision_type: str
    accumulation_type: str
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False

    mnemonic = "dot_algorithm"

    @property
    def is_known(self) -> bool:
        """Return whether some hardware has the algorithm, as far as the official verifier knows.

        It knows one component only, where the specification splits operands into as many as the algorithm needs.
        """
        rounded = {self.lhs_precision_type, self.rhs_precision_type}
        products, total = self.num_primitive_operations, self.accumulation_type
        if all(name.startswith("f8") for name in rounded):
            return (total, products) == ("f32", 1) and self._has_one_component
        if self.allow_imprecise_accumulation or len(rounded) != 1:
            return False
        is_whole = products == 1 and self._has_one_component
        return products in _PRODUCTS.get((self.lhs_precision_type, total), ()) and (is_whole or products > 1)

    @property
    def _has_one_component(self) -> bool:
        return self.lhs_component_count == self.rhs_component_count == 1


_PRODUCTS = {
    ("f16", "f16"): {1},
    ("f16", "f32"): {1},
    ("bf16", "bf16"): {1},
    ("bf16", "f32"): {1, 3, 6, 9},
    ("tf32", "f32"): {1, 3},
    ("f32", "f32"): {1},
    ("f64", "f64"): {1},
}
"""By the type that operands are rounded to and the one of sums: how many products make one."""


@record(frozen=True)
class ChannelHandle(SpelledInFull):
    """The ``channel_handle`` of ops that speak to other processes.

    Parameters
    ----------
    handle : int
        Ops with one handle speak to each other.
    type : int
        1 from device to device, 2 from a device to its host, 3 from the host to a device; 0 says nothing.

    Examples
    --------
    >>> print(ChannelHandle(1, 2))
    #stablehlo.channel_handle<handle = 1, type = 2>
    """

    handle: int
    type: int

    mnemonic = "channel_handle"


@record(frozen=True)
class ConvolutionDimensionNumbers:
    """Dimension numbers of ``convolution``; field names are the specification's.

    Examples
    --------
    >>> numbers = ConvolutionDimensionNumbers(0, 3, (1, 2), 2, 3, (0, 1), 0, 3, (1, 2))
    >>> str(numbers)
    '#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>'
    >>> ConvolutionDimensionNumbers.from_letters("b01f", "01io", "b01f") == numbers
    True
    """

    input_batch_dimension: int
    input_feature_dimension: int
    input_spatial_dimensions: Axes
    kernel_input_feature_dimension: int
    kernel_output_feature_dimension: int
    kernel_spatial_dimensions: Axes
    output_batch_dimension: int
    output_feature_dimension: int
    output_spatial_dimensions: Axes

    @classmethod
    def from_letters(
        cls, input: Sequence[str], kernel: Sequence[str], output: Sequence[str]
    ) -> ConvolutionDimensionNumbers:
        """Return the record whose text has these letters and numbers.

        Raises
        ------
        ValueError
            If a list lacks a letter, has it twice, or its numbers are not 0, 1, ...
        """
        parts: list[int | Axes] = []
        for items, letters, rule in ((input, "bf", "(C13)"), (kernel, "io", "(C18)"), (output, "bf", "(C20)")):
            rank = len(items)
            wanted = [*letters, *map(str, range(rank - 2))]
            if rank < 2 or sorted(items) != sorted(wanted):
                raise ValueError(f"{rule} [{', '.join(items)}] must hold each of {', '.join(wanted)} once")
            parts += [items.index(letter) for letter in letters]
            parts.append(tuple([items.index(str(k)) for k in range(rank - 2)]))
        return cls(*parts)  # type: ignore[arg-type]

    @property
    def input(self) -> Axes:
        """Return the input's batch dimension, feature dimension, and spatial dimensions."""
        return (self.input_batch_dimension, self.input_feature_dimension, *self.input_spatial_dimensions)

    @property
    def kernel(self) -> Axes:
        """Return the kernel's input feature dimension, output feature dimension, and spatial dimensions."""
        return (
            self.kernel_input_feature_dimension,
            self.kernel_output_feature_dimension,
            *self.kernel_spatial_dimensions,
        )

    @property
    def output(self) -> Axes:
        """Return the output's batch dimension, feature dimension, and spatial dimensions."""
        return (self.output_batch_dimension, self.output_feature_dimension, *self.output_spatial_dimensions)

    def __str__(self) -> str:
        groups = [_letters(self.input, "bf"), _letters(self.kernel, "io"), _letters(self.output, "bf")]
        return f"#stablehlo.conv<{groups[0]}x{groups[1]}->{groups[2]}>"


def _letters(dims: Axes, letters: str) -> str:
    """Return what each dimension is, in order, as text in brackets."""
    names = dict(zip(dims, [*letters, *map(str, range(len(dims) - 2))], strict=True))
    return f"[{', '.join([names.get(dim, '?') for dim in range(len(dims))])}]"
