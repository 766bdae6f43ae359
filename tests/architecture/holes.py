"""The declared holes of the op × aspect table: aspect, then reason, then the ops that it covers, parted by spaces.

An aspect is the first word of its rule tables' verbs. A reason is printed on the page, so it is written for a user:
why the op has no rule, and what happens instead.
"""

from numhlo.tracer.differentiation.elementwise import DERIVATIVES

NO_OPERANDS = "It has no operands, so there is nothing to do."
NO_DERIVATIVE = "Its results are integers or truth values, which have no tangents."
NOT_LINEAR = "It is not linear; what is transposed is its derivative, which is made of other ops."
IN_ITS_USERS = "It is no kernel of its own: the kernels that use it compute it."
IN_ITS_LOOP = "The writer of loop nests emits it, with what it reduces over fused in."
EXPANDED = "The planner replaces it: by what it passes on, by reductions of a view of all windows."
ON_NUMPY = "It runs by its definition on NumPy."
LEGALIZED = "It is replaced by other ops before anything else looks at it."
OTHERWISE = "Differentiation replaces it: a counted while by a scan, a sort by a gather."
BITS = "What it does to bits has no derivative: tangents of its result are zero."
THREEFRY_IN_USERS = "Threefry's bits are computed by the kernels that use them; Philox's come from NumPy."
RANDOM = "Random numbers are not a smooth function of anything."
REFINED = "It becomes an op of static shape before anything else looks at it."
FLATTENED = "Tuples are taken apart, and tokens dropped, before anything else looks at them."
ONE_PROCESS = "It needs other processes or a host: it runs in a grid of them, and is refused by name outside."
NUMBERED = "It is the number of a process in its grid, 0 outside: nothing that is batched or differentiated."
WITHOUT_HLO = "It is written as HLO once shapes are known: they are computed first, from constants."
GENERIC_FORM = "The generic form is the only one it has, and is derived from its definition."

GENERIC = """
    all_gather all_reduce all_to_all batch_norm_grad batch_norm_inference batch_norm_training case collective_broadcast
    collective_permute cross-replica-sum dynamic_conv dynamic_gather gather if infeed map outfeed recv reduce_scatter reduce_window
    scatter select_and_scatter send sort torch_index_select triangular_solve
"""
"""Ops that have no form of their own."""

LEGAL = """
    batch_norm_grad batch_norm_inference batch_norm_training broadcast dot einsum map torch_index_select unary_einsum
"""
"""Ops that programs from outside may have, and no graph that numhlo works on."""

BEFORE: dict[str, str] = {
    REFINED: """
        dynamic_broadcast_in_dim dynamic_conv dynamic_gather dynamic_iota dynamic_pad dynamic_reshape
        get_dimension_size real_dynamic_slice set_dimension_size
    """,
    FLATTENED: "after_all create_token get_tuple_element tuple",
    ONE_PROCESS: """
        all_gather all_reduce all_to_all collective_broadcast collective_permute cross-replica-sum infeed outfeed recv
        reduce_scatter send
    """,
    NUMBERED: "partition_id replica_id",
}
"""Ops that no room meets: a program from outside is rewritten, or refused, before."""

HOLES: dict[str, dict[str, str]] = {
    "batch": {
        **BEFORE,
        NO_OPERANDS: "constant iota",
        LEGALIZED: LEGAL,
    },
    "differentiate": {
        **BEFORE,
        NO_OPERANDS: "constant iota",
        LEGALIZED: LEGAL,
        NO_DERIVATIVE: """
            and compare count_leading_zeros is_finite not or popcnt shift_left shift_right_arithmetic
            shift_right_logical xor
        """,
        RANDOM: "rng_bit_generator",
    },
    "emit": {
        THREEFRY_IN_USERS: "rng_bit_generator",
        **{reason: ops for reason, ops in BEFORE.items() if reason in (REFINED, FLATTENED)},
        IN_ITS_USERS: "constant iota",
        IN_ITS_LOOP: "reduce",
        EXPANDED: "optimization_barrier reduce_window select_and_scatter",
        LEGALIZED: LEGAL,
        ON_NUMPY: """
            rng
        """,
    },
    "parse": {GENERIC_FORM: GENERIC},
    "print": {GENERIC_FORM: GENERIC},
    "write": {
        WITHOUT_HLO: """
            dynamic_broadcast_in_dim dynamic_conv dynamic_gather dynamic_iota dynamic_pad dynamic_reshape
            real_dynamic_slice
        """,
        LEGALIZED: "einsum torch_index_select unary_einsum",
    },
    "transpose": {
        **BEFORE,
        NO_OPERANDS: "constant iota",
        OTHERWISE: "sort while",
        BITS: "bitcast_convert",
        RANDOM: "rng rng_bit_generator",
        LEGALIZED: LEGAL,
        NO_DERIVATIVE: """
            and compare count_leading_zeros is_finite not or popcnt shift_left shift_right_arithmetic
            shift_right_logical xor
        """,
        NOT_LINEAR: f"""
            abs atan2 ceil cholesky clamp floor maximum minimum power remainder round_nearest_afz round_nearest_even
            sign {" ".join(op.name for op in DERIVATIVES)}
        """,
    },
}
