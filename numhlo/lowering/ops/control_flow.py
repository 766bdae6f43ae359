"""Ops that run other code (while, if, case, call, composite, custom_call), and optimization_barrier.

This module knows their types and meaning. What a named composite means lives in `composites`, what a custom-call
target does in `custom_calls`, and whether an op has effects in `effects`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import Function, Region, TensorType, TupleType, Type, tensor_type_of
from numhlo.lowering.ir.errors import ShapeError
from numhlo.lowering.ir.types import BOOL, ELEMENT_TYPES
from numhlo.lowering.ops.back_edges import current_hook
from numhlo.lowering.ops.composites import COMPOSITES
from numhlo.lowering.ops.custom_call_attributes import check_custom_call
from numhlo.lowering.ops.custom_calls import find_custom_call
from numhlo.lowering.ops.extents import declared_or, same_types
from numhlo.lowering.ops.primitive import RESULT_TYPES, Arrays, Attribute, Primitive, RegionFunction, Signature

PREDICATE = TensorType((), BOOL)
INDEX = TensorType((), ELEMENT_TYPES["i32"])
NAMESPACED = re.compile(r"[A-Za-z]\w*(\.[\w$]+)+")


class ControlFlow(Primitive):
    """An op that runs regions or functions, or orders them."""

    __slots__ = ()


def _argument_types(region: Region) -> list[Type]:
    return [value.type for value in region.arguments]


def _result_types(region: Region) -> list[Type]:
    return [value.type for value in region.returns]


def infer_while(signature: Signature) -> Sequence[Type]:
    """Check (C1), (C2); (C3) results have the operands' types."""
    signature.require(len(signature.regions) == 2, "needs a cond and a body")
    condition, body = signature.regions
    operands = list(signature.operands)
    signature.require(
        same_types(_argument_types(condition), operands), "(C1) cond must take values of the operands' types"
    )
    signature.require(_result_types(condition) == [PREDICATE], "(C1) cond must return one tensor<i1>")
    signature.require(same_types(_argument_types(body), operands), "(C2) body must take values of the operands' types")
    signature.require(
        same_types(_result_types(body), operands), "(C2) body must return values of the types that it takes"
    )
    return declared_or(signature, operands)


def evaluate_while(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Run ``body`` on the state for as long as ``cond`` holds."""
    condition, body = regions
    state: Arrays = tuple(arrays)
    del arrays
    hook = current_hook()
    while condition(*state)[0]:
        state = body(*state)
        if hook is not None:
            hook()
    return state


def infer_if(signature: Signature) -> Sequence[Type]:
    """Check (C1), (C2); (C3) results have the branches' types."""
    signature.require(list(signature.operands) == [PREDICATE], "(I1) pred must be a tensor<i1>")
    signature.require(len(signature.regions) == 2, "needs two branches")
    first, second = signature.regions
    signature.require(not first.arguments and not second.arguments, "(C1) branches take no arguments")
    signature.require(
        same_types(_result_types(first), _result_types(second)), "(C2) branches must return the same types"
    )
    return declared_or(signature, _result_types(first))


def evaluate_if(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Run one branch."""
    return regions[0 if arrays[0] else 1]()


def infer_case(signature: Signature) -> Sequence[Type]:
    """Check (C1) to (C3); (C4) results have the branches' types."""
    signature.require(list(signature.operands) == [INDEX], "(I1) index must be a tensor<i32>")
    signature.require(len(signature.regions) > 0, "(C1) needs at least one branch")
    signature.require(not any(r.arguments for r in signature.regions), "(C2) branches take no arguments")
    results = _result_types(signature.regions[0])
    signature.require(
        all(same_types(_result_types(r), results) for r in signature.regions),
        "(C3) branches must return the same types",
    )
    return declared_or(signature, results)


def evaluate_case(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Run the branch that ``index`` names, the last one where there is none."""
    index = int(arrays[0])
    return regions[index if 0 <= index < len(regions) else -1]()


def _infer_from_function(signature: Signature, attribute: str, rules: tuple[str, str]) -> Sequence[Type]:
    """Return a callee's result types; a callee whose body is not there yet (a forward reference) is believed."""
    function: Function = signature.attributes[attribute]
    signature.require(isinstance(function, Function), f"{attribute} must be a function")
    declared = signature.results
    if declared is not None and not function.body.ops and not function.body.returns:
        return list(declared)
    signature.require(list(signature.operands) == list(function.argument_types), rules[0])
    if declared is None:
        return list(function.result_types)
    signature.require(list(declared) == list(function.result_types), rules[1])
    return list(declared)


def infer_call(signature: Signature) -> Sequence[Type]:
    """Return the callee's result types."""
    rules = ("operands must have the types of the callee's arguments", "results must have the types of the callee's")
    return _infer_from_function(signature, "callee", rules)


def evaluate_call(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Run the callee."""
    results: Arrays = attributes["callee"](*arrays)
    return results


def infer_composite(signature: Signature) -> Sequence[Type]:
    """Check (C1), (C3); (C4) results have the decomposition's types. (C2) holds by construction."""
    name = signature.attributes["name"]
    signature.require(
        bool(NAMESPACED.fullmatch(name)), f"(C1) name must be namespaced, as in 'my_namespace.my_op', not {name!r}"
    )
    rules = ("(C3) inputs must have the decomposition's argument types", "(C4) results must have its result types")
    return _infer_from_function(signature, "decomposition", rules)


def evaluate_composite(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Run what is registered under the composite's name, else its decomposition."""
    known = COMPOSITES.get(attributes["name"])
    if known is not None:
        return known.evaluate(arrays, attributes, regions)
    results: Arrays = attributes["decomposition"](*arrays)
    return results


TYPED_CALL = 4
"""The ``api_version`` of calls whose configuration is a dictionary."""


def infer_custom_call(signature: Signature) -> Sequence[Type]:
    """Return the declared types: the implementation defines them. A configuration is text, but for typed calls."""
    version, options = signature.attributes["api_version"], signature.attributes["backend_config"]
    signature.require(0 <= version <= TYPED_CALL, f"api_version must be in [0, {TYPED_CALL}], not {version}")
    is_text = isinstance(options, str)
    kind = "text" if version != TYPED_CALL else "a dictionary"
    fits = options == "" or is_text == (version != TYPED_CALL)
    signature.require(fits, f"backend_config of api_version {version} must be {kind}")
    signature.require(signature.results is not None, "the result types must be given")
    check_custom_call(signature)
    return list(signature.results or ())


def evaluate_custom_call(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Run the function registered for the target; its results must have the declared types."""
    target, types = attributes["call_target_name"], attributes[RESULT_TYPES]
    results: list[Any] = list(find_custom_call(target)(arrays, attributes))
    for k, type in enumerate(types[: len(results)]):
        if isinstance(type, TensorType):
            results[k] = np.asarray(results[k])
    found = [tensor_type_of(a) if isinstance(a, np.ndarray) else t for a, t in zip(results, types, strict=False)]
    if len(results) != len(types) or not same_types(found, types):
        raise ShapeError(
            f"custom_call: the function registered for {target!r} returned ({', '.join(map(str, found))})",
            why=f"the op declares ({', '.join(map(str, types))})",
            fix="return arrays of the declared shapes and dtypes; they are attributes['result_types']",
        )
    return results


def infer_barrier(signature: Signature) -> Sequence[Type]:
    """(C1) results have the operands' types."""
    operands = list(signature.operands)
    signature.require(not any(isinstance(t, TupleType) for t in operands), "operands must be tensors or tokens")
    signature.require(list(signature.results or operands) == operands, "(C1) results must have the operands' types")
    return operands


def evaluate_barrier(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Return the operands."""
    return list(arrays)


WHILE = ControlFlow("while", infer_while, evaluate_while, ("*operand",), regions=("cond", "body"))
IF = ControlFlow("if", infer_if, evaluate_if, ("pred",), regions=("true_branch", "false_branch"))
CASE = ControlFlow("case", infer_case, evaluate_case, ("index",), regions=("*branches",))
CALL = ControlFlow(
    "call",
    infer_call,
    evaluate_call,
    ("*operands",),
    (Attribute("callee", "symbol"),),
    explicit_result=True,
    dialect="func",
)
COMPOSITE = ControlFlow(
    "composite",
    infer_composite,
    evaluate_composite,
    ("*inputs",),
    (
        Attribute("name", "string"),
        Attribute("composite_attributes", "dictionary", {}),
        Attribute("decomposition", "symbol"),
        Attribute("version", "i32", 0),
    ),
    explicit_result=True,
)
CUSTOM_CALL = ControlFlow(
    "custom_call",
    infer_custom_call,
    evaluate_custom_call,
    ("*inputs",),
    (
        Attribute("call_target_name", "string"),
        Attribute("has_side_effect", "bool", False),
        Attribute("backend_config", "any", ""),
        Attribute("api_version", "i32", 1),
        Attribute("called_computations", "any", ()),
        Attribute("operand_layouts", "any", None),
        Attribute("result_layouts", "any", None),
        Attribute("output_operand_aliases", "any", ()),
    ),
    explicit_result=True,
    has_effects=True,  # at worst; `effects.op_has_effects` reads has_side_effect
)
OPTIMIZATION_BARRIER = ControlFlow("optimization_barrier", infer_barrier, evaluate_barrier, ("*operand",))
