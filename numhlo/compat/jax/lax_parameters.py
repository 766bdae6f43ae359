"""The parameters of functions of `jax.lax`, `jax.nn`, `jax.ops` and `jax.scipy`, as JAX has them.

A name alone is an argument that has to be given; one with ``?`` is None by default, one with ``=`` something else. What
stands before ``/`` is given by its place alone, what follows ``*`` by its name alone. With ``!`` it is an array or a
number: JAX refuses lists there, and what is neither. How calls are checked is in `calling`.
"""

LAX: dict[str, dict[str, str]] = {
    "lax": {
        "x!": """
            abs acos acosh asin asinh atan atanh bessel_i0e bessel_i1e bitwise_not ceil clz cosh digamma erf
            erf_inv erfc floor imag is_finite lgamma neg population_count real reciprocal sign sinh square""",
        "x! y!": """
            add atan2 bitwise_and bitwise_or bitwise_xor complex div eq ge gt le lt max min ne pow rem
            shift_left shift_right_arithmetic shift_right_logical sub""",
        "x axis_name * axis_index_groups? axis= tiled= to=": "all_gather",
        "x axis_name split_axis concat_axis * axis_index_groups? tiled=": "all_to_all",
        "operand! k reduction_dimension= recall_target= reduction_input_size_override= aggregate_to_topk=": """
            approx_max_k approx_min_k""",
        "operand axis index_dtype": "argmax argmin",
        "fn elems reverse= axis=": "associative_scan",
        "axis_name": "axis_index",
        "lhs rhs precision?": "batch_matmul",
        "a! b! x!": "betainc",
        "operand new_dtype": "bitcast_convert_type convert_element_type",
        "operand! sizes * out_sharding?": "broadcast",
        "operand! shape broadcast_dimensions * out_sharding?": "broadcast_in_dim",
        "arr! like_arr!": "broadcast_like",
        "*shapes": "broadcast_shapes",
        "dtype shape dimension * out_sharding?": "broadcasted_iota",
        "x! * accuracy?": "cbrt cos exp exp2 expm1 log log1p logistic rsqrt sin sqrt tan tanh",
        "min! x! max!": "clamp",
        "operand start_dimension stop_dimension?": "collapse",
        "decomposition name version=": "composite",
        "operands dimension": "concatenate",
        "pred true_fun false_fun *operands operand=": "cond",
        "x": "conj stop_gradient",
        "lhs rhs window_strides padding precision? preferred_element_type?": "conv",
        "lhs_shape rhs_shape dimension_numbers": "conv_dimension_numbers",
        (
            "lhs rhs window_strides padding lhs_dilation? rhs_dilation? dimension_numbers? "
            "feature_group_count= batch_group_count= precision? preferred_element_type? out_sharding?"
        ): "conv_general_dilated",
        "lhs! rhs window_strides padding filter_shape lhs_dilation? rhs_dilation? dimension_numbers? precision?": """
            conv_general_dilated_local""",
        (
            "lhs! filter_shape window_strides padding lhs_dilation? rhs_dilation? dimension_numbers? "
            "precision? preferred_element_type?"
        ): "conv_general_dilated_patches",
        (
            "lhs rhs strides padding rhs_dilation? dimension_numbers? transpose_kernel= precision? "
            "preferred_element_type? use_consistent_padding="
        ): "conv_transpose",
        "lhs rhs window_strides padding lhs_dilation rhs_dilation precision? preferred_element_type?": """
            conv_with_general_padding""",
        "operand! axis= reverse=": "cumlogsumexp cummax cummin cumprod cumsum",
        "matvec b solve transpose_solve? symmetric= has_aux=": "custom_linear_solve",
        "f initial_guess solve tangent_solve has_aux=": "custom_root",
        "lhs! rhs! * dimension_numbers? precision? preferred_element_type? out_sharding?": "dot",
        "lhs rhs dimension_numbers precision? preferred_element_type? * out_sharding?": "dot_general",
        "operand index axis= keepdims= * allow_negative_indices=": "dynamic_index_in_dim",
        "operand start_indices slice_sizes * allow_negative_indices=": "dynamic_slice",
        "operand start_index slice_size axis= * allow_negative_indices=": "dynamic_slice_in_dim",
        "operand update index axis * allow_negative_indices=": "dynamic_update_index_in_dim",
        "operand update start_indices * allow_negative_indices=": "dynamic_update_slice",
        "operand update start_index axis * allow_negative_indices=": "dynamic_update_slice_in_dim",
        "shape dtype * out_sharding?": "empty",
        "array dimensions": "expand_dims squeeze",
        "x fft_type fft_lengths": "fft",
        "lower upper body_fun init_val * unroll?": "fori_loop",
        "shape fill_value dtype? * sharding?": "full",
        "x fill_value dtype? shape? sharding?": "full_like",
        (
            "operand! start_indices! dimension_numbers slice_sizes * unique_indices= indices_are_sorted= "
            "mode? fill_value?"
        ): "gather",
        "a! x!": "igamma igammac",
        "operand index axis= keepdims=": "index_in_dim",
        "src idxs axes": "index_take",
        "x! y": "integer_pow",
        "dtype size": "iota",
        "f xs * batch_size?": "map",
        "x! y! * out_dtype?": "mul",
        "x! y! /": "mulhi",
        "x1! x2!": "nextafter",
        "operand /": "optimization_barrier",
        "operand! padding_value! padding_config": "pad",
        "in_shape window_shape window_strides padding": "padtype_to_pads",
        "x axis_name * axis_index_groups?": "pmax pmean pmin psum",
        "m! x!": "polygamma",
        "x axis_name perm": "ppermute pshuffle",
        "x axis_name source": "pbroadcast",
        "x axis_name * to": "pcast",
        "x axis_name * scatter_dimension= axis_index_groups? tiled=": "psum_scatter",
        "x axis_name axis * axis_index_groups?": "pswapaxes",
        "lhs! rhs! group_sizes! precision? preferred_element_type? group_offset? out_sharding?": "ragged_dot",
        "operands init_values computation dimensions out_sharding?": "reduce",
        "operand! axes": "reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_xor",
        "operand! exponent_bits mantissa_bits": "reduce_precision",
        "operand! axes * out_sharding?": "reduce_sum",
        (
            "operand init_value computation window_dimensions window_strides? padding= base_dilation? window_dilation?"
        ): "reduce_window",
        "operand! new_sizes dimensions? * out_sharding?": "reshape",
        "operand! dimensions": "rev",
        "key! shape dtype= algorithm= * out_sharding?": "rng_bit_generator",
        "a! b! shape": "rng_uniform",
        "x! rounding_method=": "round",
        "f init xs? length? reverse= unroll= _split_transpose=": "scan",
        "operand! scatter_indices! updates! dimension_numbers * indices_are_sorted= unique_indices= mode?": "scatter",
        "operand scatter_indices! updates! dimension_numbers * indices_are_sorted= unique_indices= mode?": """
            scatter_add scatter_max scatter_min scatter_mul scatter_sub""",
        (
            "operand scatter_indices func dimension_numbers * update_shape= indices_are_sorted= unique_indices= mode?"
        ): "scatter_apply",
        "pred! on_true! on_false!": "select",
        "which *cases": "select_n",
        "operand! start_indices limit_indices strides?": "slice",
        "operand start_index limit_index stride= axis=": "slice_in_dim",
        "operand dimension= is_stable= num_keys=": "sort",
        "keys values! dimension= is_stable=": "sort_key_val",
        "operand! sizes axis=": "split",
        "operands axis=": "stack",
        "index branches *operands operand=": "switch",
        "operand! reps": "tile",
        "operand! k * axis=": "top_k",
        "operand! permutation": "transpose",
        "x! axis=": "unstack",
        "cond_fun body_fun init_val": "while_loop",
        "x! q!": "zeta",
    },
    "lax.linalg": {
        "x * symmetrize_input=": "cholesky",
        "r_matrix! w_vector!": "cholesky_update",
        (
            "x! * compute_left_eigenvectors= compute_right_eigenvectors= enable_eigvec_derivs= "
            "implementation? use_magma?"
        ): "eig",
        "x * lower= symmetrize_input= sort_eigenvalues= subset_by_index? implementation?": "eigh",
        "a! taus!": "householder_product",
        "x!": "lu",
        "pivots! permutation_size": "lu_pivots_to_permutation",
        "a! taus! c! * left= transpose=": "ormqr",
        "x! * pivoting= full_matrices= use_magma?": "qr",
        "x! * compute_schur_vectors= sort_eig_vals= select_callable?": "schur",
        "x! * full_matrices= compute_uv= subset_by_index? algorithm?": "svd",
        "a_matrix! c_matrix! * alpha= beta= symmetrize_output=": "symmetric_product",
        "a! b! * left_side= lower= transpose_a= conjugate_a= unit_diagonal=": "triangular_solve",
        "dl! d! du! b! * perturb_singular=": "tridiagonal_solve",
    },
    "nn": {
        "x! alpha=": "celu elu",
        (
            "query key value bias? mask? * scale? is_causal= query_seq_lengths? key_value_seq_lengths? "
            "local_window_size? implementation? return_residual="
        ): "dot_product_attention",
        "x! approximate=": "gelu",
        "x! axis=": "glu",
        "x": "hard_sigmoid sparse_sigmoid",
        "x!": """
            hard_silu hard_swish hard_tanh identity log1mexp log_sigmoid mish relu relu6 selu sigmoid silu
            soft_sign softplus sparse_plus swish""",
        "x! negative_slope=": "leaky_relu",
        "x! axis= where!?": "log_softmax softmax",
        "x! axis? where!? keepdims=": "logmeanexp",
        "a! axis? b!? keepdims= return_sign= where!?": "logsumexp",
        "x num_classes * dtype? axis=": "one_hot",
        "x! b!=": "squareplus",
        "x! axis= mean? variance? epsilon= where? * algorithm=": "standardize",
        "x! /": "tanh",
    },
    "ops": {
        "data! segment_ids! num_segments? indices_are_sorted= unique_indices= bucket_size? mode? out_sharding?": """
            segment_max segment_min segment_prod segment_sum""",
    },
    "scipy.special": {
        "a! b!": "beta betaln",
        "a! b! x!": "betainc",
        "x! lmbda!": "boxcox boxcox1p",
        "N! k! * repetition=": "comb",
        "x!": """
            dawsn digamma entr erf erfc erfcx erfinv exp1 expi expit gamma gammaln gammasgn i0 i0e i1 i1e
            loggamma logit""",
        "n x": "expn",
        "n! exact=": "factorial",
        "a! x!": "gammainc gammaincc",
        "p! q!": "kl_div rel_entr",
        "x series_order=": "log_ndtr",
        "x! / * axis?": "log_softmax softmax",
        "a! axis? b!? keepdims= return_sign= where!?": "logsumexp",
        "a! d": "multigammaln",
        "x": "ndtr spence",
        "p": "ndtri",
        "z! m!": "poch",
        "n x!": "polygamma",
        "x! y!": "xlog1py xlogy",
        "x q!?": "zeta",
    },
    "scipy.linalg": {
        "*arrs": "block_diag",
        "a lower= overwrite_a= check_finite=": "cho_factor cholesky",
        "c_and_lower b overwrite_b= check_finite=": "cho_solve",
        "c!": "circulant",
        "a!": "companion fiedler",
        "a! n mode=": "convolution_matrix",
        "a! overwrite_a= check_finite=": "det inv",
        "n scale? * dtype?": "dft",
        "a b? lower= eigvals_only= overwrite_a= overwrite_b= turbo= eigvals? type= check_finite=": "eigh",
        "d e * eigvals_only= select= select_range? tol? key?": "eigh_tridiagonal",
        "A * upper_triangular= max_squarings=": "expm",
        "n dtype=": "hadamard",
        "c! r!?": "hankel toeplitz",
        "n full=": "helmert",
        "n": "hilbert invhilbert",
        "n kind?": "invpascal pascal",
        "f! s!": "leslie",
        "a permute_l= overwrite_a= check_finite=": "lu",
        "a overwrite_a= check_finite=": "lu_factor",
        "lu_and_piv b trans= overwrite_b= check_finite=": "lu_solve",
        "a side= * method= eps? max_iterations?": "polar",
        "a overwrite_a= lwork? mode= pivoting= check_finite=": "qr",
        "a! output=": "schur",
        "a! b! lower= overwrite_a= overwrite_b= debug= check_finite= assume_a=": "solve",
        "a b trans= lower= unit_diagonal= overwrite_b= debug? check_finite=": "solve_triangular",
        "A blocksize=": "sqrtm",
        "a full_matrices= compute_uv= overwrite_a= check_finite= lapack_driver=": "svd",
    },
    "scipy.signal": {
        "in1 in2 mode= method= precision?": "convolve correlate",
        "in1 in2 mode= boundary= fillvalue= precision?": "convolve2d correlate2d",
        "x y! fs= window= nperseg? noverlap? nfft? detrend= return_onesided= scaling= axis= average=": "csd",
        "data axis= type= bp= overwrite_data?": "detrend",
        "in1! in2! mode= axes?": "fftconvolve",
        "Zxx! fs= window= nperseg? noverlap? nfft? input_onesided= boundary= time_axis= freq_axis=": "istft",
        "x fs= window= nperseg= noverlap? nfft? detrend= return_onesided= boundary= padded= axis=": "stft",
        "x fs= window= nperseg? noverlap? nfft? detrend= return_onesided= scaling= axis= average=": "welch",
    },
    "scipy.fft": {
        "x! type= n? axis= norm?": "dct idct",
        "x! type= s? axes? norm?": "dctn idctn",
    },
    "scipy.ndimage": {
        "input coordinates order mode= cval=": "map_coordinates",
    },
}
"""By module and parameters, the functions that take them."""
