"""Draws from random generators while tracing: they would happen once and be the same numbers ever after.

The generators are NumPy's global one, that of Python's module `random`, and those that the function reads from around
it. One that the function makes from a seed is none of them: it gives the same numbers at every call outside, too.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any, NamedTuple, NoReturn, TypeVar

from numhlo.lowering.ir import Location, capture_location
from numhlo.lowering.ir.errors import DrawError
from numhlo.lowering.ir.location import is_library
from numhlo.lowering.ir.scoped_values import ProcessSetting
from numhlo.tracer.core.trace import current_trace
from numhlo.tracer.python import foreign_values
from numhlo.tracer.python.stand_ins import STAND_INS, stands_for

T = TypeVar("T")

REST_FACTOR = 4
"""For how many times as long as tracing took other threads get no turn, unless this one waits for something."""

TWISTER_BYTES = 625 * 4
"""A Mersenne twister's 624 words, and its position."""


def undisturbed(trace: Callable[[], T]) -> T:
    """Return what ``trace()`` returns; twice more, with other threads at rest, if there are some and somebody drew.

    What the generators tell is only that they were drawn from. Threads get their turn again where the function waits.

    Raises
    ------
    DrawError
        If somebody drew then, too.
    """
    start = time.monotonic()
    try:
        return trace()
    except DrawError as error:
        if all(thread.name.startswith("numhlo") for thread in _other_threads()):
            error.where = error.where or _line_of_draw(trace, error.state)
            raise
    seconds = REST_FACTOR * (time.monotonic() - start)
    with suppress(DrawError):  # who waits for its turn now gets it in the usual time
        return _turns.during(lambda usual: max(seconds, usual), trace)
    try:
        return _turns.during(lambda usual: max(seconds, usual), trace)
    except DrawError as error:
        if error.where is None:
            error.where = _turns.during(lambda usual: max(seconds, usual), _line_of_draw, trace, error.state)
        raise


def _line_of_draw(trace: Callable[[], Any], state: Callable[[], Any] | None) -> Location | None:
    """Return the user's line that draws, found by tracing once more, line by line; None under a debugger."""
    if state is None or sys.gettrace() is not None:
        return None
    places: list[Location] = []  # the line before, and, once found, the one that drew alone
    before = state()

    def watch(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal before
        if is_library(frame.f_code.co_filename):
            return None
        now = state()
        if now != before:
            before = now
            raise _FoundError(places[-1] if places else None)
        places[:] = [Location(frame.f_code, frame.f_lasti)]
        return watch

    sys.settrace(watch)
    try:
        trace()
    except _FoundError as found:
        return found.place
    except Exception:  # noqa: BLE001 - whatever the function raises once it is traced a second time
        return places[-1] if places and state() != before else None
    finally:
        sys.settrace(None)
    return None


class _FoundError(BaseException):
    """Ends tracing at the line behind the one that draws."""

    def __init__(self, place: Location | None) -> None:
        self.place = place


_turns = ProcessSetting(sys.getswitchinterval, sys.setswitchinterval)


def _other_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread is not threading.current_thread()]


def is_generator(x: Any) -> bool:
    """Return whether something is a random generator, of NumPy's or Python's."""
    numpy_random, python_random = sys.modules.get("numpy.random"), sys.modules.get("random")
    kinds = [getattr(numpy_random, name, None) for name in ("Generator", "RandomState")]  # it may be being loaded
    kinds.append(getattr(python_random, "Random", None))
    return isinstance(x, tuple([kind for kind in kinds if kind is not None]))


class _State(NamedTuple):
    """Where NumPy's global generator is.

    Attributes
    ----------
    words : bytes or None
        The twister's, as they lie in memory; None for another generator.
    whole : tuple or None
        All there is; None where another thread has the generator's lock, which it may have taken without its turn.
    """

    words: bytes | None
    whole: tuple[Any, ...] | None

    def differs(self, before: _State) -> bool:
        """Return whether somebody drew since."""
        if self.whole is None or before.whole is None:
            return self.words != before.words
        return self.whole != before.whole


def _state(*, waits: bool) -> _State | None:
    """Return where NumPy's global generator is; None where nobody has loaded it."""
    random: Any = sys.modules.get("numpy.random")
    if not hasattr(random, "get_bit_generator"):
        return None
    bits = random.get_bit_generator()
    address: Any = bits.ctypes.state_address if type(bits) is random.MT19937 else None
    taken: list[bool] = []
    try:
        taken.extend(map(bits.lock.acquire, [waits or address is None]))  # taken and noted: no handler in between
        if not taken[0]:
            return _State(ctypes.string_at(address, TWISTER_BYTES), None)
        words = None if address is None else ctypes.string_at(address, TWISTER_BYTES)
        state = random.get_state(legacy=False)
    finally:
        if taken and taken[0]:
            bits.lock.release()
    inner = state["state"]
    key = bytes(inner["key"]) if "key" in inner else repr(inner)
    return _State(words, (state["gauss"], state["has_gauss"], inner.get("pos"), key))


def _python_state() -> Any:
    random: Any = sys.modules.get("random")
    return random.getstate() if hasattr(random, "getstate") else None


def state_of(generator: Any) -> str:
    """Return where a generator is, as text."""
    if hasattr(generator, "getstate"):
        return repr(generator.getstate())
    return repr(generator.bit_generator.state if hasattr(generator, "bit_generator") else generator.get_state())


@contextmanager
def refusing_draws(
    name: str, generators: Sequence[tuple[Any, str, str]] = (), *, watches_global: bool = True
) -> Iterator[None]:
    """Raise `ConcretizationError` if the block draws random numbers.

    Parameters
    ----------
    name : str
        Of the function that is traced.
    generators : sequence of (generator, str, str)
        Those that it reads from around it, what they are called, and where they were; the block may find more.
    watches_global : bool, optional
        Whether to look at the global generators, too.
    """
    _refuse_unseeded()
    before, python = (_state(waits=True), _python_state()) if watches_global else (None, None)
    yield
    for generator, called, state in generators:
        if state_of(generator) != state:
            _refuse(name, f"from {called}", state=partial(state_of, generator))
    if not watches_global:
        return
    after = _state(waits=False)
    if after is not None and (after.differs(before) if before is not None else _is_used(after)):
        _refuse(name, "from np.random", state=lambda: _state(waits=False))
    if python is not None and _python_state() != python:
        _refuse(name, "from the module random", state=_python_state)


def _is_used(state: _State) -> bool:
    """Return whether somebody drew from the generator since numpy.random was loaded, which makes it."""
    random: Any = sys.modules["numpy.random"]
    return state.whole is not None and state.whole[2] != random.RandomState().get_state(legacy=False)["state"]["pos"]


def _refuse(name: str, source: str, where: Location | None = None, state: Callable[[], Any] | None = None) -> NoReturn:
    error = DrawError(
        f"{name} draws random numbers {source} while it is traced",
        where=where,
        why="it is traced once: every later call would get the same numbers",
        fix="draw with numhlo.random and a key that is an argument, or draw outside and pass the numbers in",
    )
    error.state = state
    raise error


def _refuse_unseeded() -> None:
    """Let `default_rng` without a seed be refused while tracing, once numpy.random is loaded."""
    random: Any = sys.modules.get("numpy.random")
    if not hasattr(random, "default_rng") or id(random.default_rng) in STAND_INS:
        return
    plain = random.default_rng

    @stands_for(plain)
    def default_rng(seed: Any = None) -> Any:
        if seed is None and current_trace() is not None:
            _refuse("a function", "from a generator without a seed", capture_location())
        return foreign_values.refusing(plain, foreign_values.MODULES["numpy.random"])(seed)
