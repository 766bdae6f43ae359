"""Structured attributes: dimension numbers and the like, read into the records that spell them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

from numhlo.lowering.ops.dimension_numbers import (
    ChannelHandle,
    ConvolutionDimensionNumbers,
    DotAlgorithm,
    DotDimensionNumbers,
    GatherDimensionNumbers,
    ScatterDimensionNumbers,
    SpelledInFull,
)
from numhlo.lowering.text.parse_types import TypeParser

RECORDS: dict[str, type] = {
    "gather": GatherDimensionNumbers,
    "scatter": ScatterDimensionNumbers,
    "dot": DotDimensionNumbers,
    "dot_algorithm": DotAlgorithm,
    "channel_handle": ChannelHandle,
    "conv": ConvolutionDimensionNumbers,
}
"""Record by the mnemonic of its attribute: ``#stablehlo.gather<...>``."""


ENUMS: dict[str, tuple[str, ...]] = {
    "comparison_direction": ("EQ", "NE", "GE", "GT", "LE", "LT"),
    "comparison_type": ("FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED", "NOTYPE"),
    "precision": ("DEFAULT", "HIGH", "HIGHEST"),
    "transpose": ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"),
    "fft_type": ("FFT", "IFFT", "RFFT", "IRFFT"),
    "rng_algorithm": ("DEFAULT", "THREE_FRY", "PHILOX"),
    "rng_distribution": ("UNIFORM", "NORMAL"),
}
"""The values of every enumeration."""


class RecordParser(TypeParser):
    """Reads ``<field = value, ...>`` and lists."""

    def parse_list(self, parse_item: Callable[[], Any]) -> tuple[Any, ...]:
        """Read items between square brackets."""
        self.expect("[")
        items: list[Any] = []
        if self.accept("]"):
            return ()
        items.append(parse_item())
        while self.accept(","):
            items.append(parse_item())
        self.expect("]")
        return tuple(items)

    def parse_integers(self) -> tuple[int, ...]:
        """Read ``[1, 2, ...]``."""
        return self.parse_list(self.parse_integer)

    def parse_enum(self, name: str) -> str:
        """Read a value of an enumeration, which may stand in quotes."""
        return self.parse_one_of(*ENUMS[name])

    def parse_enums(self, name: str) -> tuple[str, ...]:
        """Read ``[VALUE, VALUE, ...]``."""
        return self.parse_list(lambda: self.parse_enum(name))

    def parse_record(self, record: type) -> Any:
        """Read fields in any order, each at most once; absent ones get their defaults, if the record is read without.

        Parameters
        ----------
        record : type
            A dataclass whose fields are annotated ``Axes``, ``int``, ``bool`` or ``str``.
        """
        if record is ConvolutionDimensionNumbers and not self.at("<", "raw"):
            return self._parse_bracketed_convolution()
        first = self.index
        kinds = {item.name: str(item.type) for item in fields(record)}
        given: dict[str, Any] = {}
        self.expect("<")
        self.accept("raw")
        while not self.accept(">"):
            name = self.parse_one_of(*kinds)
            if name in given:
                raise self.complaint(f"{name} is given twice", self.index - 1)
            self.expect("=")
            given[name] = self._parse_field(kinds[name])
            if not self.at(">"):
                self._expect_comma(record)
        for item in fields(record):
            is_needed = item.default is MISSING or issubclass(record, SpelledInFull)
            if is_needed and item.name not in given:
                raise self.complaint(f"{item.name} is missing", first)
        return record(**given)

    def _expect_comma(self, record: type) -> None:
        if not self.accept(",") or (issubclass(record, SpelledInFull) and self.at(">")):
            raise self.error("',' or '>'")

    def _parse_bracketed_convolution(self) -> ConvolutionDimensionNumbers:
        self.expect("<")
        numbers = self.parse_convolution_letters()
        self.expect(">")
        return numbers

    def parse_convolution_letters(self) -> ConvolutionDimensionNumbers:
        """Read ``[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]``; letters and numbers may stand in any order."""
        first = self.index
        groups = [self._parse_letters()]
        for separator in ("x", "->"):
            self.expect(separator)
            groups.append(self._parse_letters())
        try:
            return ConvolutionDimensionNumbers.from_letters(*groups)
        except ValueError as error:
            raise self.complaint(str(error), first) from None

    def _parse_letters(self) -> tuple[str, ...]:
        return self.parse_list(lambda: self.parse_one_of("b", "f", "i", "o", "?", *map(str, range(10))))

    def _parse_field(self, kind: str) -> Any:
        if kind == "Axes":
            return self.parse_integers()
        if kind == "bool":
            return self.parse_boolean()
        return self.parse_integer() if kind == "int" else self.parse_word()
