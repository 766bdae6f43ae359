"""The page of types lists every element type, with the dtype that holds it and the one that it is computed in."""

import re

from numhlo.lowering.ir.types import ELEMENT_TYPES, NARROW_FLOATS
from tests.architecture.source_tree import ROOT

ROW = re.compile(r"^\| `([\w<>]+)` \| `([\w.]+)` \| (\d+) \| (\w+) \|$", re.MULTILINE)


def test_rows_are_the_element_types():
    rows = ROW.findall((ROOT / "docs/types.md").read_text(encoding="utf-8"))
    assert [spelling for spelling, *_ in rows] == list(ELEMENT_TYPES)
    for spelling, name, size, computed in rows:
        dtype = ELEMENT_TYPES[spelling]
        assert name == (dtype.name if dtype.isbuiltin == 1 else f"ml_dtypes.{dtype.name}")
        assert int(size) == dtype.itemsize
        own = "bool" if spelling == "i1" else "itself"
        assert computed == ("float32" if dtype in NARROW_FLOATS else own)
