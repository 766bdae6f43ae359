import pytest

from numhlo.lowering.ops.dimension_numbers import (
    DotAlgorithm,
    DotDimensionNumbers,
    GatherDimensionNumbers,
    ScatterDimensionNumbers,
)
from tests.oracle import official_parse

GATHER = GatherDimensionNumbers((3, 4), (1,), (0,), (1,), (2, 1), 3)
SCATTER = ScatterDimensionNumbers((3, 4), (1,), (0,), (1,), (2, 1), 3)
DOT = DotDimensionNumbers((0,), (1,), (2,), (0,))
ALGORITHM = DotAlgorithm("bf16", "bf16", "f32", 1, 1, 6, False)


@pytest.mark.parametrize(
    "record", [GATHER, SCATTER, DOT, ALGORITHM, GatherDimensionNumbers(), DotDimensionNumbers()], ids=str
)
def test_the_official_parser_reads_the_spelling_and_prints_the_same(record):
    text = f"func.func @main() attributes {{a = {record}}} {{ return }}"
    assert f"a = {record}}}" in official_parse(text)


def test_empty_fields_are_left_out():
    assert str(GatherDimensionNumbers(start_index_map=(0,), index_vector_dim=1)) == (
        "#stablehlo.gather<start_index_map = [0], index_vector_dim = 1>"
    )
    assert str(ScatterDimensionNumbers()) == "#stablehlo.scatter<>"


def test_records_are_values():
    assert hash(GATHER) == hash(GatherDimensionNumbers((3, 4), (1,), (0,), (1,), (2, 1), 3))
    assert GatherDimensionNumbers() != GATHER
