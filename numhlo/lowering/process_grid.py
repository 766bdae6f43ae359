"""Running one program in each process of a grid, at once: what processes and hosts tell each other.

A process is a thread that interprets its function; its ops are run by their definitions, those between processes by the
rules here. All of them are made of queues: who sends goes on, who receives waits. When all that still run wait for what
nobody sends any more, each of them raises. Groups are `numhlo.lowering.ops.process_groups`'.
"""

from __future__ import annotations

import contextvars
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from numhlo.lowering.interpreter import Interpreter, Plans
from numhlo.lowering.ir import Function, Op, TensorType
from numhlo.lowering.ir.errors import CommunicationError, NumhloError
from numhlo.lowering.ops.back_edges import at_back_edges
from numhlo.lowering.ops.communication import ID
from numhlo.lowering.ops.primitive import RESULT_TYPES, Arrays, EvaluateRule, RegionFunction
from numhlo.lowering.ops.process_groups import GridShape, Group, Process, groups_of
from numhlo.lowering.ops.region_function import full, promoted, region_of, takes_arrays

Key = tuple[Hashable, ...]
Result = TypeVar("Result")
Rule = Callable[["Place", Arrays, Mapping[str, Any], Sequence[RegionFunction]], Sequence[np.ndarray]]

INFEED, OUTFEED, TO_HOST, FROM_HOST, CHANNEL = "infeed", "outfeed", "to the host", "from the host", "channel"
OF_HOST = frozenset({INFEED, OUTFEED, TO_HOST, FROM_HOST})
"""First words of keys whose queues are the host's, which outlive a run."""


HOST = Process(-1, -1)
"""Who runs the host's function, as a further process that is in no group."""


class Abandoned(BaseException):
    """What ends a process when another one has failed, or whoever started them has."""


class Mailboxes:
    """Queues of arrays, each known by a key.

    Attributes
    ----------
    changed : threading.Condition
        Held by whoever reads or writes a queue.
    """

    def __init__(self, changed: threading.Condition | None = None) -> None:
        self.changed = changed or threading.Condition()
        self.queues: defaultdict[Key, deque[Arrays]] = defaultdict(deque)

    def put(self, key: Key, arrays: Arrays) -> None:
        """Add arrays to a queue."""
        with self.changed:
            self.queues[key].append(arrays)
            self.changed.notify_all()

    def take_now(self, key: Key) -> Arrays | None:
        """Return the next arrays of a queue, None where it is empty."""
        with self.changed:
            return self.queues[key].popleft() if self.queues[key] else None


class Exchange:
    """What the processes of one run share: queues between them, and those of their host.

    Parameters
    ----------
    processes : iterable of Process
        Those that run.
    host : Mailboxes
    """

    def __init__(self, processes: Iterable[Process], host: Mailboxes) -> None:
        self._changed = host.changed
        self._host = host
        self._own = Mailboxes(host.changed)
        self._running = set(processes)
        self._waiting: dict[Process, Key] = {}
        self._failure: BaseException | None = None

    def _boxes(self, key: Key) -> Mailboxes:
        return self._host if key[0] in OF_HOST else self._own

    def put(self, key: Key, arrays: Arrays) -> None:
        """Add arrays to a queue."""
        self._boxes(key).put(key, arrays)

    def take(self, key: Key, process: Process) -> Arrays:
        """Return the next arrays of a queue, which a process waits for.

        Raises
        ------
        CommunicationError
            If all processes that run wait, for what nobody sends.
        Abandoned
            If another process has failed meanwhile.
        """
        with self._changed:
            queue = self._boxes(key).queues[key]
            self._waiting[process] = key
            while not queue:
                self._require_hope(process)
                self._changed.wait()
            del self._waiting[process]
            return queue.popleft()

    def check(self) -> None:
        """Raise if another process has failed."""
        if self._failure is not None:
            raise Abandoned

    def stop(self, process: Process) -> None:
        """Say that a process has ended: what it has not sent it never will."""
        with self._changed:
            self._running.discard(process)
            self._waiting.pop(process, None)
            self._changed.notify_all()

    def fail(self, error: BaseException) -> None:
        """Make all processes end."""
        with self._changed:
            self._failure = self._failure or error
            self._changed.notify_all()

    def left(self) -> list[Key]:
        """Return the queues of what processes have sent each other and nobody received."""
        with self._changed:
            return [key for key, queue in self._own.queues.items() if queue]

    def _require_hope(self, process: Process) -> None:
        self.check()
        if len(self._waiting) < len(self._running) or any(
            self._boxes(key).queues[key] for key in self._waiting.values()
        ):
            return
        waits = [f"{named(p)} waits for {describe(key)}" for p, key in sorted(self._waiting.items())]
        error = CommunicationError(
            waits[sorted(self._waiting).index(process)],
            why="; ".join(["every process that has not ended waits", *waits]) if len(waits) > 1 else "nobody sends it",
            fix="feed or send it before the run" if self._waiting[process][0] in OF_HOST else "",
        )
        self.fail(error)
        raise error


def named(process: Process) -> str:
    """Return who a process is, for messages.

    Examples
    --------
    >>> named(Process(0, 1)), named(HOST)
    ('process (0, 1)', 'the host')
    """
    return "the host" if process == HOST else f"process {process}"


def describe(key: Key) -> str:
    """Return whose queue a key is, for messages.

    Examples
    --------
    >>> describe((CHANNEL, 3)), describe((INFEED, Process(0, 0)))
    ('channel 3', 'its infeed')
    """
    word = str(key[0])
    if word in {INFEED, OUTFEED}:
        return f"its {word}"
    if word in {TO_HOST, FROM_HOST}:
        return f"channel {key[1]} {word}"
    return f"channel {key[1]}" if word == CHANNEL else f"{word} of process {key[-2]}"


class Place:
    """What one process knows of its grid."""

    __slots__ = ("exchange", "process", "shape")

    def __init__(self, process: Process, shape: GridShape, exchange: Exchange) -> None:
        self.process = process
        self.shape = shape
        self.exchange = exchange

    def take(self, *key: Hashable) -> Arrays:
        """Return what another process, or the host, has put there."""
        return self.exchange.take(key, self.process)

    def put(self, arrays: Arrays, *key: Hashable) -> None:
        """Send arrays."""
        self.exchange.put(key, arrays)

    def group(self, name: str, attributes: Mapping[str, Any]) -> Group:
        """Return the group that the process is in, or nobody."""
        return next((g for g in groups_of(name, attributes, self.shape) if self.process in g), ())

    def gather(self, name: str, attributes: Mapping[str, Any], parts: Mapping[Process, Arrays]) -> list[Arrays]:
        """Send each process of the group its part, and return the parts that they send here, in the group's order."""
        channel = attributes.get("channel_handle")
        key = (name, 0 if channel is None else channel.handle, tuple(parts))
        for receiver, arrays in parts.items():
            if receiver != self.process:
                self.put(arrays, *key, self.process, receiver)
        return [parts[sender] if sender == self.process else self.take(*key, sender, self.process) for sender in parts]

    def everybody(self, name: str, attributes: Mapping[str, Any], arrays: Arrays) -> list[Arrays]:
        """Return the arrays of all in the group."""
        found = self.gather(name, attributes, dict.fromkeys(self.group(name, attributes), arrays))
        types = [[(a.shape, a.dtype) for a in given] for given in found]
        if any(given != types[0] for given in types):
            raise CommunicationError(f"stablehlo.{name} joins arrays of different types", why=f"they are {types}")
        return found


RULES: dict[str, Rule] = {}


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def add(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, rule))
        return rule

    return add


@_rule("replica_id")
def evaluate_replica_id(place: Place, *_: Any) -> list[np.ndarray]:
    """Return which replica this is."""
    return [np.asarray(place.process.replica, ID.dtype)]


@_rule("partition_id")
def evaluate_partition_id(place: Place, *_: Any) -> list[np.ndarray]:
    """Return which partition this is."""
    return [np.asarray(place.process.partition, ID.dtype)]


def _reduced(found: Sequence[np.ndarray], body: RegionFunction) -> np.ndarray:
    """Return arrays combined element by element, from first to last."""
    region = region_of(body)
    result, *rest = [promoted([array], region)[0] for array in found]
    for other in rest:
        if takes_arrays(region):
            (result,) = full(body(result, other), result.shape)
            continue
        pairs = zip(result.reshape(-1), other.reshape(-1), strict=True)
        items = [body(np.asarray(x, result.dtype), np.asarray(y, result.dtype))[0] for x, y in pairs]
        result = np.array(items, result.dtype).reshape(result.shape)
    return result


@_rule("all_reduce")
def evaluate_all_reduce(
    place: Place, arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]
) -> list[np.ndarray]:
    """Return what the group has, reduced."""
    found = place.everybody("all_reduce", attributes, arrays)
    return [_reduced(parts, regions[0]) for parts in zip(*found, strict=True)]


@_rule("cross-replica-sum")
def evaluate_sum(place: Place, arrays: Arrays, attributes: Mapping[str, Any], *_: Any) -> list[np.ndarray]:
    """Return the sum of what the group has."""
    total, *rest = [given[0] for given in place.everybody("cross-replica-sum", attributes, arrays)]
    for other in rest:
        total = np.asarray(total + other, total.dtype)
    return [total]


@_rule("reduce_scatter")
def evaluate_reduce_scatter(
    place: Place, arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]
) -> list[np.ndarray]:
    """Return this process's part of what the group has, reduced."""
    group = place.group("reduce_scatter", attributes)
    parts = np.split(arrays[0], len(group), attributes["scatter_dimension"])
    sent = {receiver: (part,) for receiver, part in zip(group, parts, strict=True)}
    found = place.gather("reduce_scatter", attributes, sent)
    return [_reduced([given[0] for given in found], regions[0])]


@_rule("all_gather")
def evaluate_all_gather(place: Place, arrays: Arrays, attributes: Mapping[str, Any], *_: Any) -> list[np.ndarray]:
    """Return what the group has, side by side."""
    found = place.everybody("all_gather", attributes, arrays)
    return [np.concatenate(parts, attributes["all_gather_dim"]) for parts in zip(*found, strict=True)]


@_rule("all_to_all")
def evaluate_all_to_all(place: Place, arrays: Arrays, attributes: Mapping[str, Any], *_: Any) -> list[np.ndarray]:
    """Return this process's parts of all that the group has, side by side."""
    group = place.group("all_to_all", attributes)
    if len(group) != attributes["split_count"]:
        raise CommunicationError(
            f"stablehlo.all_to_all splits in {attributes['split_count']}, for a group of {len(group)}",
            why="(C8) each process of a group gets one part",
        )
    split = [np.split(array, len(group), attributes["split_dimension"]) for array in arrays]
    found = place.gather("all_to_all", attributes, dict(zip(group, zip(*split, strict=True), strict=True)))
    return [np.concatenate(parts, attributes["concat_dimension"]) for parts in zip(*found, strict=True)]


@_rule("collective_broadcast")
def evaluate_broadcast(place: Place, arrays: Arrays, attributes: Mapping[str, Any], *_: Any) -> Sequence[np.ndarray]:
    """Return what the first of the group has; zeros out of every group."""
    group = place.group("collective_broadcast", attributes)
    pairs = [(group[0], other) for other in group]
    return _passed_on(place, "collective_broadcast", pairs, arrays)


@_rule("collective_permute")
def evaluate_permute(place: Place, arrays: Arrays, attributes: Mapping[str, Any], *_: Any) -> Sequence[np.ndarray]:
    """Return what the source has whose target this process is; zeros where it is nobody's."""
    pairs = groups_of("collective_permute", attributes, place.shape)
    return _passed_on(place, "collective_permute", [(source, target) for source, target in pairs], arrays)


def _passed_on(
    place: Place, name: str, pairs: Sequence[tuple[Process, Process]], arrays: Arrays
) -> Sequence[np.ndarray]:
    """Send arrays to all targets, and return those of the only source, or zeros."""
    for source, target in pairs:
        if source == place.process != target:
            place.put(arrays, name, source, target)
    sources = [source for source, target in pairs if target == place.process]
    if not sources:
        return [np.zeros_like(array) for array in arrays]
    return arrays if sources[0] == place.process else place.take(name, sources[0], place.process)


def _received(name: str, arrays: Arrays, attributes: Mapping[str, Any]) -> Arrays:
    """Return arrays, which must be what a program says that it receives."""
    wanted = [t for t in attributes[RESULT_TYPES] if isinstance(t, TensorType)]
    found = [TensorType(a.shape, a.dtype) for a in arrays]
    if found != wanted:
        shown = ", ".join(map(str, found)) or "nothing"
        raise CommunicationError(
            f"stablehlo.{name} is sent {shown}", why=f"it receives {', '.join(map(str, wanted)) or 'nothing'}"
        )
    return arrays


@_rule("infeed")
def evaluate_infeed(place: Place, arrays: Arrays, attributes: Mapping[str, Any], *_: Any) -> Arrays:
    """Return what the host has fed next."""
    return _received("infeed", place.take(INFEED, place.process), attributes)


@_rule("outfeed")
def evaluate_outfeed(place: Place, arrays: Arrays, *_: Any) -> Arrays:
    """Give arrays to the host."""
    place.put([np.array(a) for a in arrays], OUTFEED, place.process)
    return []


@_rule("send")
def evaluate_send(place: Place, arrays: Arrays, attributes: Mapping[str, Any], *_: Any) -> Arrays:
    """Send arrays over a channel, to whoever receives or to the host."""
    handle = attributes["channel_handle"].handle
    to_host = attributes.get("is_host_transfer", False)
    place.put([np.array(a) for a in arrays], *((TO_HOST, handle, place.process) if to_host else (CHANNEL, handle)))
    return []


@_rule("recv")
def evaluate_recv(place: Place, arrays: Arrays, attributes: Mapping[str, Any], *_: Any) -> Arrays:
    """Return what comes over a channel, from whoever sends or from the host."""
    handle = attributes["channel_handle"].handle
    from_host = attributes.get("is_host_transfer", False)
    key = (FROM_HOST, handle, place.process) if from_host else (CHANNEL, handle)
    return _received("recv", place.take(*key), attributes)


class GridPlans(Plans):
    """How one process of a grid runs ops."""

    __slots__ = ("_place",)

    def __init__(self, place: Place) -> None:
        super().__init__()
        self._place = place

    def rule(self, op: Op) -> EvaluateRule:
        """Return what evaluates an op in this process."""
        rule = RULES.get(op.definition.name) if op.definition.dialect == "stablehlo" else None
        return super().rule(op) if rule is None else partial(_evaluate_at, op, rule, self._place)


def _evaluate_at(op: Op, rule: Rule, place: Place, *given: Any) -> Sequence[np.ndarray]:
    try:
        return rule(place, *given)
    except NumhloError as error:
        error.where = error.where or op.location
        raise


def run_process(function: Function, arrays: Sequence[np.ndarray], place: Place) -> list[np.ndarray]:
    """Return a function's results in one process of a grid.

    Parameters
    ----------
    function : Function
        Of static shapes, without tuples and tokens.
    arrays : sequence of numpy.ndarray
        One an argument, of exactly the argument's shape and dtype.
    place : Place
    """
    return Interpreter(function, GridPlans(place))(arrays)


def run_together(
    calls: Mapping[Process, Callable[[Place], Result]],
    shape: GridShape,
    host: Mailboxes,
    answer: Callable[[Exchange], Any] | None = None,
) -> dict[Process, Result]:
    """Return what functions return that run at once, each in a thread for its process.

    Parameters
    ----------
    calls : mapping from Process to callable
        Each takes its process's place.
    shape : GridShape
    host : Mailboxes
    answer : callable, optional
        The host's function, which runs beside them, as `HOST`.

    Raises
    ------
    CommunicationError
        If processes wait for what nobody sends, or what one has sent nobody receives.
    """
    exchange = Exchange([*calls, *([HOST] if answer is not None else [])], host)
    bound = {process: partial(call, Place(process, shape, exchange)) for process, call in calls.items()}
    return run_in_threads(bound, exchange, shape, answer)


def run_in_threads(
    calls: Mapping[Process, Callable[[], Result]],
    exchange: Exchange,
    shape: GridShape,
    answer: Callable[[Exchange], Any] | None = None,
) -> dict[Process, Result]:
    """Return what functions return that run at once, each in a thread for its process; the first error is raised."""
    if answer is not None:
        calls = {**calls, HOST: partial(answer, exchange)}
    results: dict[Process, Result] = {}
    errors: dict[Process, BaseException] = {}

    def work(process: Process) -> None:
        try:
            with at_back_edges(exchange.check), np.errstate(all="ignore"):
                results[process] = calls[process]()
        except Abandoned:
            pass
        except BaseException as error:  # noqa: BLE001 - raised by the thread that called
            errors[process] = error
            exchange.fail(error)
        finally:
            exchange.stop(process)

    threads = [
        threading.Thread(target=contextvars.copy_context().run, args=(work, process), daemon=True) for process in calls
    ]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except BaseException as error:
        exchange.fail(error)
        raise
    for process in sorted(errors):
        errors[process].add_note(f"in {named(process)} of {shape}")
        raise errors[process]
    if left := exchange.left():
        raise CommunicationError(f"nobody receives what was sent over {describe(left[0])}")
    return results
