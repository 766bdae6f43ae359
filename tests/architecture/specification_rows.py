"""What numhlo has to have, row by row: the words of the specifications, as short as they can be said.

Sources: the StableHLO specification (rows of ops, types and text), and XLA's descriptions of its operations, shapes
and builder (the rest). A test says which rows it shows by ``@pytest.mark.specifies("names of rows")``; the page that
lists both is made by `specification`. Rows are in the order of the page.
"""

from __future__ import annotations

GROUPS: dict[str, tuple[str, str]] = {
    "arithmetic": (
        "IEEE 754 and NumPy on every element type; integers wrap; NaN, infinities and -0.0 are kept",
        "abs add divide maximum minimum multiply negate power remainder subtract",
    ),
    "logic": (
        "on booleans logical, on integers bitwise; shifts by the width or more, or by negative amounts, are defined",
        "and count_leading_zeros not or popcnt shift_left shift_right_arithmetic shift_right_logical xor",
    ),
    "transcendental": (
        "within a few units in the last place at the limits too; complex with the right branch cuts",
        "atan2 cbrt cosine exponential exponential_minus_one log log_plus_one logistic rsqrt sine sqrt tan tanh",
    ),
    "rounding": (
        "exact on halves, subnormals, signed zeros, infinities and NaN",
        "ceil floor is_finite round_nearest_afz round_nearest_even sign",
    ),
    "complex numbers": ("parts, arithmetic and lexicographic order, in both precisions", "complex imag real"),
    "choosing": (
        "six directions, four kinds of order; scalar and full predicates and bounds",
        "clamp compare select",
    ),
    "conversion": (
        "every ordered pair of element types; bits of any width seen as any other",
        "bitcast_convert convert",
    ),
    "creation": (
        "every form of literal; counting along any axis in any type; rounding to any short format",
        "constant iota reduce_precision",
    ),
    "layout": (
        "ranks 0 to 6, dimensions without elements, negative padding; the operand is left as it is",
        "broadcast_in_dim concatenate pad reshape reverse slice transpose",
    ),
    "dynamic slices": (
        "starts of every integer type, clamped into range",
        "dynamic_slice dynamic_update_slice",
    ),
    "gather": ("all dimension numbers, batching and a left-out index vector among them; clamped starts", "gather"),
    "scatter": (
        "all dimension numbers, several arrays at once, any body; a window that lies partly outside is dropped whole",
        "scatter",
    ),
    "reduction": ("any axes, any body, any number of arrays; of nothing it is the initial value", "reduce"),
    "windows": (
        "strides, both dilations, padding of either sign, several arrays; the first of ties is selected",
        "reduce_window select_and_scatter",
    ),
    "sorting": ("any comparator, any axis, arrays moved together, stable", "sort"),
    "products": ("any batching and contracting dimensions, and another type of result", "dot_general"),
    "convolution": (
        "any order of dimensions, strides, padding, dilations, reversal and groups, all at once",
        "convolution",
    ),
    "fourier transforms": ("four kinds, one to three dimensions of any length, primes and 1 too", "fft"),
    "linear algebra": (
        "stacks of matrices, every flag; the other triangle is not read",
        "cholesky triangular_solve",
    ),
    "normalization": (
        "inference, training and gradient along any dimension",
        "batch_norm_grad batch_norm_inference batch_norm_training",
    ),
    "random numbers": (
        "bits that are functions of a state, the published ones; uniform and normal ones with the right moments",
        "rng rng_bit_generator",
    ),
    "control flow": (
        "one branch runs; loops of no round and of many values; values from outside; nested; decompositions",
        "case composite if map while",
    ),
    "tuples": ("nested and empty ones, through calls and loops", "get_tuple_element tuple"),
    "order of effects": ("effects happen once and in order; barriers change nothing", "after_all optimization_barrier"),
    "custom calls": (
        "a registered target gets arrays and attributes; an unknown one raises, and is named",
        "custom_call",
    ),
    "infeed and outfeed": ("queues between the host and a process", "infeed outfeed"),
    "messages": ("between processes and to the host", "recv send"),
    "collectives": (
        "over grids of processes, by all ways to group them",
        "all_gather all_reduce all_to_all collective_broadcast collective_permute reduce_scatter",
    ),
    "place in the grid": ("unsigned numbers of 32 bits; of a single process, zeros", "partition_id replica_id"),
    "shapes that are data": (
        "the same as with a constant shape; a shape that does not fit raises",
        "dynamic_broadcast_in_dim dynamic_conv dynamic_gather dynamic_iota dynamic_pad dynamic_reshape",
    ),
    "size of a dimension": ("as a number; and set to less, for what comes after", "get_dimension_size"),
    "quantization": ("rounded, clamped to the storage, exact", "uniform_dequantize uniform_quantize"),
}
"""Families of StableHLO's ops: what must hold of each, and its ops."""

WHOLES: dict[str, dict[str, str]] = {
    "Types": {
        "i1": "constants of every form, arithmetic, comparisons, conversions; numpy.bool_ outside",
        "integers of 2 and 4 bits": "wrap-around and conversion are exact; an element takes a byte",
        "integers of 8 to 64 bits": "like NumPy's, all pairs of 8 bits; extremes of 64 bits are kept",
        "f16 to f64": "subnormals are kept; each op's result is in its own precision",
        "bf16": "rounded to nearest even by every op; every value survives float32",
        "floats of 8 bits and less": "every code has its published value; each kind's own NaN and overflow",
        "complex types": "constants, arithmetic, conversion",
        "quantized types": "per tensor and per axis; their constraints are checked",
        "tokens and strings": "where the grammar has them, and refused elsewhere",
        "open extents": "a program with `?` runs with several sizes in one process; what does not fit raises",
        "ranks and empty shapes": "scalars, ranks up to 6 and no elements pass through every family of ops",
        "memory layout": "arguments in any order of dimensions and with gaps; results do not depend on it",
        "requested layouts": "arguments and results in any order of dimensions that a program asks for; no padding, no tiles",
        "quantized arithmetic": "dequantize, compute, quantize, for every kind of op",
    },
    "Text": {
        "reading": "every production of the grammar; a broken constraint names the op and the constraint",
        "strict verification": "each numbered constraint, closed dialects, types of values, ranges of literals",
        "printing": "read again it is the same program, generic and pretty; the official parser takes it",
        "malformed text": "refused with line, column and caret; never a crash, a hang, a deep recursion",
        "HLO text read": "all forms that XLA prints, before and after its passes, give StableHLO of the same results",
        "HLO text written": "XLA reads, verifies and runs it, to the same bits as the program itself",
        "deprecated ops": "broadcast, create_token, dot, einsum, torch_index_select, unary_einsum run or are refused by name",
        "functions and calls": "call graphs without recursion, functions without a module",
        "chlo": "read, and decomposed or computed",
        "index and shape": "refused by name",
        "bytecode": "read and written, portable artifacts for every version from 0.9.0 to 1.17.0; vhlo as text, too",
    },
    "Execution": {
        "order": "any order that data allow gives the same; unused pure ops need not run, effects do",
        "grids of processes": "several replicas and partitions in one run",
        "asynchronous pairs": "what async_start begins is there when async_done waits for it",
        "ways to group": "four ways to group processes for a collective",
        "run-time errors": "one documented family of classes; the process goes on",
        "floating-point exceptions": "IEEE defaults, no warning",
        "accuracy attributes": "result_accuracy is met, by machine code and interpreted, or refused",
    },
    "Builder and client": {
        "broadcasting in dimensions": "scalars, and the dimensions that are said; of unequal ranks they must be said",
        "degenerate broadcasting": "extents of 1, alone and together with dimensions; others must agree",
        "building graphs": "parameters, constants, ops as methods, shapes asked and checked, a return value",
        "errors and inner builders": "noted and raised by `build`, or at once; inner builders make regions",
        "compiling once": "other values compile nothing; constants are folded and can be asked for",
    },
    "Operations of XLA's builder": {
        "Broadcast": "new dimensions on the left",
        "BroadcastInDim": "extents of 1 are expanded",
        "Collapse": "neighbouring dimensions become one; others are refused",
        "Reshape": "also by an order in which the dimensions are read",
        "ConcatInDim": "concatenate",
        "Transpose": "with a permutation or without",
        "Rev": "reverse",
        "Slice": "with strides or without",
        "DynamicSlice": "starts as scalars or as one vector; clamped",
        "DynamicUpdateSlice": "as DynamicSlice",
        "Clamp": "min, operand, max",
        "ConvertElementType": "and BitcastConvertType",
        "binary operations with broadcasting": "all take dimensions to broadcast along",
        "comparisons with broadcasting": "Eq Ne Ge Gt Le Lt",
        "logical operations": "on booleans",
        "unary operations": "the same bits as StableHLO's ops",
        "SqrtF32": "and SquareF32, ReciprocalF32",
        "Call": "any number of arguments; recursion is refused",
        "Conditional": "by a predicate and by an index; an index outside takes the last branch",
        "While": "with a tuple as its state",
        "Map": "with further scalar parameters",
        "Reduce": "of one array and of several",
        "ReduceWindow": "padded as same, valid or explicitly",
        "SelectAndScatter": "padded as same, valid or explicitly",
        "Conv": "with padding, general padding, general dimensions",
        "Dot": "vectors and matrices",
        "DotGeneral": "dimension numbers",
        "Fft": "several dimensions",
        "Iota": "in any type",
        "Sort": "of one array ascending, and of several by a comparator",
        "RngBernoulli": "zeros and ones with the right frequency",
        "RngNormal": "the right moments",
        "RngUniform": "in its interval, integers too",
        "RngBitGenerator": "states of two and three words",
        "CrossReplicaSum": "all_reduce with addition",
        "collectives by replica groups": "an empty list means all",
        "ReplicaId": "unsigned, 32 bits",
        "Send and Recv": "by a channel",
        "Infeed": "with and without token",
        "GetDimensionSize": "and SetDimensionSize: what comes after sees the size that was set",
        "GetTupleElement": "and Tuple",
        "CustomCall": "a function of the user's, by name",
        "native custom calls": "by address, in the plain forms and XLA's typed one, with layouts and shared memory",
        "extensions": "ops of other dialects, other meanings of composites and passes, from packages of their own",
        "AfterAll": "any number of tokens",
        "Select": "of arrays, and of tuples by a scalar",
        "BatchNorm": "training, inference and gradient",
        "Cholesky": "and TriangularSolve",
        "Pad": "between elements and at the edges, of either sign",
        "Gather": "and Scatter: offset, collapsed and batch dimensions; several arrays",
        "Trace": "shows a value and passes it on",
        "ReducePrecision": "reduce_precision",
    },
}
"""Rows that are no op, by section: what must hold."""
