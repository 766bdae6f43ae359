"""Groups of processes by axes of a mesh: how stablehlo and vhlo encode them, and what they are written from.

Both dialects have the same attributes, with other codes; names are strings in one and attributes in the other. They are
kept as text. The order of fields is that which jaxlib was seen to write.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.lowering.bytecode.cursor import ByteCursor
from numhlo.lowering.bytecode.decoder import Decoder, attribute_code
from numhlo.lowering.ir import Function
from numhlo.lowering.text.attribute_printer import print_name, print_string
from numhlo.lowering.text.dense_printer import print_dense
from numhlo.lowering.text.foreign import ForeignAttribute

AXES, AXIS, MESH, MESH_AXIS = (
    f"#stablehlo.{name}" for name in ("replica_group_mesh_axes", "axis_ref", "mesh", "mesh_axis")
)
VHLO_SUB_AXIS, VHLO_AXIS, VHLO_AXES, VHLO_MESH_AXIS, VHLO_MESH = range(21, 26)
"""Codes of vhlo."""


# -- reading


def _axes(decoder: Decoder, cursor: ByteCursor, axes: Callable[[ByteCursor], tuple[Any, ...]]) -> Any:
    mesh = decoder.read_attribute(cursor)
    name = mesh.name if isinstance(mesh, Function) else mesh
    spelled = f"@{print_name(name)}" if isinstance(name, str) else str(name)
    return ForeignAttribute(f"{AXES}<mesh = {spelled}, axes = [{', '.join(map(str, axes(cursor)))}]>")


def _sub_axis(decoder: Decoder, cursor: ByteCursor) -> Any:
    return ForeignAttribute(f"({cursor.signed()}){cursor.signed()}")


def _axis(decoder: Decoder, cursor: ByteCursor, name: str, has_part: int) -> Any:
    part = f", sub_axis_info = {decoder.read_attribute(cursor)}" if has_part else ""
    return ForeignAttribute(f"{AXIS}<name = {print_string(name)}{part}>")


def _mesh_axis(cursor: ByteCursor, name: str) -> Any:
    return ForeignAttribute(f"{MESH_AXIS}<name = {print_string(name)}, size = {cursor.signed()}>")


def _mesh(cursor: ByteCursor, axes: tuple[Any, ...], devices: Any) -> Any:
    listed = ", ".join(str(axis).removeprefix(MESH_AXIS) for axis in axes)
    if not isinstance(devices, np.ndarray | None):
        cursor.fail("the numbers of devices must be a constant")
    order = "" if devices is None else f", device_ids={print_dense(devices)}"
    return ForeignAttribute(f"{MESH}<axes=[{listed}]{order}>")


@attribute_code("vhlo", VHLO_MESH)
def decode_vhlo_mesh(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode a mesh of vhlo."""
    axes = decoder.read_tuple(cursor)
    number, has_devices = cursor.flagged()
    return _mesh(cursor, axes, decoder.attribute(number) if has_devices else None)


@attribute_code("stablehlo", 22)
def decode_mesh(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode a mesh."""
    axes = decoder.read_tuple(cursor)
    return _mesh(cursor, axes, decoder.read_attribute(cursor) if cursor.byte() else None)


attribute_code("vhlo", VHLO_SUB_AXIS)(_sub_axis)
attribute_code("vhlo", VHLO_AXIS)(lambda d, c: _axis(d, c, d.read_string(c), c.number()))
attribute_code("vhlo", VHLO_AXES)(lambda d, c: _axes(d, c, d.read_tuple))
attribute_code("vhlo", VHLO_MESH_AXIS)(lambda d, c: _mesh_axis(c, d.read_string(c)))
attribute_code("stablehlo", 18)(lambda d, c: _axes(d, c, d.read_attributes))
attribute_code("stablehlo", 19)(_sub_axis)
attribute_code("stablehlo", 20)(lambda d, c: _axis(d, c, d.container.string(c), c.byte()))
attribute_code("stablehlo", 21)(lambda d, c: _mesh_axis(c, d.container.string(c)))


# -- what they are written from

_STRING = r'"((?:[^"\\]|\\.)*)"'
_WHOLE = re.compile(rf"{AXES}<mesh = (.+), axes = \[(.*)\]>\Z", re.DOTALL)
_ONE_AXIS = re.compile(rf"(?:{AXIS})?<name = {_STRING}(?:, sub_axis_info = \((\d+)\)(\d+))?>", re.DOTALL)
_ONE_SIZE = re.compile(rf"(?:{MESH_AXIS})?<name = {_STRING}, size = (\d+)>", re.DOTALL)
_ONE_MESH = re.compile(rf"{MESH}<axes ?= ?\[(.*?)\](?:, device_ids ?= ?(dense<.*>.*))?>\Z", re.DOTALL)


def taken_apart(text: str) -> tuple[str, list[tuple[str, str, str]]] | None:
    """Return the text of a mesh, and of each axis its name and the numbers of a part, empty where it is whole.

    Examples
    --------
    >>> taken_apart('#stablehlo.replica_group_mesh_axes<mesh = @m, axes = [#stablehlo.axis_ref<name = "x">]>')
    ('@m', [('x', '', '')])
    """
    match = _WHOLE.match(text)
    return None if match is None else (match[1], [(m[1], m[2] or "", m[3] or "") for m in _ONE_AXIS.finditer(match[2])])


def mesh_taken_apart(text: str) -> tuple[list[tuple[str, int]], str] | None:
    """Return the axes of a mesh with their sizes, and the text of its devices' numbers, which may be empty.

    Examples
    --------
    >>> mesh_taken_apart('#stablehlo.mesh<axes=[<name = "x", size = 2>]>')
    ([('x', 2)], '')
    """
    match = _ONE_MESH.match(text)
    return None if match is None else ([(m[1], int(m[2])) for m in _ONE_SIZE.finditer(match[1])], match[2] or "")
