"""Ops without a definition: read, kept, printed back in the generic form, refused when run.

Records made here are not in `PRIMITIVES`. Functions that are declared without a body hold one such op, too, so that
every walk over a program works on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn
from weakref import WeakValueDictionary

from numhlo.lowering.ir import Function, Op, Region, Type
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops.chlo_types import ELEMENTWISE, infer_chlo
from numhlo.lowering.ops.extension_ops import find_extension_op
from numhlo.lowering.ops.primitive import PRIMITIVES, Primitive, Signature, Unlisted

_ELSEWHERE = {
    "call": "func.call",
    "mhlo.topk": "chlo.top_k",
    **{f"mhlo.{name}": f"chlo.{name}" for name in ELEMENTWISE},
    **{f"mhlo.{name}": f"stablehlo.{name}" for name in ("uniform_quantize", "uniform_dequantize")},
}
"""Full names of what is written without its dialect, or was of another one before StableHLO."""


class Unregistered(Unlisted):
    """The record of an op that numhlo knows by name only."""

    __slots__ = ("__weakref__",)


class ChloOp(Unregistered):
    """An op of the dialect chlo, which has forms of its own."""

    __slots__ = ()


def infer_declared(signature: Signature) -> Sequence[Type]:
    """Return the result types that the text declares."""
    signature.require(signature.results is not None, "the result types of an unknown op must be given")
    return list(signature.results or ())


_RECORDS: WeakValueDictionary[str, Unregistered] = WeakValueDictionary()
"""The records of unknown ops by name, for as long as an op has them: texts may name any number of such ops."""


def unregistered(full_name: str) -> Unregistered:
    """Return the record of an unknown op, the same one for the same name for as long as any op has it.

    Examples
    --------
    >>> unregistered("other.op").dialect
    'other'
    """
    known = _RECORDS.get(full_name)
    return _RECORDS.setdefault(full_name, _new_record(full_name)) if known is None else known


def _new_record(full_name: str) -> Unregistered:
    dialect, dot, name = full_name.partition(".")

    def evaluate(*_: Any) -> NoReturn:
        raise UnsupportedError(f"{full_name} can't be run: numhlo has no definition of it")

    record = ChloOp if dialect == "chlo" else Unregistered
    return record(
        name if dialect and dot else full_name,  # a name may begin with a dot, which is no end of a dialect's
        infer_chlo if dialect == "chlo" else infer_declared,
        evaluate,
        ("*operands",),
        (),
        regions=("*regions",),
        explicit_result=True,
        has_effects=True,
        dialect=dialect if dot else "",
    )


def find_definition(name: str) -> Primitive:
    """Return the definition of an op by its name with dialect; a stand-in for one that numhlo does not know.

    Examples
    --------
    >>> find_definition("mhlo.add"), find_definition("other.add").dialect
    (<Elementwise add>, 'other')
    """
    dialect, _, mnemonic = name.partition(".")
    found = PRIMITIVES.get(mnemonic)
    if found is not None and dialect in {found.dialect, "mhlo" if found.dialect == "stablehlo" else ""}:
        return found
    extension = find_extension_op(name)
    if extension is not None:
        return extension
    full_name = _ELSEWHERE.get(name, name)
    return unregistered(full_name) if full_name == name else find_definition(full_name)


DECLARATION = unregistered("func.declaration")
"""The only op in the body of a function whose body is somewhere else; its results are the function's."""


def fill_declaration(function: Function, arguments: Sequence[Type], results: Sequence[Type]) -> None:
    """Give an empty function a signature but no body of its own."""
    body = function.body = Region(arguments)
    op = Op(DECLARATION, body.arguments, {}, (), results)
    body.ops.append(op)
    body.returns.extend(op.results)


def is_declaration(function: Function) -> bool:
    """Return whether a function has no body."""
    return bool(function.body.ops) and function.body.ops[0].definition is DECLARATION
