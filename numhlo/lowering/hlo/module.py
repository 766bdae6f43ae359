"""HLO text to a StableHLO module, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numhlo.lowering.hlo.functions import is_written
from numhlo.lowering.hlo.parser import ENTRY_LAYOUTS, parse_records
from numhlo.lowering.hlo.proto_reader import read_proto
from numhlo.lowering.hlo.proto_writer import write_proto
from numhlo.lowering.hlo.shapes import spell
from numhlo.lowering.hlo.translator import DEVICES, LAYOUT_MODE, Translator
from numhlo.lowering.hlo.writer import Writer
from numhlo.lowering.ir import Function, Module, TensorType, Type
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops.memory_layouts import Layout
from numhlo.lowering.passes.expand_extension_ops import expand_extension_ops
from numhlo.lowering.passes.legalization import legalize
from numhlo.lowering.passes.refine_shapes import op_is_refined, refine_shapes
from numhlo.lowering.text.unregistered import is_declaration

BEGIN = "HloModule"
"""What HLO text begins with."""


def parse_hlo(text: str, name: str = "<string>") -> Module:
    """Return the StableHLO module that means what an HLO text does.

    Parameters
    ----------
    text : str
        As XLA prints it, before or after its passes; with all constants.
    name : str
        The text's name, for messages and for the ops' locations.

    Returns
    -------
    Module
        Its entry is ``main``, whose arguments and results are those of HLO, tuples flat.

    Raises
    ------
    ParseError
        With line, column, the line itself and a caret.

    Examples
    --------
    >>> parse_hlo("HloModule m  ENTRY e { p = f32[3] parameter(0)  ROOT r = f32[3] add(p, p) }").main
    <function @main(tensor<3xf32>) -> (tensor<3xf32>)>
    """
    return Translator(*parse_records(text, name)).translate()


def print_hlo(module: Module, *, locations: bool = False) -> str:
    """Return a module as HLO text, which XLA's own reader takes.

    Parameters
    ----------
    module : Module
        Left unchanged. Its main function becomes the entry computation.
    locations : bool
        End each instruction with its place in the source.

    Raises
    ------
    UnsupportedError
        If HLO has no instruction or type for something in it.

    Examples
    --------
    >>> print(print_hlo(parse_hlo("HloModule m  ENTRY e { ROOT p = f32[3] parameter(0) }")))
    HloModule m
    <BLANKLINE>
    ENTRY main.1 {
      ROOT parameter.2 = f32[3] parameter(0)
    }
    <BLANKLINE>
    """
    if not module.functions:
        raise UnsupportedError("a module without functions has no HLO text", why="HLO begins with an entry computation")
    main = legalize(expand_extension_ops(_with_known_shapes(module.main)), is_kept=is_written)
    _require_bodies(main)
    legal = Module([main], module.name)
    header = [f"{ours}={module.attributes[name]}" for ours, name in DEVICES.items() if name in module.attributes]
    return Writer(locations=locations).write_module(legal, [*header, *_entry_layouts(module.main)])


def _entry_layouts(main: Function) -> list[str]:
    """Return the part of the header that says how arguments and results lie in memory, where they say so."""
    groups = (main.argument_attributes, main.argument_types), (main.result_attributes, main.result_types)
    shown = [[_spelled(k, type, attributes) for k, type in enumerate(types)] for attributes, types in groups]
    if not any(LAYOUT_MODE in one for attributes, _ in groups for one in attributes):
        return []
    result = shown[1][0] if len(shown[1]) == 1 else f"({', '.join(shown[1])})"
    return [f"{ENTRY_LAYOUTS}={{({', '.join(shown[0])})->{result}}}"]


def _spelled(number: int, type: Type, attributes: Sequence[Mapping[str, Any]]) -> str:
    mode = attributes[number].get(LAYOUT_MODE, "default") if number < len(attributes) else "default"
    order = None if mode in ("default", "auto") else Layout.parse(mode).minor_to_major
    rank = type.ndim if isinstance(type, TensorType) else 0
    return spell(type, order if order is not None or not rank else tuple(range(rank))[::-1])


def parse_hlo_proto(data: bytes, name: str = "<proto>") -> Module:
    """Return the StableHLO module of an ``HloModuleProto``, an ``HloProto`` or an ``HloSnapshot``; as `parse_hlo`."""
    return Translator(*read_proto(data, name)).translate()


def write_hlo_proto(module: Module, *, locations: bool = False) -> bytes:
    """Return a module as the bytes of an ``HloModuleProto``; as `print_hlo`.

    Examples
    --------
    >>> module = parse_hlo("HloModule m  ENTRY e { ROOT p = f32[3] parameter(0) }")
    >>> parse_hlo_proto(write_hlo_proto(module)).main
    <function @main(tensor<3xf32>) -> (tensor<3xf32>)>
    """
    records, _ = parse_records(print_hlo(module, locations=locations))
    return write_proto(records)


def _with_known_shapes(main: Function) -> Function:
    """Return a function with its shapes computed, where ops compute shapes that HLO has in its types."""
    types = [type for type in main.argument_types if isinstance(type, TensorType) and type.is_static]
    computed = any(
        op_is_refined(op) and not is_written(op) for function in main.reached() for op in function.body.walk()
    )
    return refine_shapes(main, types) if computed and len(types) == len(main.argument_types) else main


def _require_bodies(main: Function) -> None:
    for function in main.reached():
        if is_declaration(function):
            raise UnsupportedError(
                f"@{function.name} can't be written as HLO",
                where=function.location,
                why="it has no body in this module",
            )
