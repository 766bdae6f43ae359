"""HLO text, XLA's own form of programs: read into StableHLO and written from it, without XLA."""

from numhlo.lowering.hlo import (  # noqa: F401 - importing them fills the tables of opcodes
    asynchronous,
    collectives,
    contraction,
    control_flow,
    creation,
    custom_calls,
    dynamic_shapes,
    elementwise,
    functions,
    indexing,
    layout,
    linear_algebra,
    random_bits,
    reduction,
    windows,
)
from numhlo.lowering.hlo.module import BEGIN, parse_hlo, parse_hlo_proto, print_hlo, write_hlo_proto
from numhlo.lowering.hlo.proto_reader import is_proto

__all__ = ["BEGIN", "is_proto", "parse_hlo", "parse_hlo_proto", "print_hlo", "write_hlo_proto"]
