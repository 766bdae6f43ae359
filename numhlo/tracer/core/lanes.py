"""Operands of batching rules: arrays, one for all lanes or one for each."""

from __future__ import annotations

from typing import Any, NamedTuple


class Lanes(NamedTuple):
    """An array and whether its leading axis holds the lanes."""

    array: Any
    mapped: bool
