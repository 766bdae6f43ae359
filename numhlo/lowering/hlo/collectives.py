"""Instructions of several processes: collectives, and what is sent and received."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.lowering.hlo.attributes import Groups
from numhlo.lowering.hlo.layout import braced
from numhlo.lowering.hlo.record import Instruction
from numhlo.lowering.hlo.reduction import one_or_tuple
from numhlo.lowering.hlo.tables import WRITE, Bundle, leaves, reads
from numhlo.lowering.hlo.translator import Translator, attribute, rebuilt
from numhlo.lowering.hlo.writer import Writer, quoted
from numhlo.lowering.ir import Op, TensorType, TupleType, Type, Value
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops import communication, elementwise, layout
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.dimension_numbers import ChannelHandle
from numhlo.lowering.text.foreign import UNIT

BETWEEN_DEVICES, TO_HOST, FROM_HOST = 1, 2, 3
"""Types of channels."""


def _groups(t: Translator, i: Instruction, name: str = "replica_groups") -> np.ndarray:
    """Return groups as a matrix, short rows filled with -1."""
    rows = attribute(i, name, Groups(())).rows
    width = max(map(len, rows), default=0)
    if len(rows) * width > MOST_CELLS:
        raise t.complaint(i, f"{name} of more than {MOST_CELLS} numbers")
    filled = [[*row, *[-1] * (width - len(row))] for row in rows]
    return np.array(filled, np.int64).reshape(len(rows), width)


MOST_CELLS = 1 << 22
"""Numbers in the matrix of groups, short ones filled."""


def _channel(i: Instruction) -> dict[str, Any]:
    number = attribute(i, "channel_id", None)
    return {"channel_handle": None if number is None else ChannelHandle(number, BETWEEN_DEVICES)}


def _global(i: Instruction) -> dict[str, Any]:
    return {"use_global_device_ids": UNIT if attribute(i, "use_global_device_ids", False) else None}


def _axis(t: Translator, i: Instruction) -> int:
    dimensions: tuple[int, ...] = i.attributes["dimensions"]
    if len(dimensions) != 1:
        raise t.complaint(i, f"{i.opcode} has one dimension")
    return dimensions[0]


def _types(t: Translator, i: Instruction) -> list[Type]:
    return list(t.shape(i).leaves())


_MEMBERS = "replica_groups channel_id use_global_device_ids constrain_layout"


@reads("all-reduce", needs="to_apply", may=_MEMBERS)
def read_all_reduce(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Reduce over the processes of a group."""
    arrays, region = t.arrays(i, operands), t.region(i, i.attributes["to_apply"])
    types = [v.type for v in arrays] if i.shape is None else _types(t, i)
    options = {"replica_groups": _groups(t, i), **_channel(i), **_global(i)}
    return one_or_tuple(t.make(i, communication.ALL_REDUCE, *arrays, regions=[region], results=types, **options))


@reads("all-gather", needs="dimensions", may=_MEMBERS)
def read_all_gather(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Put the arrays of a group one behind the other."""
    options = {"replica_groups": _groups(t, i), **_channel(i), **_global(i)}
    arrays, axis = t.arrays(i, operands), _axis(t, i)
    return one_or_tuple(
        t.make(i, communication.ALL_GATHER, *arrays, results=_types(t, i), all_gather_dim=axis, **options)
    )


@reads("reduce-scatter", needs="dimensions to_apply", may=_MEMBERS)
def read_reduce_scatter(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Reduce over the processes of a group, and keep a part each."""
    region, axis = t.region(i, i.attributes["to_apply"]), _axis(t, i)
    options = {"replica_groups": _groups(t, i), **_channel(i), **_global(i), "scatter_dimension": axis}
    (x,) = t.arrays(i, operands, 1)
    return one_or_tuple(t.make(i, communication.REDUCE_SCATTER, x, regions=[region], results=_types(t, i), **options))


@reads("all-to-all", may=f"dimensions {_MEMBERS}")
def read_all_to_all(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Exchange parts: of one array along a dimension, or several arrays, one for each process of the group."""
    arrays, groups = t.arrays(i, operands), _groups(t, i)
    if "dimensions" in i.attributes:
        if len(arrays) != 1 or not groups.size:
            raise t.complaint(i, "all-to-all along a dimension takes one array, and needs replica_groups")
        return _exchange(t, i, arrays[0], _axis(t, i), groups)
    if not arrays or any(v.type != arrays[0].type for v in arrays):
        raise t.complaint(i, "all-to-all takes arrays of one type, one for each process of the group")
    part = arrays[0].tensor.with_shape((1, *arrays[0].tensor.shape))
    parts = [t.one(i, layout.RESHAPE, v, result=part) for v in arrays]
    groups = groups if groups.size else np.arange(len(arrays), dtype=np.int64).reshape(1, -1)
    whole = _exchange(t, i, t.one(i, layout.CONCATENATE, *parts, dimension=0), 0, groups)
    rest, results = part.shape[1:], []
    for k in range(len(arrays)):
        starts, limits = (k, *[0] * len(rest)), (k + 1, *rest)
        names: dict[str, Any] = {"start_indices": starts, "limit_indices": limits, "strides": (1,) * part.ndim}
        results.append(t.one(i, layout.RESHAPE, t.one(i, layout.SLICE, whole, **names), result=arrays[0].type))
    return tuple(results)


def _exchange(t: Translator, i: Instruction, x: Value, axis: int, groups: np.ndarray) -> Value:
    options = {"replica_groups": groups, **_channel(i), "split_count": groups.shape[1]}
    return t.one(i, communication.ALL_TO_ALL, x, result=x.type, split_dimension=axis, concat_dimension=axis, **options)


@reads("collective-broadcast", may=_MEMBERS)
def read_collective_broadcast(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Give all processes of a group the array of the first."""
    arrays = t.arrays(i, operands)
    types, options = [v.type for v in arrays], {"replica_groups": _groups(t, i), **_channel(i)}
    return one_or_tuple(t.make(i, communication.COLLECTIVE_BROADCAST, *arrays, results=types, **options))


@reads("collective-permute", needs="source_target_pairs", may=f"{_MEMBERS} slice_sizes")
def read_collective_permute(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Give arrays to other processes."""
    (x,) = t.arrays(i, operands, 1)
    pairs = _groups(t, i, "source_target_pairs")
    pairs = pairs if pairs.size else pairs.reshape(0, 2)
    return t.one(i, communication.COLLECTIVE_PERMUTE, x, result=x.type, source_target_pairs=pairs, **_channel(i))


# -- send, recv and the host


def _host_channel(i: Instruction, host: int) -> dict[str, Any]:
    is_host = attribute(i, "is_host_transfer", False)
    handle = ChannelHandle(attribute(i, "channel_id", 0), host if is_host else BETWEEN_DEVICES)
    return {"channel_handle": handle, "is_host_transfer": is_host}


@reads("send", may="channel_id is_host_transfer")
def read_send(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Send at once; ``send-done`` returns the token."""
    if len(operands) != 2:
        raise t.complaint(i, "send takes a value and a token")
    results = [operands[1].type] if isinstance(operands[1], Value) else []
    token = t.make(i, communication.SEND, *leaves(tuple(operands)), results=results, **_host_channel(i, TO_HOST))
    return (operands[0], t.state(i), token[0])


@reads("send-done", may="channel_id is_host_transfer")
def read_send_done(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Return the token."""
    return _of_transfer(t, i, operands)[2]


@reads("recv", may="channel_id is_host_transfer")
def read_recv(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Receive at once; ``recv-done`` returns the value and the token."""
    shape = t.shape(i)
    if len(shape.elements) != 3 or len(operands) != 1:
        raise t.complaint(i, "recv takes a token, and returns a value, its state and a token")
    value, _, token = shape.elements
    types = [*value.leaves(), token.type]
    results = t.make(i, communication.RECV, *leaves(tuple(operands)), results=types, **_host_channel(i, FROM_HOST))
    return (rebuilt(value, iter(results[:-1])), t.state(i), results[-1])


@reads("recv-done", may="channel_id is_host_transfer")
def read_recv_done(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Return the value and the token."""
    value, _, token = _of_transfer(t, i, operands)
    return (value, token)


def _of_transfer(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> tuple[Bundle, Bundle, Bundle]:
    if len(operands) != 1 or not isinstance(operands[0], tuple) or len(operands[0]) != 3:
        raise t.complaint(i, f"{i.opcode} takes what {i.opcode.removesuffix('-done')} returns")
    value, state, token = operands[0]
    return value, state, token


@reads("infeed", may="infeed_config")
def read_infeed(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Take a value from the host."""
    shape, config = t.shape(i), attribute(i, "infeed_config", "")
    results = t.make(
        i, communication.INFEED, *leaves(tuple(operands)), results=list(shape.leaves()), infeed_config=config
    )
    return rebuilt(shape, iter(results))


@reads("outfeed", may="outfeed_config outfeed_shape")
def read_outfeed(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Give a value to the host."""
    config, values = attribute(i, "outfeed_config", ""), list(leaves(tuple(operands)))
    results = [values[-1].type] if values else []
    return t.one(i, communication.OUTFEED, *values, result=results[0] if results else None, outfeed_config=config)


# -- writing


def _rows(groups: Any, op: Op) -> str:
    """Return groups as text; a number below 0 fills a short row."""
    if not isinstance(groups, np.ndarray):
        raise UnsupportedError(
            f"{op.definition.name} over the axes of a mesh can't be written as HLO", where=op.location
        )
    return f"{{{','.join([braced([n for n in row if n >= 0]) for row in groups.tolist()])}}}"


def _options(op: Op) -> list[str]:
    parts = [f"replica_groups={_rows(op.attributes['replica_groups'], op)}"]
    channel = op.attributes.get("channel_handle")
    if channel is not None and channel.handle > 0:
        parts.append(f"channel_id={channel.handle}")
    if op.attributes.get("use_global_device_ids"):
        parts.append("use_global_device_ids=true")
    return parts


@WRITE.register(communication.ALL_REDUCE)
def write_all_reduce(w: Writer, op: Op) -> None:
    """Write groups and the reducer."""
    w.write(op, "all-reduce", op.operands, [*_options(op), f"to_apply={w.region(op, op.regions[0])}"])


@WRITE.register(communication.CROSS_REPLICA_SUM)
def write_sum(w: Writer, op: Op) -> None:
    """Write the reduction with a reducer that adds."""
    scalar = op.result.tensor.with_shape(())
    b = FunctionBuilder("sum", ())
    reducer = b.region([scalar, scalar], lambda x, y: [b.op(elementwise.ADD, x, y)])
    w.write(op, "all-reduce", op.operands, [*_options(op), f"to_apply={w.region(op, reducer)}"])


@WRITE.register(communication.REDUCE_SCATTER)
def write_reduce_scatter(w: Writer, op: Op) -> None:
    """Write groups, the dimension and the reducer."""
    parts = [*_options(op), f"dimensions={{{op.attributes['scatter_dimension']}}}"]
    w.write(op, "reduce-scatter", op.operands, [*parts, f"to_apply={w.region(op, op.regions[0])}"])


@WRITE.register(communication.ALL_GATHER)
def write_all_gather(w: Writer, op: Op) -> None:
    """Write groups and the dimension."""
    w.write(op, "all-gather", op.operands, [*_options(op), f"dimensions={{{op.attributes['all_gather_dim']}}}"])


@WRITE.register(communication.ALL_TO_ALL)
def write_all_to_all(w: Writer, op: Op) -> None:
    """Write an exchange along one dimension, whose parts another dimension is made of if the op says so."""
    given = op.attributes
    split, joined, count = (given[name] for name in ("split_dimension", "concat_dimension", "split_count"))
    for operand, result in zip(op.operands, op.results, strict=True):
        type = operand.tensor
        name = w.line("all-to-all", w.spell(type), [operand], [*_options(op), f"dimensions={{{split}}}"], op.location)
        if split != joined:
            name = _rejoined(w, name, type, (split, joined, count))
        w.bind(result, name)


def _rejoined(w: Writer, name: str, type: TensorType, numbers: tuple[int, int, int]) -> str:
    """Move the parts of one dimension to the front of another's elements."""
    split, joined, count = numbers
    shape = list(type.shape)
    shape[split : split + 1] = [count, shape[split] // count]
    name = w.line("reshape", w.spell(type.with_shape(tuple(shape))), [name])
    order = [k for k in range(len(shape)) if k != split]
    order.insert(order.index(joined if joined < split else joined + 1), split)
    turned = type.with_shape(tuple([shape[k] for k in order]))
    name = w.line("transpose", w.spell(turned), [name], [f"dimensions={braced(order)}"])
    final = list(type.shape)
    final[split], final[joined] = final[split] // count, final[joined] * count
    return w.line("reshape", w.spell(type.with_shape(tuple(final))), [name])


@WRITE.register(communication.COLLECTIVE_BROADCAST)
def write_collective_broadcast(w: Writer, op: Op) -> None:
    """Write groups."""
    w.write(op, "collective-broadcast", op.operands, _options(op))


@WRITE.register(communication.COLLECTIVE_PERMUTE)
def write_collective_permute(w: Writer, op: Op) -> None:
    """Write from whom to whom."""
    parts = [f"source_target_pairs={_rows(op.attributes['source_target_pairs'], op)}"]
    channel = op.attributes.get("channel_handle")
    if channel is not None and channel.handle > 0:
        parts.append(f"channel_id={channel.handle}")
    w.write(op, "collective-permute", op.operands, parts)


def _sent(w: Writer, op: Op) -> tuple[str, Type]:
    """Return the name and the type of what an op sends: one value, or a tuple."""
    values = op.operands[:-1]
    if len(values) == 1:
        return w.name(values[0]), values[0].type
    types = [v.type for v in values]
    return w.pack(values, types), TupleType(tuple(types))


def _transfer(op: Op) -> list[str]:
    is_host = op.attributes["is_host_transfer"]
    return [f"channel_id={op.attributes['channel_handle'].handle}", *(["is_host_transfer=true"] if is_host else [])]


@WRITE.register(communication.SEND)
def write_send(w: Writer, op: Op) -> None:
    """Write a send and its end."""
    name, type = _sent(w, op)
    state = w.line("send", f"({w.spell(type)}, u32[], token[])", [name, op.operands[-1]], _transfer(op), op.location)
    w.write(op, "send-done", [state], _transfer(op))


@WRITE.register(communication.RECV)
def write_recv(w: Writer, op: Op) -> None:
    """Write a recv and its end."""
    values = [v.type for v in op.results[:-1]]
    type = w.spell(values[0] if len(values) == 1 else TupleType(tuple(values)))
    state = w.line("recv", f"({type}, u32[], token[])", op.operands, _transfer(op), op.location)
    _received(w, op, w.line("recv-done", f"({type}, token[])", [state], _transfer(op)), type)


def _received(w: Writer, op: Op, name: str, type: str) -> None:
    """Name the results of an op that returns a value, or a tuple of several, and a token."""
    inner = w.line("get-tuple-element", type, [name], ["index=0"])
    for number, value in enumerate(op.results[:-1]):
        part = inner
        if len(op.results) != 2:
            part = w.line("get-tuple-element", w.spell(value.type), [inner], [f"index={number}"])
        w.bind(value, part)
    w.bind(op.results[-1], w.line("get-tuple-element", "token[]", [name], ["index=1"]))


@WRITE.register(communication.INFEED)
def write_infeed(w: Writer, op: Op) -> None:
    """Write what the host gives."""
    values = [v.type for v in op.results[:-1]]
    type = w.spell(values[0] if len(values) == 1 else TupleType(tuple(values)))
    config = op.attributes["infeed_config"]
    parts = [f"infeed_config={quoted(config)}"] if config else []
    _received(w, op, w.line("infeed", f"({type}, token[])", op.operands, parts, op.location), type)


@WRITE.register(communication.OUTFEED)
def write_outfeed(w: Writer, op: Op) -> None:
    """Write what is given to the host."""
    name, type = _sent(w, op)
    config = op.attributes["outfeed_config"]
    parts = [f"outfeed_shape={w.spell(type)}", *([f"outfeed_config={quoted(config)}"] if config else [])]
    w.write(op, "outfeed", [name, op.operands[-1]], parts)
