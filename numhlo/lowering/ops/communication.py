"""Ops between processes, and between a process and its host: collectives, send and recv, infeed and outfeed, ids.

This file knows their types. Outside a grid a program is one process, replica 0 of partition 0: the ids have a meaning
there, the others are refused by name. In a process of a grid they are run by whoever has a way to the others, which
says so here (`run_by`). What they mean among several processes is in `numhlo.lowering.process_grid`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import DYNAMIC, TensorType, TokenType, Type
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ir.types import ELEMENT_TYPES
from numhlo.lowering.ops.dimension_numbers import ChannelHandle
from numhlo.lowering.ops.extents import is_unique, same_extent, same_shape
from numhlo.lowering.ops.primitive import (
    Arrays,
    Attribute,
    EvaluateRule,
    InferRule,
    Primitive,
    RegionFunction,
    Signature,
)
from numhlo.lowering.ops.region_function import is_promotable
from numhlo.lowering.ops.type_rules import refine

TOKEN = TokenType()
WITHOUT_TOKEN = "without_token"
"""An attribute of sends, receives and feeds whose tokens have been taken out: they run in the program's order."""
ID = TensorType((), ELEMENT_TYPES["ui32"])
"""The type of a process's number."""


class ProcessId(Primitive):
    """Ops that say which process of the grid runs them."""

    __slots__ = ()


class Communication(Primitive):
    """Ops that need another process, or a host that feeds and reads this one."""

    __slots__ = ()


def infer_id(signature: Signature) -> tuple[Type, ...]:
    """Return the type of a process's number."""
    return refine(signature, ID, "the result must be a tensor<ui32>")


Runner = Callable[[str, Arrays, Mapping[str, Any], Sequence[RegionFunction]], "Arrays | None"]
_runners: list[Runner] = []


def run_by(runner: Runner) -> None:
    """Let a function run these ops where this thread is a process of a grid; elsewhere it returns None."""
    if runner not in _runners:
        _runners.append(runner)


def _found(name: str, *given: Any) -> Arrays | None:
    for runner in _runners:
        found = runner(name, *given)
        if found is not None:
            return found
    return None


def _numbered(name: str) -> EvaluateRule:
    def evaluate_id(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
        """Return which process this is; 0 where there is one."""
        return _found(name, arrays, attributes, regions) or (np.zeros((), ID.dtype),)

    return evaluate_id


def refusal(name: str) -> UnsupportedError:
    """Return the error of an op that needs another process."""
    return UnsupportedError(
        f"stablehlo.{name} can't be run",
        why="it exchanges data with other processes or the host, and a program that is called is one process",
        fix="run it in all of them, by numhlo.distributed.ProcessGrid; or export the program for one device",
    )


def received_shape(name: str, attributes: Mapping[str, Any], shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the shape of what a process has after a collective of arrays of a shape; None where the grid decides.

    Examples
    --------
    >>> received_shape("all_to_all", {"split_count": 2, "split_dimension": 0, "concat_dimension": 1}, (4, 3))
    (2, 6)
    """
    extents = list(shape)
    if name == "all_to_all":
        extents[attributes["split_dimension"]] //= attributes["split_count"]
        extents[attributes["concat_dimension"]] *= attributes["split_count"]
    elif name in {"all_gather", "reduce_scatter"}:
        groups, channel = attributes["replica_groups"], attributes["channel_handle"]
        is_split = channel is not None and channel.handle > 0 and attributes["use_global_device_ids"] is None
        if not isinstance(groups, np.ndarray) or not groups.size or is_split:
            return None  # a group of replicas has all their partitions
        if name == "all_gather":
            extents[attributes["all_gather_dim"]] *= groups.shape[1]
        else:
            extents[attributes["scatter_dimension"]] //= groups.shape[1]
    return tuple(extents)


def _exchanged(name: str) -> EvaluateRule:
    def evaluate(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
        """Exchange arrays with other processes, or with the host."""
        found = _found(name, arrays, attributes, regions)
        if found is None:
            raise refusal(name)
        return found

    return evaluate


# -- type rules

UNIQUE, KNOWN, CHANNEL, COMPUTATION, ELEMENTS = range(5)
NUMBERS = {
    "all_gather": ("(C2) ", "(C4) ", "(C5) ", "", "(C6) "),
    "all_reduce": ("(C1) ", "(C3) ", "(C4) ", "(C5) ", "(C7) "),
    "all_to_all": ("(C5) ", "(C7) ", "", "", "(C9) "),
    "reduce_scatter": ("(C3) ", "(C5) ", "(C6) ", "(C7) ", "(C9) "),
}
"""The constraints by which these ops say the same things."""


PLAIN = (int, float, np.generic, str, tuple, dict)
"""What attributes that say which processes are meant can't be: they are matrices, or text."""


def _number(signature: Signature, what: int) -> str:
    return NUMBERS.get(signature.name, ("",) * 5)[what]


def _group_size(signature: Signature) -> int:
    """Return how many replicas are in each group, where that is said: of processes there is a multiple."""
    groups = signature.attributes["replica_groups"]
    return int(groups.shape[1]) if isinstance(groups, np.ndarray) and groups.size else 1


def _check_groups(signature: Signature, *, may_be_short: bool = False) -> None:
    """Process ids in replica_groups are unique, and all; what is no matrix names the axes of a mesh.

    Rows that may be shorter than others are filled up with -1.
    """
    groups = signature.attributes.get("replica_groups")
    signature.require(not isinstance(groups, PLAIN), "replica_groups must be a matrix of i64")
    if not isinstance(groups, np.ndarray):
        return
    signature.require(groups.ndim == 2 and groups.dtype == np.int64, "replica_groups must be a matrix of i64")
    ids = [int(n) for n in groups.reshape(-1) if n != -1]
    signature.require(may_be_short or len(ids) == groups.size, "replica_groups must all be of one size, without -1")
    rule = f"{_number(signature, UNIQUE)}replica_groups must not name a process twice"
    signature.require(is_unique(ids), rule)
    known = sorted(ids) == list(range(len(ids)))
    rule = _number(signature, KNOWN)
    signature.require(known, f"{rule}replica_groups must hold all process ids from 0 to {max(ids, default=0)}")


def _check_channel(signature: Signature, least: int) -> None:
    """Ids are those of devices, over all replicas and partitions, only with a channel and with groups."""
    channel, groups = (signature.attributes.get(name) for name in ("channel_handle", "replica_groups"))
    signature.require(channel is None or isinstance(channel, ChannelHandle), "channel_handle must be a channel handle")
    if signature.attributes.get("use_global_device_ids") is None:
        return
    is_empty = isinstance(groups, np.ndarray) and groups.size == 0
    rule = _number(signature, CHANNEL)
    signature.require(not is_empty, f"{rule}use_global_device_ids needs replica_groups")
    number = 0 if channel is None else channel.handle
    signature.require(
        number >= least, f"{rule}use_global_device_ids needs a channel_handle from {least} on, not {number}"
    )


def _results(signature: Signature, count: int) -> list[TensorType]:
    declared = signature.results or ()
    signature.require(len(declared) == count, f"there must be {count} results")
    return [signature.result_tensor(k) for k in range(count)]


def _check_computation(signature: Signature, operands: Sequence[TensorType], types: Sequence[TensorType]) -> None:
    """The computation takes and gives scalars that the operands promote to."""
    (region,) = signature.regions
    scalars = [v.type for v in region.arguments]
    fits = len(scalars) == 2 and all(isinstance(t, TensorType) and t.ndim == 0 for t in scalars)
    returned = [v.type for v in region.returns]
    same = fits and scalars[0] == scalars[1] and returned == scalars[:1]
    rule = _number(signature, COMPUTATION)
    signature.require(same, f"{rule}computation must be of type (tensor<E>, tensor<E>) -> tensor<E>")
    element = scalars[0]
    assert isinstance(element, TensorType)
    fits = all(is_promotable(t.dtype, element.dtype) for t in operands)
    signature.require(fits, f"{rule}operands must promote to the computation's element type, {element.dtype.name}")
    results_agree = all(t.dtype == element.dtype for t in types)
    rule = _number(signature, ELEMENTS)
    signature.require(results_agree, f"{rule}results must have the computation's element type")


def _dimension(signature: Signature, name: str, rank: int, number: str) -> int:
    axis: int = signature.attributes[name]
    signature.require(0 <= axis < rank, f"{number} {name} must be in [0, {rank}), not {axis}")
    return axis


def _same_but(signature: Signature, operand: TensorType, result: TensorType, axes: set[int], number: str) -> None:
    """The result has the operand's rank, and its extents but along ``axes``."""
    kept = [(a, b) for k, (a, b) in enumerate(zip(operand.shape, result.shape, strict=False)) if k not in axes]
    fits = operand.ndim == result.ndim and all(same_extent(a, b) for a, b in kept)
    signature.require(fits, f"{number} the result must have the operand's extents but along {sorted(axes)}")


def _require_same_dtypes(signature: Signature, results: Sequence[TensorType]) -> None:
    same = all(o.dtype == r.dtype for o, r in zip(signature.tensors, results, strict=True))
    signature.require(same, f"{_number(signature, ELEMENTS)}results must have the operands' element types")


def infer_all_reduce(signature: Signature) -> Sequence[Type]:
    """(C1), (C4)-(C7) of all_reduce."""
    _check_groups(signature, may_be_short=True)
    _check_channel(signature, least=1)
    results = _results(signature, len(signature.operands))
    _check_computation(signature, signature.tensors, results)
    shapes = all(same_shape(o.shape, r.shape) for o, r in zip(signature.tensors, results, strict=True))
    signature.require(shapes, "(C6) results must have the operands' shapes")
    return results


def infer_reduce_scatter(signature: Signature) -> Sequence[Type]:
    """(C1), (C2), (C4)-(C9) of reduce_scatter."""
    _check_groups(signature)
    _check_channel(signature, least=1)
    (result,), operand = _results(signature, 1), signature.tensor(0)
    axis = _dimension(signature, "scatter_dimension", operand.ndim, "(C2)")
    _same_but(signature, operand, result, {axis}, "(C8)")
    whole, part, count = operand.shape[axis], result.shape[axis], _group_size(signature)
    fits = whole == DYNAMIC or whole % count == 0
    signature.require(fits, f"(C1) a group of {count} must divide the operand's extent of {whole}")
    divides = DYNAMIC in (whole, part) or (whole % (part * count) == 0 if part else whole == 0)
    signature.require(
        divides, f"(C8) the operand's extent must be a multiple of the result's, times {count} in a group"
    )
    _check_computation(signature, [operand], [result])
    return [result]


def infer_all_gather(signature: Signature) -> Sequence[Type]:
    """(C1)-(C6) of all_gather."""
    _check_groups(signature)
    _check_channel(signature, least=0)
    results = _results(signature, len(signature.operands))
    for operand, result in zip(signature.tensors, results, strict=True):
        axis = _dimension(signature, "all_gather_dim", operand.ndim, "(C1)")
        _same_but(signature, operand, result, {axis}, "(C6)")
        part, whole, count = operand.shape[axis], result.shape[axis], _group_size(signature)
        divides = DYNAMIC in (whole, part) or (whole % (part * count) == 0 if part else whole == 0)
        rule = f"(C6) the result's extent must be a multiple of the operand's, times {count} in a group"
        signature.require(divides, rule)
    _require_same_dtypes(signature, results)
    return results


def infer_all_to_all(signature: Signature) -> Sequence[Type]:
    """(C1)-(C9) of all_to_all."""
    _check_groups(signature)
    _check_channel(signature, least=0)
    count = signature.attributes["split_count"]
    signature.require(count > 0, "(C4) split_count must be positive")
    results = _results(signature, len(signature.operands))
    for operand, result in zip(signature.tensors, results, strict=True):
        split = _dimension(signature, "split_dimension", operand.ndim, "(C1)")
        joined = _dimension(signature, "concat_dimension", operand.ndim, "(C3)")
        extent = operand.shape[split]
        signature.require(extent == DYNAMIC or extent % count == 0, "(C2) split_count must divide the split dimension")
        shape = list(operand.shape)
        shape[split] = DYNAMIC if extent == DYNAMIC else extent // count
        shape[joined] = DYNAMIC if shape[joined] == DYNAMIC else shape[joined] * count
        signature.require(same_shape(shape, result.shape), f"(C9) the result must have the shape {tuple(shape)}")
    _require_same_dtypes(signature, results)
    groups = signature.attributes["replica_groups"]
    fits = not isinstance(groups, np.ndarray) or groups.size == 0 or groups.shape[1] == count
    signature.require(fits, f"(C8) replica_groups must be groups of {count} processes, the split_count")
    return results


def infer_broadcast(signature: Signature) -> Sequence[Type]:
    """(C1)-(C3) of collective_broadcast; groups may leave processes out."""
    groups = signature.attributes["replica_groups"]
    if isinstance(groups, np.ndarray):
        signature.require(groups.ndim == 2 and groups.dtype == np.int64, "replica_groups must be a matrix of i64")
        signature.require(is_unique(groups.ravel().tolist()), "(C1) replica_groups must not name a process twice")
        signature.require(bool((groups >= 0).all()), "(C2) process ids start at 0")
    _check_channel(signature, least=0)
    return infer_unchanged(signature)


def infer_unchanged(signature: Signature) -> Sequence[Type]:
    """Results are like the operands: (C3) of collective_broadcast, (C5) of collective_permute."""
    results = _results(signature, len(signature.operands))
    same = all(o == r for o, r in zip(signature.tensors, results, strict=True))
    number = "(C5)" if signature.name == "collective_permute" else "(C3)"
    signature.require(same, f"{number} results must have the operands' types")
    return results


def infer_sum(signature: Signature) -> Sequence[Type]:
    """Results are like the operands; processes are named anyhow."""
    groups = signature.attributes["replica_groups"]
    is_known = groups.dtype == np.int64 if isinstance(groups, np.ndarray) else not isinstance(groups, PLAIN)
    signature.require(is_known, "replica_groups must be of i64")
    return infer_unchanged(signature)


def infer_permute(signature: Signature) -> Sequence[Type]:
    """(C1)-(C5) of collective_permute."""
    pairs = signature.attributes["source_target_pairs"]
    signature.require(not isinstance(pairs, PLAIN), "source_target_pairs must be a matrix of i64")
    if isinstance(pairs, np.ndarray):
        signature.require(pairs.dtype == np.int64, "source_target_pairs must be a matrix of i64")
        signature.require(pairs.ndim == 2 and pairs.shape[1] == 2, "(C1) source_target_pairs must be pairs")
        signature.require(all(is_unique(column) for column in pairs.T.tolist()), "(C2), (C3) pairs must be unique")
        signature.require(bool((pairs >= 0).all()), "(C4) process ids start at 0")
    _check_channel(signature, least=0)
    return infer_unchanged(signature)


def _check_direction(signature: Signature, host: int) -> None:
    """A channel to or from the host is of type ``host``, one between devices of type 1."""
    _check_channel(signature, least=0)
    channel = signature.attributes.get("channel_handle")
    if channel is not None:
        is_host = signature.attributes["is_host_transfer"]
        wanted = host if is_host else 1
        rule = f"(C1) the channel's type must be {wanted} where is_host_transfer is {str(is_host).lower()}"
        signature.require(channel.type == wanted, rule)


def infer_send(signature: Signature) -> Sequence[Type]:
    """(C1) of send."""
    _check_direction(signature, host=2)
    return infer_sending(signature)


def infer_recv(signature: Signature) -> Sequence[Type]:
    """(C1) of recv."""
    _check_direction(signature, host=3)
    return infer_receiving(signature)


def infer_sending(signature: Signature) -> Sequence[Type]:
    """Tensors and a token are taken, a token is given."""
    if signature.attributes.get(WITHOUT_TOKEN) is not None:
        return []
    signature.require(list(signature.operands)[-1:] == [TOKEN], "the last operand must be a token")
    are_tensors = all(isinstance(t, TensorType) for t in signature.operands[:-1])
    signature.require(are_tensors, "only the last operand is a token; the others must be tensors")
    signature.require(list(signature.results or ()) == [TOKEN], "the result must be a token")
    return [TOKEN]


def infer_receiving(signature: Signature) -> Sequence[Type]:
    """A token is taken, tensors and a token are given."""
    declared = list(signature.results or ())
    if signature.attributes.get(WITHOUT_TOKEN) is not None:
        return declared
    signature.require(list(signature.operands) == [TOKEN], "the operand must be a token")
    none, some, last = ("(C1) ", "(C2) ", "(C3) ") if signature.name == "infeed" else ("(C2) ", "(C3) ", "(C4) ")
    signature.require(bool(declared), f"{none}there must be a result, the token")
    signature.require(declared[-1:] == [TOKEN], f"{last}the last result must be a token")
    are_tensors = all(isinstance(t, TensorType) and t.is_static for t in declared[:-1])
    signature.require(are_tensors, f"{some}only the last result is a token; the others must be tensors of known shape")
    return declared


# -- records

_CHANNEL = Attribute("channel_handle", "record:channel_handle", None)
_GROUPS = (Attribute("replica_groups", "any"), _CHANNEL)
_GLOBAL = Attribute("use_global_device_ids", "unit", None)
_FLAT = Attribute(WITHOUT_TOKEN, "unit", None)
_HOST = (Attribute("channel_handle", "record:channel_handle"), Attribute("is_host_transfer", "bool", False), _FLAT)


def _define(
    name: str,
    infer: InferRule,
    operands: tuple[str, ...],
    attributes: tuple[Attribute, ...],
    regions: tuple[str, ...] = (),
) -> Communication:
    return Communication(
        name, infer, _exchanged(name), operands, attributes, regions, explicit_result=True, has_effects=True
    )


PARTITION_ID = ProcessId("partition_id", infer_id, _numbered("partition_id"))
REPLICA_ID = ProcessId("replica_id", infer_id, _numbered("replica_id"))

ALL_REDUCE = _define("all_reduce", infer_all_reduce, ("*operands",), (*_GROUPS, _GLOBAL), ("computation",))
CROSS_REPLICA_SUM = _define("cross-replica-sum", infer_sum, ("operand",), (Attribute("replica_groups", "any"),))
REDUCE_SCATTER = _define(
    "reduce_scatter",
    infer_reduce_scatter,
    ("operand",),
    (Attribute("scatter_dimension", "i64"), *_GROUPS, _GLOBAL),
    ("computation",),
)
ALL_GATHER = _define(
    "all_gather", infer_all_gather, ("*operands",), (Attribute("all_gather_dim", "i64"), *_GROUPS, _GLOBAL)
)
ALL_TO_ALL = _define(
    "all_to_all",
    infer_all_to_all,
    ("*operands",),
    (*(Attribute(name, "i64") for name in ("split_dimension", "concat_dimension", "split_count")), *_GROUPS),
)
COLLECTIVE_BROADCAST = _define("collective_broadcast", infer_broadcast, ("*operands",), _GROUPS)
COLLECTIVE_PERMUTE = _define(
    "collective_permute", infer_permute, ("operand",), (Attribute("source_target_pairs", "any"), _CHANNEL)
)
SEND = _define("send", infer_send, ("*inputs",), _HOST)
RECV = _define("recv", infer_recv, ("*token",), _HOST)
INFEED = _define(
    "infeed",
    infer_receiving,
    ("*token",),
    (Attribute("infeed_config", "string", ""), Attribute("layout", "any", None), _FLAT),
)
OUTFEED = _define("outfeed", infer_sending, ("*inputs",), (Attribute("outfeed_config", "string", ""), _FLAT))
