"""Instructions that run computations, and tuples, which carry several values through them."""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.lowering.hlo.record import Instruction
from numhlo.lowering.hlo.tables import WRITE, Bundle, leaves, reads
from numhlo.lowering.hlo.translator import Translator, attribute, rebuilt
from numhlo.lowering.hlo.writer import Writer, captured, is_constant
from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ir.types import BOOL
from numhlo.lowering.ops import control_flow, tuples

PREDICATE = TensorType((), BOOL)


@reads("tuple")
def read_tuple(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Group values."""
    return tuple(operands)


@reads("get-tuple-element", needs="index")
def read_get_tuple_element(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Return an element of a tuple."""
    index = i.attributes["index"]
    if len(operands) != 1 or not isinstance(operands[0], tuple):
        raise t.complaint(i, "get-tuple-element takes a tuple")
    if not 0 <= index < len(operands[0]):
        raise t.complaint(i, f"the tuple has {len(operands[0])} elements, none of index {index}")
    return operands[0][index]


@reads("call", needs="to_apply", may="is_composite")
def read_call(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Call a function."""
    return t.call(i, i.attributes["to_apply"], operands)


@reads("fusion", needs="calls", may="kind output_to_operand_aliasing")
def read_fusion(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Do what the fused computation does."""
    return t.inline(i, i.attributes["calls"], operands)


@reads("while", needs="condition body")
def read_while(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Loop over a state, which is mostly a tuple."""
    if len(operands) != 1:
        raise t.complaint(i, f"while takes one operand, not {len(operands)}")
    state = list(leaves(operands[0]))
    regions = [t.region(i, i.attributes[name]) for name in ("condition", "body")]
    types = [value.type for value in state]
    if any(
        [v.type for v in values] != types for values in (regions[0].arguments, regions[1].arguments, regions[1].returns)
    ):
        shown = ", ".join(map(str, types))
        raise t.complaint(i, f"condition and body must take a state of types ({shown}), and body must return it")
    results = t.make(i, control_flow.WHILE, *state, regions=regions)
    return restored(operands[0], results)


def restored(like: Bundle, values: Sequence[Value]) -> Bundle:
    """Return values as a bundle with the tuples of another one."""
    rest = iter(values)

    def build(bundle: Bundle) -> Bundle:
        return tuple([build(item) for item in bundle]) if isinstance(bundle, tuple) else next(rest)

    return build(like)


@reads("conditional", may="true_computation false_computation branch_computations")
def read_conditional(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Run a branch, each on an operand of its own."""
    names = ("true_computation", "false_computation")
    pair = [i.attributes[name] for name in names if name in i.attributes]
    branches = attribute(i, "branch_computations", tuple(pair))
    if not branches or len(pair) not in {0, 2} or len(operands) != len(branches) + 1:
        raise t.complaint(i, "conditional takes an index, and an operand for each of its branches")
    (chosen,) = t.arrays(i, operands[:1])
    regions = [t.branch(i, branch, [operand]) for branch, operand in zip(branches, operands[1:], strict=True)]
    is_if = chosen.type == PREDICATE
    if is_if and len(regions) != 2:
        raise t.complaint(i, "conditional of a pred has two branches")
    results = t.make(i, control_flow.IF if is_if else control_flow.CASE, chosen, regions=regions)
    root = branches[0].root
    shape = i.shape or (None if root is None else root.shape)
    if shape is None:
        raise t.complaint(i, "conditional needs the type of its result")
    if len(list(shape.leaves())) != len(results):
        raise t.complaint(i, f"conditional returns {len(results)} values, not {shape.type}")
    return rebuilt(shape, iter(results))


@reads("opt-barrier")
def read_barrier(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Keep values from being optimized together."""
    if len(operands) != 1:
        raise t.complaint(i, f"opt-barrier takes one operand, not {len(operands)}")
    values = list(leaves(operands[0]))
    return restored(operands[0], t.make(i, control_flow.OPTIMIZATION_BARRIER, *values))


@reads("after-all")
def read_after_all(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Join tokens."""
    if not operands:
        return t.one(i, tuples.CREATE_TOKEN)
    return t.one(i, tuples.AFTER_ALL, *leaves(tuple(operands)))


@reads("add-dependency")
def read_add_dependency(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Return the first operand: ops with effects stay in their order."""
    if len(operands) != 2:
        raise t.complaint(i, f"add-dependency takes two operands, not {len(operands)}")
    return operands[0]


# -- writing


@WRITE.register(tuples.TUPLE)
def write_tuple(w: Writer, op: Op) -> None:
    """Write the elements."""
    w.write(op, "tuple", op.operands)


@WRITE.register(tuples.GET_TUPLE_ELEMENT)
def write_get_tuple_element(w: Writer, op: Op) -> None:
    """Write the index."""
    w.write(op, "get-tuple-element", op.operands, [f"index={op.attributes['index']}"])


@WRITE.register(tuples.CREATE_TOKEN, tuples.AFTER_ALL)
def write_after_all(w: Writer, op: Op) -> None:
    """Write the tokens that are joined."""
    w.write(op, "after-all", op.operands)


@WRITE.register(control_flow.CALL)
def write_call(w: Writer, op: Op) -> None:
    """Write a call; several results are a tuple."""
    w.write(op, "call", op.operands, [f"to_apply={w.callee(op.attributes['callee'])}"])


@WRITE.register(control_flow.COMPOSITE)
def write_composite(w: Writer, op: Op) -> None:
    """Write a call of the decomposition."""
    w.write(op, "call", op.operands, [f"to_apply={w.callee(op.attributes['decomposition'])}"])


@WRITE.register(control_flow.WHILE)
def write_while(w: Writer, op: Op) -> None:
    """Write a loop whose state is a tuple: the operands, and what the regions use from around."""
    carried = [value for value in captured(op.regions) if not is_constant(value)]
    condition, body = op.regions
    state = w.pack([*op.operands, *carried], [v.type for v in [*op.operands, *carried]])
    names = [
        f"condition={w.closed_region(condition, carried)}",
        f"body={w.closed_region(body, carried, [*body.returns, *carried])}",
    ]
    types = ", ".join([w.spell(v.type) for v in [*op.operands, *carried]])
    w.unpack(op, w.line("while", f"({types})", [state], names, op.location))


@WRITE.register(control_flow.CASE, control_flow.IF)
def write_conditional(w: Writer, op: Op) -> None:
    """Write branches, each of which takes a tuple of what it uses from around."""
    packed, names = [], []
    for region in op.regions:
        carried = [value for value in captured([region]) if not is_constant(value)]
        packed.append(w.pack(carried, [v.type for v in carried]))
        names.append(w.closed_region(region, carried, region.returns))
    if op.definition is control_flow.IF:
        attributes = [f"true_computation={names[0]}", f"false_computation={names[1]}"]
    else:
        attributes = [f"branch_computations={{{', '.join(names)}}}"]
    w.write(op, "conditional", [op.operands[0], *packed], attributes, tuple=True)


@WRITE.register(control_flow.OPTIMIZATION_BARRIER)
def write_barrier(w: Writer, op: Op) -> None:
    """Write a barrier of a tuple of all operands."""
    types = [v.type for v in op.operands]
    w.write(op, "opt-barrier", [w.pack(op.operands, types)], tuple=True)
