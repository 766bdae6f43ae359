"""One kernel that goes through a list of launches, for many short ones of few kernels.

Unrolled loops over elements are the same few kernels again and again, at other places. The list is run-time numbers:
for each launch which kernel it is, which buffers it has, and its own numbers. Each kernel's text is there once, so it
takes no longer to compile than the kernels on their own. One pointer is another buffer in each launch, and buffers may
share memory, so that nothing is promised to LLVM. `numhlo.backend.planning.launch_lists` says which launches.
"""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.joined_kernels import OwnNames, Part, copy_part, part_of
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.program import Kernel, Launch


def write_list(launches: Sequence[Launch], buffers: Sequence[Sequence[int]]) -> Draft:
    """Return the kernel that does what some launches do, one after the other.

    Parameters
    ----------
    launches : sequence of Launch
        Whose kernels can be parts.
    buffers : sequence of sequence of int
        Their buffers.
    """
    kernels = sorted({launch.kernel for launch in launches}, key=lambda kernel: kernel.source)
    parts = {kernel: (kind, part_of(kernel)) for kind, kernel in enumerate(kernels)}
    used = {number: place for place, number in enumerate(dict.fromkeys(n for numbers in buffers for n in numbers))}
    listed = [len(launches)]
    for launch, numbers in zip(launches, buffers, strict=True):
        kind, part = parts[launch.kernel]
        listed.append(kind)
        listed += [used[numbers[k]] for k in part.draft.pointers.values()]
        listed += [launch.dims[k] for k in part.draft.numbers.values()]
        if part.counts_units:
            listed.append(launch.extent)
    flops, traffic = sum([x.flops for x in launches]), sum([x.bytes for x in launches])
    return Draft(
        _Writer([part for _, part in parts.values()]).finish(), tuple(used), tuple(listed), 1, 2, flops, traffic
    )


class _Writer:
    """Writes the kernel of lists of launches whose kernels are some parts."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.text = text = KernelText(lambda _: 0)
        self._own = OwnNames(text)
        count = text.number("count", 0, "n")
        self._place = text.fresh("place")
        text.begin(f"{self._place} = 1")
        with text.block(f"for {text.fresh('step')} in range({count}):"):
            kind = text.let(f"number(dims, {self._place})", "kind")
            for number, part in enumerate(parts):
                header = f"{'el' if number else ''}if {kind} == {number}:"
                if number == len(parts) - 1:
                    header = "else:" if number else "if True:"
                with text.block(header):
                    self._part(part)

    def finish(self) -> Kernel:
        """Return the kernel."""
        return self.text.finish("launch_list")

    def _part(self, part: Part) -> None:
        """Write a kernel's text, which has its buffers and numbers from the list."""
        text, names, used = self.text, {}, 1

        def listed(hint: str) -> str:
            nonlocal used
            used += 1
            return text.let(f"number(dims, {self._place} + {used - 1})", hint)

        for name in part.draft.pointers:
            names[name] = text.let(f"address(bufs, {listed('buffer')})", "array")
        for name in part.draft.numbers:
            names[name] = listed(name.rstrip("0123456789"))
        names |= self._own.of(part)
        names["lo"] = "0"
        names["hi"] = listed("n") if part.counts_units else "1"
        copy_part(part.draft.body, text.open[-1], names)
        text.line(f"{self._place} += {used}")
