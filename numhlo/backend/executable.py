"""A program that can be called: the step table, its kernels, its frames, and the two engines that run it.

The first calls are answered by the NumPy engine while kernels compile; native code takes over step by step as it
arrives, even in the middle of a call. Calls may come from several threads, and from within each other.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from numhlo.backend.communication.transport import check_process, in_process
from numhlo.backend.kernel_cache import KernelHandle, arrivals, kernel_cache
from numhlo.backend.planning.explain import steps_in_words
from numhlo.backend.planning.launch_lists import with_own_buffers
from numhlo.backend.primitives import layout
from numhlo.backend.program import Kernel, Launch, Place, Program
from numhlo.backend.runtime import library, pool
from numhlo.backend.runtime.arenas import native_arenas
from numhlo.backend.runtime.changes import MachineCodeArrived, OpsNeededError
from numhlo.backend.runtime.fast_entry import EntryRecords
from numhlo.backend.runtime.frame import Frame
from numhlo.backend.runtime.guard_pages import new_frame
from numhlo.backend.runtime.interrupt import block_address, interrupt_flag, raise_kept
from numhlo.backend.runtime.lack_of_memory import is_the_users, no_memory, require_addresses
from numhlo.backend.runtime.native_functions import native_address, native_callable, request_native
from numhlo.backend.runtime.object_layout import ALIGNED, C_CONTIGUOUS, is_read_only
from numhlo.backend.runtime.result_copies import with_fresh_results
from numhlo.backend.runtime.result_memory import LEAST_BYTES, result_memory
from numhlo.backend.runtime.statuses import raise_status
from numhlo.backend.runtime.step_table import StepTable
from numhlo.backend.runtime.turns import Turns
from numhlo.lowering.ir.errors import InternalError
from numhlo.lowering.ir.interruptions import ProcessLock, copy_together
from numhlo.lowering.ir.late_modules import late
from numhlo.lowering.ir.scoped_values import with_own_bindings
from numhlo.lowering.ops.back_edges import at_back_edges
from numhlo.lowering.ops.control_flow import CALL, COMPOSITE

SHORT_WORK = 50_000
"""Flops plus bytes below which a call keeps the GIL: some 20 µs, less than giving it up may cost."""
KEPT_FRAMES = 8
"""Frames that calls through Python leave for later ones."""
FAST_FRAMES = 8
"""Frames of a fast entry at most: as many calls at once run natively from the start."""
FAST_ARENA_BYTES = 16 << 20
"""Arenas up to this size are taken by native calls; a call that needs more is long anyway."""
WAIT_SECONDS = 300.0
CALLING = frozenset({CALL, COMPOSITE})
"""Ops without regions that may loop all the same."""

if TYPE_CHECKING:
    from numhlo.backend.runtime.numpy_engine import NumpyEngine
_numpy_engine = late("numhlo.backend.runtime.numpy_engine")


class Executable:
    """A program, ready to run.

    Parameters
    ----------
    program : Program
    name : str
        For display.
    array_type : type
        Type of result arrays, `numpy.ndarray` or a subclass of it; where it has a true `is_read_only`, they can't be
        written.
    donated : frozenset of int
        Arguments whose memory the program may write into.
    keeps_steps : bool
        Whether the program's steps, with the ops in them, stay for reports once native code does everything.
    guard_pages : str
        On which side of each buffer a page lies that nobody may touch (`guard_pages.SIDES`); or "". Needs ``has_ops``.

    Attributes
    ----------
    handles : dict
        Kernels and their handles in the kernel cache.
    """

    def __init__(
        self,
        program: Program,
        name: str = "",
        array_type: type[np.ndarray] = np.ndarray,
        donated: frozenset[int] = frozenset(),
        *,
        keeps_steps: bool = True,
        guard_pages: str = "",
    ) -> None:
        self.program, copies = with_fresh_results(with_own_buffers(program) if guard_pages else program, donated)
        require_addresses(self.program, name)
        self._written = donated | program.written.keys()
        self.name = name
        self.array_type, self._read_only = array_type, is_read_only(array_type)
        self.table = StepTable(self.program, copies)
        if self.table.uses_blas and not library.load_blas():
            raise InternalError(f"{name or 'this program'} calls BLAS, which SciPy would bring", fix="install scipy")
        self._keeps_steps, self._guard_pages = keeps_steps, guard_pages
        self._arguments, self._results = self._numbers(Place.ARGUMENT), self._numbers(Place.RESULT)
        self._awaited: dict[int, tuple[KernelHandle, ...]] = {}
        self._frames: list[Frame] = []
        written = self._written | self.program.overwritten
        self._new_frame = partial(new_frame, self.program, self.table.gathered, guard_pages, written)
        self._lock = ProcessLock()
        self._entry = EntryRecords(self.program, array_type, self._written)
        self._entry_frames: list[Frame] = []
        self._entry.keep(self.table, self._entry_frames)
        self._fast: Callable[..., Any] | None = None
        self._native, self._turns = False, Turns()
        self._parallel = any(
            isinstance(i.step, Launch) and i.step.extent >= 2 * i.step.grain for i in self.table.instructions
        )
        cache = kernel_cache()
        self._natives = ("driver", "entry", *(("pool_launch", "pool_worker") if self._parallel else ()))
        self._natives += ("attend",) if self.table.takes_long else ()
        if self.table.uses_blas:
            request_native("driver")  # keeps BLAS to one thread, so its kernels don't run before it is there
        handles = map(cache.request, program.kernels)  # first come, first compiled: what else there is saves less time
        self.handles: dict[Kernel, KernelHandle] = {handle.kernel: handle for handle in handles}
        for native in self._natives:
            request_native(native)
        self._entry.keep(self.handles)
        self._pending = dict(self.handles)
        self._engine = self._engine_until_all_is_there()
        self._update()

    def _engine_until_all_is_there(self) -> NumpyEngine | None:
        """Return what runs steps in Python until there is machine code for all of them; None if there is.

        Raises
        ------
        OpsNeededError
            If the program's launches have no ops for it to run.
        """
        if self._is_all_there():
            return None
        if not self.program.has_ops:
            raise OpsNeededError
        engine: NumpyEngine = _numpy_engine.NumpyEngine(self.program, self.table)
        return engine

    def _is_all_there(self) -> bool:
        """Return whether Python will never do a step: there is machine code for all of them, now."""
        kernels = all(handle.done for handle in self.handles.values())
        return kernels and all(map(native_address, self._natives)) and not self._needs_python()

    @property
    def kernels(self) -> list[Kernel]:
        """Return the program's kernels in order of first use."""
        return list(self.handles)

    def steps_in_words(self) -> list[str]:
        """Return a line for each step: its kernel, what is fused into it, and why no more."""
        return list(steps_in_words(self.program))

    def ways_in_python(self) -> dict[str, int]:
        """Return how steps have run in Python so far, and how many of them each way; empty once all are native."""
        return {} if self._engine is None else self._engine.ways()

    @property
    def ready(self) -> bool:
        """Return whether all that will ever be native code is."""
        if not self._native:
            self._update()
        return self._native

    @property
    def fast(self) -> Callable[..., Any] | None:
        """Return the fast entry once there is one: ``fast(*arrays)``, to be called while the executable is held.

        It returns a tuple of results, None if an argument is not what the program was made for (then call the
        executable itself with arrays that are), or a status that is not zero, for `raise_status`.
        """
        return self._fast

    def fast_route(
        self,
        nodes: Sequence[tuple[int, int, int]],
        scalars: Sequence[type | None],
        captures: Sequence[Any],
        held: Sequence[tuple[Any, str | None, Any]],
    ) -> Callable[..., Any] | None:
        """Return a fast entry for arguments of another structure (see `EntryRecords.route`), where there is one."""
        return None if self._fast is None else self._entry.route(nodes, scalars, captures, held)

    def wait(self, seconds: float = WAIT_SECONDS) -> bool:
        """Wait until the executable is `ready`; return whether it is."""
        end = time.monotonic() + seconds
        self._update()  # asks again for what a fork left behind
        for handle in [*self.handles.values(), *map(request_native, (*self._natives, "call"))]:
            handle.wait(max(0.0, end - time.monotonic()))
        return self.ready

    def __call__(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        """Return the results for arrays of exactly the program's types, C-contiguous and aligned.

        Arguments that the program writes into have their new values then; if it raises, they have the old ones.

        Raises
        ------
        KeyboardInterrupt
            If the user asks for it while a loop runs.
        """
        fast = self._fast
        if fast is not None:
            made = fast(*arrays)
            if made.__class__ is tuple:
                return made
            if made is not None:
                self.raise_status(made)
        elif not self._native:
            self._turns.begin(self._pending.values())
            self._update()
        return self._call(arrays)

    def raise_status(self, status: int) -> None:
        """Raise what a status that native code left means."""
        raise_status(status, self.name)

    def _numbers(self, place: Place) -> list[int]:
        found = [(b.index, number) for number, b in enumerate(self.program.buffers) if b.place is place]
        return [number for _, number in sorted(found)]

    def _update(self) -> None:
        """Put the machine code that has arrived into the table."""
        with self._lock.own:
            self._take_arrived()
            if self._native or self._pending or not all(request_native(native).done for native in self._natives):
                return
            self._native = True
            self._install_fast_entry()
            if not self._keeps_steps and self._is_all_there():
                self._forget_steps()

    def _take_arrived(self) -> None:
        """Place the kernels that have come since this was called last, and say what there is to be said of them."""
        cache = kernel_cache()
        found, reports = {}, []
        for kernel, handle in list(self._pending.items()):
            if handle.orphaned:
                cache.request(kernel)
            if not handle.done:
                continue
            self._pending.pop(kernel, None)
            if handle.error is None:
                found[kernel] = handle.address
            reports.append(handle.report(self.name or "a program"))
        self._place(found)
        for report in filter(None, reports):
            warnings.warn(report, RuntimeWarning, stacklevel=4)

    def _place(self, addresses: dict[Kernel, int]) -> None:
        if self._engine is None:
            self.table.place_kernels(addresses)
        else:
            for kernel, address in addresses.items():
                self._engine.groups.place_kernel(kernel, address)

    def _forget_steps(self) -> None:
        """Drop what only the NumPy engine and reports need: most of the memory that an executable takes."""
        self._engine = None
        self.table.forget_steps()
        self.program.steps, self.program.kept, self.program.body = [], {}, None

    def _install_fast_entry(self) -> None:
        """Make the fast entry where a call is one native run: kernels for all steps, small new arrays as results."""
        fresh = self.program.results == self._results
        large = any(self.program.buffers[number].type.nbytes >= LEAST_BYTES for number in self._results)
        plain = fresh and not large and not self._guard_pages
        if not self._is_one_run() or not plain or self.program.arena_bytes > FAST_ARENA_BYTES:
            return
        function = self._entry.function()
        if function is None or native_address("driver") == 0:
            return
        words = self._entry.words
        words[layout.ENTRY_DRIVER] = native_address("driver")
        words[layout.ENTRY_TABLE] = self.table.address
        words[layout.ENTRY_CLEAN_UP] = self.table.clean_up
        words[layout.ENTRY_POOL] = pool.block_address if self._parallel else 0
        words[layout.ENTRY_RELEASES_GIL] = self.table.work > SHORT_WORK
        words[layout.ENTRY_FLAG] = block_address if self._is_interruptible() else 0
        if self.program.arena_bytes:
            words[layout.ENTRY_ARENAS] = native_arenas.address(self.program.arena_bytes)
        self._offer_frame(self._frames.pop() if self._frames else self._new_frame())
        self._frames.clear()
        self._fast = function

    def _offer_frame(self, frame: Frame) -> None:
        """Leave a frame to the fast entry; one a call that found none, so there are as many as calls at once."""
        self._prepare(frame)
        frame.words[layout.STATUS] = layout.OK
        if len(self._entry_frames) < FAST_FRAMES and self._entry.offer_frame(frame.address):
            self._entry_frames.append(frame)
        if self.program.arena_bytes:
            native_arenas.offer(self.program.arena_bytes)

    def _is_one_run(self) -> bool:
        """Return whether a call is one run of native code that nothing breaks off in the middle of a write."""
        breaks_off = self.table.takes_long and bool(self.program.overwritten)
        return self._native and not breaks_off and not self._needs_python()

    def _needs_python(self) -> bool:
        """Return whether a step has no machine code, and never will."""
        return self.table.needs_python or any(handle.error is not None for handle in self.handles.values())

    def _prepare(self, frame: Frame) -> None:
        if self._parallel:
            pool.ensure_threads()
            frame.words[layout.LAUNCHER] = native_address("pool_launch")

    def _call(self, given: Sequence[np.ndarray]) -> list[np.ndarray]:
        try:
            return self._call_in_frame(given)
        except MemoryError as error:
            if is_the_users(error):
                raise
            raise no_memory(self.program, self.name) from error

    def _call_in_frame(self, given: Sequence[np.ndarray]) -> list[np.ndarray]:
        for number, array in zip(self._arguments, given, strict=True):
            self._check(number, array)
        arrays = self._with_own_copies(given)
        made = [self._new_array(number) for number in self._results]
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = self._new_frame()
        frame.begin()
        for number, array in zip((*self._arguments, *self._results), (*arrays, *made), strict=True):
            frame.hold(number, array)
        self._prepare(frame)
        try:
            self._run(frame)
            frame.hand_out()
            copy_together([(given[k], arrays[k]) for k in self.program.written if arrays[k] is not given[k]])
            return self._collect(arrays, made)
        finally:
            self._finish(frame)
            if not self._native:
                self._turns.end()

    def _with_own_copies(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the arguments, those as copies whose memory must not be written into: what else would break, may see.

        That is memory which another argument has, too, and memory that a call that breaks off would leave half written.
        """
        copied = set() if self._is_one_run() else set(self.program.overwritten)
        for index in self._written - copied:
            if any(k != index and np.may_share_memory(arrays[index], other) for k, other in enumerate(arrays)):
                copied.add(index)
        return [np.array(array) if k in copied else array for k, array in enumerate(arrays)]

    def _new_array(self, number: int) -> np.ndarray:
        type = self.program.buffers[number].type
        if type.nbytes >= LEAST_BYTES:
            return result_memory.array(self.array_type, type.shape, type.dtype)
        return self.array_type(type.shape, type.dtype)

    def _check(self, number: int, array: object) -> None:
        """Raise for an array that the program was not made for: native code would read beyond it."""
        type = self.program.buffers[number].type
        if not isinstance(array, np.ndarray) or array.dtype != type.dtype or array.shape != type.shape:
            raise InternalError(f"{self.name or 'a program'} takes {type.short()} here, not {array!r}")
        if ~array.flags.num & (C_CONTIGUOUS | ALIGNED):
            raise InternalError(f"{self.name or 'a program'} takes C-contiguous, aligned arrays")

    def _collect(self, arrays: Sequence[np.ndarray], made: list[np.ndarray]) -> list[np.ndarray]:
        """Return the results in the function's order: new arrays, and donated ones that hold a result now."""
        found = dict(zip(self._results, made, strict=True))
        found.update((number, a.view(self.array_type)) for number, a in zip(self._arguments, arrays, strict=True))
        results = [found[number] for number in self.program.results]
        if self._read_only:
            for result in results:
                result.flags.writeable = False
        return results

    def _run(self, frame: Frame) -> None:
        if not self.table.takes_long or not interrupt_flag().is_heard():
            with in_process(frame.words) as is_in_grid:  # loops end when another process fails, by `attend`
                ends = is_in_grid and self.table.has_loops
                self._run_steps(frame, lambda: not ends or native_address("attend") != 0)
            return
        attend: Callable[..., int] | None = None

        def heard() -> bool:
            """Return whether signals end machine code; until then, loops stay in Python, which hears them."""
            nonlocal attend
            if attend is None and self._is_interruptible():
                attend = native_callable(native_address("attend"))
                attend(frame.address, 0, 0, layout.ATTEND_LISTEN, 0)
            return attend is not None or not self.table.has_loops or request_native("attend").done

        try:
            self._run_steps(frame, heard)
        finally:
            if attend is not None:  # no Python function is called before: at its start, another signal would be heard
                attend(frame.address, 0, 0, layout.ATTEND_STOP, 0)

    def _is_interruptible(self) -> bool:
        """Return whether signals are to be heard during a call, and the code for it is there."""
        return self.table.takes_long and native_address("attend") != 0

    def _run_steps(self, frame: Frame, may_be_native: Callable[[], bool]) -> None:
        step = 0
        driver = native_address("driver")
        arrived = -1
        while step != layout.DONE:
            if driver != 0 and may_be_native():
                step = native_callable(driver)(frame.address, frame.table, self.table.address, step, 0)
                self._check_status(frame)
                if step == layout.DONE:
                    return
            if (engine := self._engine) is not None and step in engine.communications:
                engine.communications[step].run(frame, engine.buffers)
                step += 1
            else:
                step = with_own_bindings(self._step_in_python, frame, step, may_be_native)
            if arrived != arrivals.latest:
                arrived = arrivals.latest
                self._update()
                driver = native_address("driver")

    def _step_in_python(self, frame: Frame, number: int, may_be_native: Callable[[], bool]) -> int:
        """Do a step from Python, and return the next one; the same one if its machine code arrives while it loops."""
        engine = self._engine
        if engine is None:
            return number  # while this call was in Python, another thread found all machine code there
        if not self.table.uses_blas and may_be_native():
            following = engine.run_kernels(frame, number)
            if following != number:
                self._check_status(frame)
                return following
        handles = self._awaited_by(engine, number)
        if not handles:
            return engine.run_step(frame, number)

        seen = -1

        def give_up_when_compiled() -> None:
            nonlocal seen
            if seen == arrivals.latest:
                return
            seen = arrivals.latest
            there = all(handle.address for handle in handles) and self._may_go_on(engine, number)
            if there and may_be_native():
                raise MachineCodeArrived

        try:
            with at_back_edges(give_up_when_compiled):
                return engine.run_step(frame, number)
        except MachineCodeArrived:
            return number

    def _awaited_by(self, engine: NumpyEngine, number: int) -> tuple[KernelHandle, ...]:
        """Return the kernels of a step whose ops may loop for long in Python; none once they can't be waited for."""
        handles = self._awaited.get(number)
        if handles is None:
            launches = engine.launches_of(number)
            loops = engine.is_loop(number) or any(
                op.regions or op.definition in CALLING for launch in launches for op in launch.ops
            )
            handles = self._awaited[number] = tuple(self.handles[x.kernel] for x in launches) if loops else ()
        heard = not self.table.has_loops or request_native("attend").done
        if all(handle.done for handle in handles) and heard and self._may_go_on(engine, number):
            handles = self._awaited[number] = ()
        return handles

    def _may_go_on(self, engine: NumpyEngine, number: int) -> bool:
        """Return whether the driver is there, if a step goes on natively with it alone."""
        return not (self.table.uses_blas or engine.is_loop(number)) or native_address("driver") != 0

    def _check_status(self, frame: Frame) -> None:
        """Go on after an interrupt whose handler did not raise; raise for anything else."""
        status = frame.words[layout.STATUS]
        if status == layout.OK:
            return
        frame.words[layout.STATUS] = layout.OK
        check_process()
        if status == layout.RAISED:
            raise_kept(frame.words)
        if status != layout.INTERRUPTED:
            self.raise_status(status)
        native_callable(native_address("attend"))(frame.address, 0, 0, layout.ATTEND_LOWER, 0)

    def _finish(self, frame: Frame) -> None:
        if frame.words[layout.BLAS_HELD]:
            driver = native_callable(native_address("driver"))
            driver(frame.address, frame.table, self.table.address, self.table.clean_up, 0)
        frame.end()
        if self._fast is not None:
            with self._lock.own:
                self._offer_frame(frame)
        elif len(self._frames) < KEPT_FRAMES:
            self._frames.append(frame)
