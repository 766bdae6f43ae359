"""Text of locations: those of one part in place, those of several through an alias that the end of the text defines.

Call stacks share their outer frames and are hundreds deep; aliases keep the text linear, and no walk here is recursive.
"""

from __future__ import annotations

from collections.abc import Iterator

from numhlo.lowering.ir import UNKNOWN, Location, WrittenLocation
from numhlo.lowering.text.attribute_printer import print_string


class LocationPrinter:
    r"""Spells locations, and remembers the aliases that it used.

    Examples
    --------
    >>> place = LocationPrinter()
    >>> place(Location(None, 12, "file.py", 5)), place(UNKNOWN)
    ('"file.py":12:5', 'unknown')
    >>> place(WrittenLocation(None, 1, parts=('"f"(', Location(None, 12, "file.py", 5), ")")))
    '#loc0'
    >>> place.definitions()
    ['#loc0 = loc("f"("file.py":12:5))\n']
    """

    def __init__(self) -> None:
        self._aliases: dict[WrittenLocation, str] = {}
        self._ends: dict[Location, Location] = {}

    def __call__(self, location: Location) -> str:
        """Return what stands between the brackets of ``loc(...)``."""
        place = self._unwrapped(location)
        if not isinstance(place, WrittenLocation):
            return _print_place(place)
        if len(place.parts) == 1:
            return str(place.parts[0])
        found = self._aliases.get(place)
        if found is None:
            found = self._aliases[place] = f"#loc{len(self._aliases)}"
        return found

    def definitions(self) -> list[str]:
        """Return the lines that define the aliases, each before those that use it."""
        lines: list[str] = []
        defined: set[WrittenLocation] = set()
        for root in list(self._aliases):
            path: dict[WrittenLocation, Iterator[Location]] = {} if root in defined else {root: root.places()}
            while path:
                location = next(reversed(path))
                part = next(path[location], None)
                if part is None:
                    del path[location]
                    defined.add(location)
                    lines.append(f"{self(location)} = loc({''.join(map(self._spell, location.parts))})\n")
                    continue
                place = self._unwrapped(part)
                if isinstance(place, WrittenLocation) and len(place.parts) > 1 and place not in defined:
                    path[place] = place.places()
        return lines

    def _unwrapped(self, location: Location) -> Location:
        """Return what an alias stands for: aliases of aliases are followed once each."""
        chain: list[WrittenLocation] = []
        while isinstance(location, WrittenLocation) and len(location.parts) == 1:
            known, (part,) = self._ends.get(location), location.parts
            if known is not None or isinstance(part, str):
                location = location if known is None else known
                break
            chain.append(location)
            location = part
        self._ends.update(dict.fromkeys(chain, location))
        return location

    def _spell(self, part: str | Location) -> str:
        return part if isinstance(part, str) else self(part)


def _print_place(location: Location) -> str:
    """Return ``"file":line:column``, in the names that the user gave to this part of the program."""
    if location is UNKNOWN or not location.filename:
        return "unknown"
    place = f"{print_string(location.filename)}:{location.line}:{location.column}"
    return f"{print_string(location.scope)}({place})" if location.scope else place
