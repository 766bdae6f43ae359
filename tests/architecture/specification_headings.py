"""The headings of the four documents that numhlo follows, and the rows of the page that stand for each.

Nothing of a document is left out by accident: its headings are listed in its own order, and each names rows whose tests
show it. `specification` prints them; the rows are in `specification_rows`.
"""

from __future__ import annotations

from tests.architecture.specification_rows import GROUPS

_LISTED = " ".join(ops for _, ops in GROUPS.values())
_BY_BUILDER = {
    "Broadcast": "Broadcast",
    "Collapse": "Collapse",
    "Conv (convolution)": "Conv",
    "ConvWithGeneralPadding (convolution)": "Conv",
    "ConvertElementType": "ConvertElementType",
    "Dot": "Dot",
    "Element-wise binary arithmetic operations": "binary operations with broadcasting, arithmetic",
    "Element-wise comparison operations": "comparisons with broadcasting",
    "Element-wise unary functions": "unary operations",
    "GetTupleElement": "GetTupleElement",
    "Infeed": "Infeed",
    "Map": "Map",
    "Pad": "Pad",
    "Reduce": "Reduce",
    "ReduceWindow": "ReduceWindow",
    "Reshape": "Reshape",
    "Rev (reverse)": "Rev",
    "RngNormal": "RngNormal",
    "RngUniform": "RngUniform",
    "Select": "Select",
    "SelectAndScatter": "SelectAndScatter",
    "Slice": "Slice",
    "Sort": "Sort",
    "Transpose": "Transpose",
    "Tuple": "GetTupleElement",
    "While": "While",
}
"""Headings that two of the builder's documents have, in the order of the alphabet."""

HEADINGS: dict[str, dict[str, str]] = {
    "XLA: operation semantics of XlaBuilder": dict(
        sorted(
            {
                **_BY_BUILDER,
                "AfterAll": "AfterAll",
                "AllGather": "collectives by replica groups, all_gather",
                "AllReduce": "collectives by replica groups, all_reduce",
                "AllToAll": "collectives by replica groups, all_to_all",
                "BatchNormGrad": "BatchNorm",
                "BatchNormInference": "BatchNorm",
                "BatchNormTraining": "BatchNorm",
                "BitcastConvertType": "ConvertElementType, bitcast_convert",
                "BroadcastInDim": "BroadcastInDim",
                "Call": "Call",
                "Cholesky": "Cholesky",
                "Clamp": "Clamp",
                "CollectivePermute": "collective_permute",
                "Concatenate": "ConcatInDim",
                "Conditional": "Conditional",
                "CrossReplicaSum": "CrossReplicaSum",
                "CustomCall": "CustomCall",
                "DotGeneral": "DotGeneral",
                "DynamicSlice": "DynamicSlice",
                "DynamicUpdateSlice": "DynamicUpdateSlice",
                "Fft": "Fft",
                "Gather": "Gather",
                "GetDimensionSize": "GetDimensionSize",
                "SetDimensionSize": "GetDimensionSize",
                "Iota": "Iota",
                "Recv": "Send and Recv",
                "ReducePrecision": "ReducePrecision",
                "ReplicaId": "ReplicaId",
                "RngBitGenerator": "RngBitGenerator",
                "Scatter": "Gather, scatter",
                "Send": "Send and Recv",
                "TriangularSolve": "Cholesky, triangular_solve",
            }.items()
        )
    ),
    "XLA: overview, shapes, layout and ComputationBuilder": {
        "Compiling TensorFlow": "compiling once",
        "The ComputationBuilder": "building graphs, errors and inner builders",
        "Moving data into and out of XLA": "compiling once, Infeed",
        "The XLA Shape": "ranks and empty shapes",
        "The Layout": "memory layout",
        "Minor-to-major dimension ordering": "memory layout",
        "Padding": "memory layout",
        **_BY_BUILDER,
        "Concatenate": "ConcatInDim",
        "RngBernoulli": "RngBernoulli",
        "DynamicSlice": "DynamicSlice",
        "DynamicUpdateSlice": "DynamicUpdateSlice",
        "Broadcasting semantics": "broadcasting in dimensions",
        "Broadcasting similar-rank arrays with degenerate dimensions": "degenerate broadcasting",
    },
    "XLA: operation semantics of ComputationBuilder": {
        **{name: _BY_BUILDER[name] for name in ("Reduce", "ReduceWindow", "Reshape", "Rev (reverse)", "RngNormal")},
        **{name: _BY_BUILDER[name] for name in ("RngUniform", "SelectAndScatter", "Select", "Slice", "Sort")},
        **{name: _BY_BUILDER[name] for name in ("Transpose", "Tuple", "While")},
        "ReducePrecision": "ReducePrecision",
        "RngBernoulli": "RngBernoulli",
        "DynamicSlice": "DynamicSlice",
        "DynamicUpdateSlice": "DynamicUpdateSlice",
    },
    "StableHLO specification": {
        "Programs": "reading, printing",
        "Functions": "functions and calls",
        "Identifiers": "reading",
        "Types": "i1, integers of 2 and 4 bits, integers of 8 to 64 bits, f16 to f64, bf16, floats of 8 bits and less, "
        "complex types, quantized types, tokens and strings, open extents, ranks and empty shapes",
        "Operations": "reading, strict verification",
        "Constants": "reading, constant",
        **{name: name for name in sorted(_LISTED.split())},
        "Modules, functions, calls and returns": "functions and calls",
        "CHLO": "chlo",
        "Shape operations": "index and shape",
        "Deprecated operations": "deprecated ops",
        "Sequential execution": "order",
        "Parallel execution": "grids of processes",
        "Point-to-point communication": "send, recv",
        "Streaming communication": "infeed, outfeed",
        "Collective ops": "ways to group, collectives",
        "Accuracy": "accuracy attributes",
        "Execution semantics of quantized operations": "quantized arithmetic",
        "Errors": "run-time errors",
        "Floating-point exceptions": "floating-point exceptions",
        "Shape mismatches": "open extents",
    },
}
"""By document, the rows of each heading."""
