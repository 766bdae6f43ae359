"""What is copied after a program's last step: results that lie in memory of others, new values of written arguments."""

from __future__ import annotations

from dataclasses import replace

from numhlo.backend.program import Buffer, Place, Program
from numhlo.backend.runtime.arenas import ALIGNMENT


def with_fresh_results(program: Program, donated: frozenset[int]) -> tuple[Program, list[tuple[int, int]]]:
    """Return a program whose results are new arrays of their own or donated ones, and the copies that this takes.

    Results of the given one may also be arguments, constants, or the same buffer twice. The copies bring the new values
    of written arguments into these, too.
    """
    buffers, results, copies = list(program.buffers), list(program.results), []
    count = sum(b.place is Place.RESULT for b in buffers)
    seen: set[int] = set()
    for position, number in enumerate(results):
        buffer = buffers[number]
        given_away = buffer.place is Place.ARGUMENT and buffer.index in donated
        if number in seen or not (buffer.place is Place.RESULT or given_away):
            results[position] = len(buffers)
            copies.append((number, len(buffers)))
            buffers.append(Buffer(buffer.type, Place.RESULT, count))
            count += 1
        seen.add(number)
    changed = replace(program, buffers=buffers, results=results)
    return changed, copies + _final_copies(changed)


def _final_copies(program: Program) -> list[tuple[int, int]]:
    """Return the copies that bring new values into the memory of the arguments that are written into.

    Values that lie in the memory of other such arguments (two that are swapped) take a detour; the program's arena
    grows by that.
    """
    buffers = program.buffers
    own = {b.index: number for number, b in enumerate(buffers) if b.place is Place.ARGUMENT}
    targets = {own[index] for index in program.written}
    before, after = [], []
    for index, source in program.written.items():
        if source == own[index]:
            continue
        if source not in targets:
            after.append((source, own[index]))
            continue
        detour, type = len(buffers), buffers[source].type
        offset = -(-program.arena_bytes // ALIGNMENT) * ALIGNMENT
        buffers.append(Buffer(type, Place.ARENA, offset=offset))
        program.arena_bytes = offset + type.nbytes
        before.append((source, detour))
        after.append((detour, own[index]))
    return before + after
