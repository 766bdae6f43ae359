"""What each op between processes wants of a transport: who takes part, and which parts of whose buffers go where.

A collective is described for one process, and the description says what every member of its group gets: in phases, in
each of which a member's outputs are made of what all members have. A transport may let each member do its share, or one
of them the shares of all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np

from numhlo.backend.communication.reducers import Reducer
from numhlo.lowering.ir.errors import CommunicationError
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.primitive import RegionFunction
from numhlo.lowering.ops.process_groups import GridShape, Group, Process, groups_of

Arrays = Sequence[np.ndarray]
Part = tuple[slice, ...]

HOST_OPS = frozenset({"infeed", "outfeed"})
TRANSFERS = HOST_OPS | {"send", "recv"}
"""Ops that don't wait for each other in a group."""


@record(frozen=True)
class Post:
    """What one member of a group brings: buffers to read, buffers to write, and what is to be done with them."""

    inputs: Arrays
    outputs: Arrays
    phases: Sequence[Phase]


Phase = Callable[[Sequence["Post"], int], None]
"""``phase(posts, index)`` writes some outputs of member ``index``, of what all have brought or made before."""


@record(frozen=True, eq=False)
class Collective:
    """A collective as one process of a group takes part in it.

    Attributes
    ----------
    name : str
        The op's.
    channel : int
    group : tuple of Process
    index : int
        This process's place in the group.
    phases : sequence of callable
    together : callable or None
        Does all phases of all members, where there is a quicker way than one after the other.
    reducer : Reducer or None
    axis, concat_axis : int
        Along which operands are joined or cut, and along which an ``all_to_all`` joins.
    sources : tuple of int or None
        Of what is only passed on, by whom each member is sent something: a place in the group, None for zeros.
    """

    name: str
    channel: int
    group: Group
    index: int
    phases: Sequence[Phase]
    together: Callable[[Sequence[Post]], None] | None = None
    reducer: Reducer | None = None
    axis: int = 0
    concat_axis: int = 0
    sources: tuple[int | None, ...] = ()

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """Return what members that meet have in common."""
        return self.name, self.channel, self.group, len(self.phases)


@record(frozen=True)
class Transfer:
    """A send, a recv, an infeed or an outfeed."""

    name: str
    channel: int
    with_host: bool


def transfer_of(name: str, attributes: Mapping[str, Any]) -> Transfer:
    """Return what an op of `TRANSFERS` says."""
    if name in HOST_OPS:
        return Transfer(name, 0, with_host=True)
    return Transfer(name, attributes["channel_handle"].handle, bool(attributes.get("is_host_transfer", False)))


def is_received(transfer: Transfer) -> bool:
    """Return whether a transfer brings arrays.

    Examples
    --------
    >>> is_received(Transfer("infeed", 0, with_host=True))
    True
    """
    return transfer.name in {"recv", "infeed"}


def collective_of(
    name: str,
    attributes: Mapping[str, Any],
    place: tuple[Process, GridShape],
    body: RegionFunction | None,
    dtype: np.dtype,
) -> Collective | None:
    """Return how a process takes part in a collective; None where it does not, and gets zeros.

    Parameters
    ----------
    name : str
        The op's.
    attributes : mapping
        The op's.
    place : (Process, GridShape)
        Which process this is, of which grid.
    body : callable or None
        Combines elements, where the op does.
    dtype : numpy.dtype
        Of what it combines.

    Raises
    ------
    CommunicationError
        If the groups are those of another grid.
    """
    process, shape = place
    channel = attributes.get("channel_handle")
    handle = 0 if channel is None else channel.handle
    if name == "collective_permute":
        return _permutation(handle, groups_of(name, attributes, shape), process)
    group = next((g for g in groups_of(name, attributes, shape) if process in g), ())
    if not group:
        return None
    index, count = group.index(process), len(group)
    if name == "collective_broadcast":
        return Collective(name, handle, group, index, [partial(_pass_on, (0,) * count)], sources=(0,) * count)
    if name == "all_gather":
        axis = attributes["all_gather_dim"]
        return Collective(name, handle, group, index, [partial(_gather, axis)], axis=axis)
    if name == "all_to_all":
        axis, joined = attributes["split_dimension"], attributes["concat_dimension"]
        _require_split(attributes, count)
        return Collective(name, handle, group, index, [partial(_exchange, axis, joined)], axis=axis, concat_axis=joined)
    reducer = Reducer(body, dtype)
    if name == "reduce_scatter":
        axis = attributes["scatter_dimension"]
        return Collective(
            name, handle, group, index, [partial(_reduce_part, reducer, axis)], reducer=reducer, axis=axis
        )
    if getattr(body, "captured", None):
        return Collective(name, handle, group, index, [partial(_reduce_all, reducer)], reducer=reducer)
    phases = [partial(phase, reducer) for phase in (_reduce_share, _copy_shares)]
    return Collective(name, handle, group, index, phases, partial(_reduce_once, reducer), reducer)


def _permutation(channel: int, pairs: Sequence[Group], process: Process) -> Collective | None:
    """Return a permutation among all that send and receive, directly or by way of others, with a process."""
    reached, waiting = {process}, [process]
    for one in waiting:
        for pair in pairs:
            if one in pair:
                new = [other for other in pair if other not in reached]
                reached.update(new)
                waiting += new
    own = [(source, target) for source, target in pairs if source in reached]
    if not own:
        return None
    group = tuple(sorted(reached))
    source_of = {target: group.index(source) for source, target in own}
    sources = tuple([source_of.get(member) for member in group])
    index = group.index(process)
    return Collective("collective_permute", channel, group, index, [partial(_pass_on, sources)], sources=sources)


def _require_split(attributes: Mapping[str, Any], count: int) -> None:
    if count != attributes["split_count"]:
        raise CommunicationError(
            f"stablehlo.all_to_all splits in {attributes['split_count']}, for a group of {count}",
            why="(C8) each process of a group gets one part",
        )


def part_of(shape: Sequence[int], axis: int, number: int, count: int) -> Part:
    """Return where part ``number`` of ``count`` equal parts along an axis is.

    Examples
    --------
    >>> part_of((2, 6), 1, 2, 3)
    (slice(None, None, None), slice(4, 6, None))
    """
    step = shape[axis] // count
    return (*[slice(None)] * axis, slice(number * step, (number + 1) * step))


def shares(size: int, count: int) -> list[slice]:
    """Return ``count`` parts of nearly equal size.

    Examples
    --------
    >>> shares(5, 2)
    [slice(0, 2, None), slice(2, 5, None)]
    """
    edges = [size * k // count for k in range(count + 1)]
    return [slice(a, b) for a, b in pairwise(edges)]


def _gather(axis: int, posts: Sequence[Post], index: int) -> None:
    for number, out in enumerate(posts[index].outputs):
        for member, post in enumerate(posts):
            out[part_of(out.shape, axis, member, len(posts))] = post.inputs[number]


def _exchange(split: int, joined: int, posts: Sequence[Post], index: int) -> None:
    for number, out in enumerate(posts[index].outputs):
        for member, post in enumerate(posts):
            given = post.inputs[number]
            part = given[part_of(given.shape, split, index, len(posts))]
            out[part_of(out.shape, joined, member, len(posts))] = part


def _pass_on(sources: tuple[int | None, ...], posts: Sequence[Post], index: int) -> None:
    source = sources[index]
    for number, out in enumerate(posts[index].outputs):
        if source is None:
            out[...] = np.zeros((), out.dtype)
        else:
            out[...] = posts[source].inputs[number]


def _reduce_part(reducer: Reducer, axis: int, posts: Sequence[Post], index: int) -> None:
    (out,) = posts[index].outputs
    part = part_of(posts[index].inputs[0].shape, axis, index, len(posts))
    reducer.fold([post.inputs[0][part] for post in posts], out)


def _reduce_once(reducer: Reducer, posts: Sequence[Post]) -> None:
    """Combine everything for the first member, and give it to the others."""
    for number, out in enumerate(posts[0].outputs):
        reducer.fold([post.inputs[number] for post in posts], out)
        for other in posts[1:]:
            other.outputs[number][...] = out


def _reduce_all(reducer: Reducer, posts: Sequence[Post], index: int) -> None:
    """Combine everything: what the reducer uses from outside may differ between processes."""
    for number, out in enumerate(posts[index].outputs):
        reducer.fold([post.inputs[number] for post in posts], out)


def _reduce_share(reducer: Reducer, posts: Sequence[Post], index: int) -> None:
    """Combine a share of the elements: the first member does all that must not be cut into shares."""
    for number, out in enumerate(posts[index].outputs):
        parts = [post.inputs[number] for post in posts]
        if reducer.is_elementwise:
            own = shares(out.size, len(posts))[index]
            reducer.fold([part.reshape(-1)[own] for part in parts], out.reshape(-1)[own])
        elif index == 0:
            reducer.fold(parts, out)


def _copy_shares(reducer: Reducer, posts: Sequence[Post], index: int) -> None:
    """Copy what others have combined: their shares, or all of it from the first member."""
    for number, out in enumerate(posts[index].outputs):
        if reducer.is_elementwise:
            for member, share in enumerate(shares(out.size, len(posts))):
                if member != index:
                    out.reshape(-1)[share] = posts[member].outputs[number].reshape(-1)[share]
        elif index > 0:
            out[...] = posts[0].outputs[number]
