"""How the dialect sdy (Shardy) encodes its attributes: shardings and meshes, which are kept as text.

The codes and the order of fields are those that jaxlib was seen to write.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numhlo.lowering.bytecode.cursor import ByteCursor
from numhlo.lowering.bytecode.decoder import Decoder, attribute_code
from numhlo.lowering.text.attribute_printer import print_string
from numhlo.lowering.text.foreign import ForeignAttribute

DIALECT = "sdy"
MESH, SHARDING = "#sdy.mesh", "#sdy.sharding"


def _listed(items: Iterable[Any]) -> str:
    return ", ".join(map(str, items))


def _inner(attribute: Any, name: str) -> str:
    """Return an attribute's text without its name."""
    return str(attribute).removeprefix(name)


@attribute_code(DIALECT, 0)
def decode_manual_axes(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode the axes of a mesh that a program cares for itself."""
    names = [print_string(str(name)) for name in decoder.read_attributes(cursor)]
    return ForeignAttribute(f"#sdy<manual_axes{{{_listed(names)}}}>")


@attribute_code(DIALECT, 1)
def decode_mesh_axis(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode an axis of a mesh."""
    return ForeignAttribute(f"{print_string(decoder.container.string(cursor))}={cursor.signed()}")


@attribute_code(DIALECT, 2)
def decode_mesh(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode a mesh: its axes, and the devices' numbers where they are not in order."""
    axes, devices = decoder.read_attributes(cursor), cursor.signed_numbers()
    order = f", device_ids=[{_listed(devices)}]" if devices else ""
    return ForeignAttribute(f"{MESH}<[{_listed(axes)}]{order}>")


@attribute_code(DIALECT, 3)
def decode_sub_axis(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode a part of an axis."""
    return ForeignAttribute(f":({cursor.signed()}){cursor.signed()}")


@attribute_code(DIALECT, 4)
def decode_axis(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode an axis that a sharding names, or a part of it."""
    name = print_string(decoder.container.string(cursor))
    number, has_part = cursor.flagged()
    return ForeignAttribute(f"{name}{decoder.attribute(number) if has_part else ''}")


@attribute_code(DIALECT, 5)
def decode_dimension(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode how one dimension is spread: over axes, over further ones where it is open, with a priority."""
    axes = [*map(str, decoder.read_attributes(cursor))]
    axes += [] if cursor.byte() else ["?"]
    priority, has_priority = cursor.flagged()
    return ForeignAttribute(f"{{{_listed(axes)}}}{f'p{priority}' if has_priority else ''}")


def _sharding(decoder: Decoder, cursor: ByteCursor, more: tuple[str, ...]) -> Any:
    mesh = decoder.read_attribute(cursor)
    spelled = f"@{mesh.name}" if hasattr(mesh, "body") else _inner(mesh, "#sdy.")
    text = f"{SHARDING}<{spelled}, [{_listed(decoder.read_attributes(cursor))}]"
    for name in more:
        axes = decoder.read_attributes(cursor)
        text += f", {name}={{{_listed(axes)}}}" if axes else ""
    return ForeignAttribute(f"{text}>")


@attribute_code(DIALECT, 6)
def decode_sharding(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode a sharding: a mesh, how each dimension is spread, and axes that hold copies."""
    return _sharding(decoder, cursor, ("replicated",))


@attribute_code(DIALECT, 15)
def decode_unreduced_sharding(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode a sharding with axes over which a sum is still to be taken."""
    return _sharding(decoder, cursor, ("replicated", "unreduced"))


@attribute_code(DIALECT, 7)
def decode_shardings(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode a sharding for each value."""
    listed = _listed(_inner(item, SHARDING) for item in decoder.read_attributes(cursor))
    return ForeignAttribute(f"#sdy.sharding_per_value<[{listed}]>")


@attribute_code(DIALECT, 11)
def decode_axis_list(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode a list of axes."""
    return ForeignAttribute(f"#sdy<axis_ref_list{{{_listed(decoder.read_attributes(cursor))}}}>")


@attribute_code(DIALECT, 12)
def decode_axis_lists(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode lists of axes, one a dimension."""
    listed = _listed(_inner(item, "#sdy<axis_ref_list").removesuffix(">") for item in decoder.read_attributes(cursor))
    return ForeignAttribute(f"#sdy<list_of_axis_ref_lists[{listed}]>")


# -- rules


def _factor(number: int) -> str:
    """Return how text calls a factor: by the letters from i to z, and then by z with a number."""
    return chr(ord("i") + number) if 0 <= number < LETTERS else f"z_{number - LETTERS + 1}"


LETTERS = ord("z") - ord("i") + 1
"""Factors that have a letter of their own."""


@attribute_code(DIALECT, 8)
def decode_dimension_mapping(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode the factors that a dimension is made of."""
    return ForeignAttribute("".join(map(_factor, cursor.signed_numbers())))


@attribute_code(DIALECT, 9)
def decode_tensor_mapping(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode the factors of all dimensions of a tensor."""
    return ForeignAttribute(f"[{_listed(decoder.read_attributes(cursor))}]")


@attribute_code(DIALECT, 10)
def decode_rule(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode how shardings of an op's operands and results belong together."""
    sizes = cursor.signed_numbers()
    operands, results = (_listed(decoder.read_attributes(cursor)) for _ in range(2))
    text = f"({operands})->({results}) {{{_listed(f'{_factor(k)}={size}' for k, size in enumerate(sizes))}}}"
    for name in ("reduction", "need_replication", "permutation", "blocked_propagation"):
        factors = cursor.signed_numbers()
        text += f" {name}={{{_listed(map(_factor, factors))}}}" if factors else ""
    return ForeignAttribute(f"#sdy.op_sharding_rule<{text}{', custom' if cursor.byte() else ''}>")


@attribute_code(DIALECT, 13)
def decode_exchange(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode axes that go from one dimension to another."""
    axes = _listed(decoder.read_attributes(cursor))
    return ForeignAttribute(f"{{{axes}}}: {cursor.signed()}->{cursor.signed()}")


@attribute_code(DIALECT, 14)
def decode_exchanges(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode several axes that go from one dimension to another."""
    return ForeignAttribute(f"#sdy<all_to_all_param_list[{_listed(decoder.read_attributes(cursor))}]>")
