"""Custom calls: targets, configurations in three spellings, layouts, and which results share an operand's memory."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from numhlo.lowering.hlo.record import Computation, Instruction, Shape
from numhlo.lowering.hlo.reduction import top_k
from numhlo.lowering.hlo.tables import WRITE, Bundle, reads
from numhlo.lowering.hlo.translator import Translator, attribute, rebuilt
from numhlo.lowering.hlo.writer import Writer, quoted
from numhlo.lowering.ir import Function, Op, TensorType, Value
from numhlo.lowering.ir.errors import ParseError, UnsupportedError
from numhlo.lowering.ops import control_flow
from numhlo.lowering.text.attribute_printer import print_dictionary
from numhlo.lowering.text.foreign import ForeignAttribute
from numhlo.lowering.text.parser import Parser

VERSIONS = (
    "API_VERSION_UNSPECIFIED",
    "API_VERSION_ORIGINAL",
    "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED",
    "API_VERSION_TYPED_FFI",
)
"""Names of ``api_version``, by StableHLO's numbers."""

TOP_K = "TopK"
"""The target that XLA's CPU and GPU compilers make of a topk; the comparator that it calls is theirs."""

_ALIAS = re.compile(r"\{([\d,\s]*)\}\s*:\s*\(\s*(\d{1,9})\s*,\s*\{([\d,\s]*)\}\s*(?:,\s*[a-z-]+\s*)?\)", re.ASCII)
_SPELLED_ALIAS = re.compile(
    r"#\w+\.output_operand_alias<output_tuple_indices=\[([\d,]*)\],operand_index=(\d+),"
    r"operand_tuple_indices=\[([\d,]*)\]>"
)
_LAYOUT = re.compile(r"dense<\[?([\d, ]*)\]?>")


@reads(
    "custom-call",
    needs="custom_call_target",
    may="operand_layout_constraints output_to_operand_aliasing api_version custom_call_has_side_effect "
    "called_computations custom_call_schedule window dim_labels feature_group_count batch_group_count padding_type "
    "literal",
)
def read_custom_call(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Call the target; a TopK is one."""
    target, shape, arrays = i.attributes["custom_call_target"], t.shape(i), list(operands)
    if any(isinstance(bundle, tuple) for bundle in arrays):
        raise t.complaint(i, f"a tuple as an operand of the custom call {target} has no meaning in StableHLO")
    types = list(shape.leaves())
    if target == TOP_K and len(arrays) == 1 and len(types) == 2 and isinstance(types[0], TensorType):
        extents = types[0].shape
        return top_k(t, i, t.arrays(i, arrays)[0], extents[-1] if extents else -1)
    word = attribute(i, "api_version", VERSIONS[1])
    if word not in VERSIONS:
        raise t.complaint(i, f"api_version must be one of {', '.join(VERSIONS)}, not {word}")
    called: tuple[Computation, ...] = attribute(i, "called_computations", ())
    version = VERSIONS.index(word)
    results = t.make(
        i,
        control_flow.CUSTOM_CALL,
        *arrays,
        results=types,
        call_target_name=target,
        has_side_effect=attribute(i, "custom_call_has_side_effect", False),
        backend_config=_configuration(t, i, version),
        api_version=version,
        called_computations=tuple([t.function(computation) for computation in called]),
        output_operand_aliases=_aliases(i),
        **_layouts(t, i, shape),
    )
    return rebuilt(shape, iter(results))


def _configuration(t: Translator, i: Instruction, version: int) -> Any:
    """Return a configuration: of typed calls a dictionary, of others text, as it stands or from between quotes."""
    text: str = attribute(i, "backend_config", '""')
    if text[0] == '"':
        text = t.unquoted(i, text)
    if version != control_flow.TYPED_CALL:
        return text
    if text in {"", "{}"}:
        return {} if text else ""
    try:
        parser = Parser(text, "backend_config")
        options = parser.parse_dictionary()
        if parser.token:
            raise parser.error("the end")
    except ParseError as error:
        raise t.complaint(i, f"backend_config of a typed call is no dictionary: {error.msg.splitlines()[0]}") from None
    return options


def _layouts(t: Translator, i: Instruction, shape: Shape) -> dict[str, Any]:
    """Return the layouts of operands and results, where the text constrains them."""
    text = attribute(i, "operand_layout_constraints", None)
    if text is None:
        return {}
    operands = t.parse_shapes(i, text)
    results = shape.elements or (shape,)
    if len(operands) != len(i.operands) or any(not isinstance(s.type, TensorType) for s in (*operands, *results)):
        return {}
    return {
        "operand_layouts": tuple([_layout(s) for s in operands]),
        "result_layouts": tuple([_layout(s) for s in results]),
    }


def _layout(shape: Shape) -> ForeignAttribute:
    assert isinstance(shape.type, TensorType)
    axes = shape.layout if shape.layout is not None else tuple(reversed(range(shape.type.ndim)))
    inner = f"[{', '.join(map(str, axes))}]" if axes else ""
    return ForeignAttribute(f"dense<{inner}> : tensor<{len(axes)}xindex>")


def aliases_of(text: str) -> list[tuple[tuple[int, ...], int, tuple[int, ...]]]:
    """Return which part of the results shares memory with which operand, and with which part of that.

    Examples
    --------
    >>> aliases_of("{{0}: (1, {}), {1,2}: (0, {3}, must-alias)}")
    [((0,), 1, ()), ((1, 2), 0, (3,))]
    """
    found = _ALIAS.findall(text)
    return [(_path(result), int(operand), _path(path)) for result, operand, path in found]


def _path(text: str) -> tuple[int, ...]:
    return tuple([int(part) for part in text.split(",") if part.strip()])


def _aliases(i: Instruction) -> tuple[ForeignAttribute, ...]:
    return tuple(
        [
            ForeignAttribute(
                f"#stablehlo.output_operand_alias<output_tuple_indices = {list(result)}, operand_index = {operand}, "
                f"operand_tuple_indices = {list(path)}>"
            )
            for result, operand, path in aliases_of(attribute(i, "output_to_operand_aliasing", ""))
        ]
    )


# -- writing


@WRITE.register(control_flow.CUSTOM_CALL)
def write_custom_call(w: Writer, op: Op) -> None:
    """Write the target, the configuration, and what the call says about memory."""
    given = op.attributes
    parts = [f"custom_call_target={quoted(given['call_target_name'])}"]
    types = [w.spell(value.type) for value in op.results]
    layouts = given.get("operand_layouts"), given.get("result_layouts")
    if layouts[0] is not None and layouts[1] is not None:
        operands = [_spelled(w, v, text) for v, text in zip(op.operands, layouts[0], strict=True)]
        parts.append(f"operand_layout_constraints={{{', '.join(operands)}}}")
        types = [_spelled(w, v, text) for v, text in zip(op.results, layouts[1], strict=True)]
    if given["called_computations"]:
        names = [w.callee(f) for f in given["called_computations"] if isinstance(f, Function)]
        parts.append(f"called_computations={{{', '.join(names)}}}")
    if given["has_side_effect"]:
        parts.append("custom_call_has_side_effect=true")
    aliases = [_SPELLED_ALIAS.match("".join(str(alias).split())) for alias in given["output_operand_aliases"]]
    if aliases:
        spelled = [f"{{{m[1]}}}: ({m[2]}, {{{m[3]}}})" for m in aliases if m is not None]
        parts.append(f"output_to_operand_aliasing={{{', '.join(spelled)}}}")
    parts += _written_configuration(op)
    if len(types) == 1:
        w.bind(op.results[0], w.line("custom-call", types[0], op.operands, parts, op.location))
        return
    name = w.line("custom-call", f"({', '.join(types)})", op.operands, parts, op.location)
    for number, value in enumerate(op.results):
        w.bind(value, w.line("get-tuple-element", types[number], [name], [f"index={number}"]))


def _spelled(w: Writer, value: Value, layout: Any) -> str:
    match = _LAYOUT.match(str(layout))
    axes = match[1].replace(" ", "") if match is not None else ""
    return f"{w.spell(value.type)}{{{axes}}}" if axes else w.spell(value.type)


def _written_configuration(op: Op) -> list[str]:
    """Return the configuration; JAX has that of typed calls in an attribute of mhlo."""
    typed = op.attributes.get("mhlo.backend_config")
    options = op.attributes["backend_config"] if typed is None else typed
    version = control_flow.TYPED_CALL if isinstance(options, Mapping) else op.attributes["api_version"]
    parts = [f"api_version={VERSIONS[version]}"] if version != 1 else []
    if isinstance(options, Mapping):
        return [*parts, f"backend_config={print_dictionary(options.items(), _no_symbol)}"]
    return [*parts, f"backend_config={quoted(options)}"] if options else parts


def _no_symbol(function: Function) -> str:
    raise UnsupportedError(f"the function @{function.name} in a configuration can't be written as HLO")
