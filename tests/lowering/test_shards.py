"""Parts of arrays: axes that cut dimensions, in their order; what can't be cut is refused."""

import numpy as np
import pytest

from numhlo.lowering.ir.errors import ShapeError, UnsupportedError
from numhlo.lowering.shards import parse_mesh, parse_meshes, parse_shardings

LINES = [
    'sdy.mesh @mesh = <["i"=2, "j"=3]> {stablehlo.mesh = {axes = []}}',
    'sdy.mesh @"a b" = <["x"=2], device_ids=[1, 0]>',
]
MESHES = parse_meshes(LINES)


def parts(text, array, meshes=MESHES):
    (sharding,) = parse_shardings(f"[{text}]", meshes)
    places = sharding.mesh.places()
    return [array[sharding.part(array.shape, places[k])].tolist() for k in range(len(places))]


def test_axes_cut_dimensions():
    x = np.arange(12)
    assert parts('<@mesh, [{"j"}]>', x) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]] * 2
    assert parts('<@mesh, [{"i", "j"}]>', x) == [[2 * k, 2 * k + 1] for k in range(6)]
    assert parts('<@mesh, [{"j", "i"}]>', x) == [[2 * k, 2 * k + 1] for k in (0, 2, 4, 1, 3, 5)]
    assert parts('<@mesh, [{?}, {"i", ?}p1], replicated={"j"}>', x.reshape(6, 2)) == [
        x.reshape(6, 2)[:, k : k + 1].tolist() for k in (0, 0, 0, 1, 1, 1)
    ]
    assert parts('<@"a b", [{"x"}]>', x) == [[*range(6, 12)], [*range(6)]]
    assert parts('<mesh<["z"=2]>, [{"z"}]>', x) == [[*range(6)], [*range(6, 12)]]
    assert parts("<@mesh, []>", np.int64(7) + np.zeros((), int)) == [7] * 6
    assert len(parse_shardings('[<@mesh, [{"i"}, {}]>, <@mesh, []>]', MESHES)) == 2 and parse_shardings("[]", {}) == []
    assert parse_mesh("<[]>").devices == (0,)


def test_what_is_not_cut():
    with pytest.raises(ShapeError, match=r"^8 elements can't be cut into 3 equal parts"):
        parts('<@mesh, [{"j"}]>', np.arange(8))
    with pytest.raises(UnsupportedError, match=r'^the axis i":\(1\)2 of a sharding'):
        parts('<@mesh, [{"i":(1)2}]>', np.arange(8))
    with pytest.raises(UnsupportedError, match=r"^the mesh @other is not declared"):
        parts('<@other, [{"i"}]>', np.arange(8))
    with pytest.raises(UnsupportedError, match=r"^values that are yet to be added"):
        parts('<@mesh, [{}], unreduced={"i"}>', np.arange(8))
