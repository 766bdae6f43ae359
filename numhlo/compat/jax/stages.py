"""`jax.stages`: what `trace`, `lower` and `compile` of a jitted function return, and what programs ask of them."""

from __future__ import annotations

from typing import Any

from numhlo.compat.jax.absent_names import refusing as _refusing
from numhlo.compat.jax.arrays import immutably
from numhlo.compat.jax.late_modules import same_names
from numhlo.compilation.jitted_function import JittedFunction
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ir.records import record
from numhlo.tracer.core.arguments import ShapeDtypeStruct
from numhlo.tracer.trees.pytrees import tree_unflatten


@record(frozen=True)
class CompiledMemoryStats:
    """Memory that one call takes, in bytes.

    Attributes
    ----------
    argument_size_in_bytes, output_size_in_bytes, temp_size_in_bytes : int
        Of the caller's arrays, of new ones, of intermediate results.
    argument_bytes, result_bytes, constant_bytes, arena_bytes : int
        numhlo's own names for these, and constants.
    """

    argument_bytes: int
    result_bytes: int
    constant_bytes: int
    arena_bytes: int
    alias_size_in_bytes: int = 0
    generated_code_size_in_bytes: int = 0

    @property
    def argument_size_in_bytes(self) -> int:
        """Return the size of the arguments."""
        return self.argument_bytes

    @property
    def output_size_in_bytes(self) -> int:
        """Return the size of the results."""
        return self.result_bytes

    @property
    def temp_size_in_bytes(self) -> int:
        """Return the size of intermediate results."""
        return self.arena_bytes

    @property
    def peak_memory_in_bytes(self) -> int:
        """Return the size of all that there is during a call."""
        return self.argument_bytes + self.result_bytes + self.constant_bytes + self.arena_bytes


class Stage:
    """A stage on the way to machine code.

    Parameters
    ----------
    stage : object
        What `trace`, `lower` or `compile` of numhlo's own function returned.
    traced : object
        What `trace` returned.
    """

    def __init__(self, stage: Any, traced: Any = None) -> None:
        self._stage = stage
        self._traced = stage if traced is None else traced

    @property
    def out_info(self) -> Any:
        """Return the results' shapes and dtypes in the results' structure."""
        return self._traced.out_info

    @property
    def args_info(self) -> Any:
        """Return the arguments' shapes and dtypes, in the structure of ``(args, kwargs)``."""
        types = [v.tensor for v in self._traced.module.main.body.arguments]
        return tree_unflatten(self.in_tree, [ShapeDtypeStruct(t.shape, t.dtype) for t in types])

    @property
    def in_avals(self) -> Any:
        """Return the arguments' shapes and dtypes, in the structure of ``(args, kwargs)``."""
        return self.args_info

    @property
    def fun_name(self) -> str:
        """Return the function's name."""
        name: str = self._traced.name
        return "<lambda>" if name == "lambda" else name

    @property
    def in_tree(self) -> Any:
        """Return the structure of ``(args, kwargs)``."""
        return self._traced.in_tree

    @property
    def out_tree(self) -> Any:
        """Return the structure of the result."""
        return self._traced.out_tree

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False, **options: Any) -> str:
        """Return the program as StableHLO text.

        Parameters
        ----------
        dialect : str, optional
            ``"stablehlo"``.
        debug_info : bool, optional
            Accepted: the text has no locations.
        **options
            Those of the stage's own.

        Raises
        ------
        ArgumentError
            If another dialect is asked for.
        """
        if dialect not in (None, "stablehlo"):
            raise ArgumentError(
                f"as_text({dialect!r}): unknown dialect",
                where=capture_location(),
                why="programs are StableHLO",
                fix="leave it out",
            )
        text: str = self._stage.as_text(**options)
        return text

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "_stage"), name)

    def __repr__(self) -> str:
        return repr(self._stage)


class TracedStage(Stage):
    """A function traced for one signature."""

    @property
    def jaxpr(self) -> Any:
        """Return the program as a jaxpr; what translates it stands on these stages, and is loaded when it is asked."""
        traced = self._traced._traced
        find, _ = same_names("numhlo.compat.jax.equations")
        return find("closed_jaxpr")(traced.function, traced.captures, (), traced.out_weak)

    def lower(self, **options: Any) -> LoweredStage:
        """Return the next stage; there is one platform."""
        return LoweredStage(self._stage.lower(), self._traced)


class LoweredStage(Stage):
    """A function's StableHLO, ready to be compiled."""

    def compile(self, compiler_options: Any = None) -> CompiledStage:
        """Return the compiled function; XLA's options mean nothing."""
        return CompiledStage(self._stage.compile(), self._traced)

    def compiler_ir(self, dialect: str | None = None) -> Any:
        """Return the graph."""
        return self._stage.module

    def cost_analysis(self) -> dict[str, Any]:
        """Return estimates for one call of the compiled function."""
        return self.compile().cost_analysis()


class CompiledStage(Stage):
    """A function compiled for one signature, whose calls return immutable arrays."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the compiled function."""
        return immutably(self._stage)(*args, **kwargs)

    def cost_analysis(self) -> dict[str, Any]:
        """Return estimates for one call, a loop's body counted once: flops, bytes accessed, launches, Python steps."""
        found: dict[str, Any] = self._stage.cost_analysis()
        return found

    def memory_analysis(self) -> CompiledMemoryStats:
        """Return the memory that one call takes, in bytes."""
        found = self._stage.memory_analysis()
        return CompiledMemoryStats(found.argument_bytes, found.result_bytes, found.constant_bytes, found.arena_bytes)


Traced, Lowered, Compiled = TracedStage, LoweredStage, CompiledStage

Wrapped = JittedFunction
"""What `jit` returns."""


__getattr__ = _refusing(__name__)
