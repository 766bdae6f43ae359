"""Small HLO texts in all the forms that XLA's dumps have; tests read them, and the fuzzer changes them."""

from __future__ import annotations

LONG = """
HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[2,3]{1,0}, /*index=1*/s32[])->f32[2,3]{0,1}}, input_output_alias={ {}: (0, {}, may-alias) }, buffer_donor={ (0, {}) }, allow_spmd_sharding_propagation_to_parameters={true,true}, frontend_attributes={a="b{"}, replica_count=1, num_partitions=1

FileNames
1 "model.py"
2 "<stdin>"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=12 end_line=12 column=8 end_column=28}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

%region_0.1 (a.1: f32[], b.1: f32[]) -> f32[] {
  %a.1 = f32[] parameter(0), metadata={op_name="reduce_sum"}
  %b.1 = f32[] parameter(1), metadata={op_name="reduce_sum"}
  ROOT %c.1 = f32[] add(f32[] %a.1, f32[] %b.1), metadata={op_name="jit(f)/reduce_sum" stack_frame_id=1}
}

%fused (p: f32[2,3]) -> f32[3,2] {
  %p = f32[2,3]{1,0:T(8,128)(2,1)S(1)} parameter(0)
  ROOT %bitcast.1 = f32[3,2]{0,1:T(8,128)} bitcast(f32[2,3]{1,0} %p)
}, execution_thread="main"

ENTRY %main.1 (x.1: f32[2,3], n.1: s32[]) -> f32[2,3] {
  %x.1 = f32[2,3]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}, frontend_attributes={k="v\\"}"}
  %n.1 = s32[] parameter(1), sharding={replicated}, parameter_replication={true}
  %zero = f32[] constant(0)
  %sums = f32[2]{0} reduce(f32[2,3]{1,0} %x.1, f32[] %zero), dimensions={1}, to_apply=%region_0.1
  %wide = f32[2,3]{1,0} broadcast(%sums), dimensions={0}, control-predecessors={%zero}, statistics={visualizing_index=0}
  %turned = f32[3,2]{0,1} fusion(%wide), kind=kLoop, calls=%fused, backend_config={"outer_dimension_partitions":["2"],"s":"}"}
  %copied = f32[3,2]{1,0} copy(%turned), origin={{"x" {0}}}
  ROOT %back = f32[2,3]{0,1} transpose(%copied), dimensions={1,0}, metadata={op_type="t" op_name="back" source_file="b.py" source_line=7 deduplicated_name="x"}
}
"""

SHORT = """HloModule m, entry_computation_layout={(f32[4]{0})->f32[]}

region_0.1 {
  Arg_0.1 = f32[] parameter(0)
  Arg_1.1 = f32[] parameter(1)
  ROOT maximum.1 = f32[] maximum(Arg_0.1, Arg_1.1)
}

ENTRY main.1 {
  Arg_0.2 = f32[4]{0} parameter(0)
  constant.1 = f32[] constant(-inf)
  ROOT reduce.1 = f32[] reduce(Arg_0.2, constant.1), dimensions={0}, to_apply=region_0.1
}
"""

ONE_LINE = "HloModule m f { ROOT x = s8[2] parameter(0) } ENTRY e { y = s8[2] parameter(0) ROOT z = s8[2] call(y), to_apply=f }"

NESTED = """
HloModule nested
// a comment to the end of the line
ENTRY entry {
  /* a comment
     of several lines */
  ROOT %r = f32[2]{0} add(f32[2]{0} multiply(f32[2]{0} parameter(0), f32[2]{0} constant({1, 2})), f32[2]{0} negate(f32[2]{0} parameter(1)))
}
"""

INFERRED = """
HloModule inferred
ENTRY e {
  x = f32[2,3] parameter(0)
  y = multiply(x, x)
  z = transpose(y), dimensions={1,0}
  p = compare(x, y), direction=LT
  w = dot(y, z), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[3,2], pred[2,3], f32[2,2]) tuple(z, p, w)
}
"""

ORDER = """
HloModule order
ENTRY e {
  add = f32[] parameter(1)
  parameter.1 = f32[] parameter(0)
  ROOT tuple.3 = (f32[], f32[]) tuple(add, parameter.1), sharding={{replicated}, {maximal device=0}}
  after = f32[] negate(add)
}
"""

LOOPS = """
HloModule loops
cond { s = (s32[], f32[2]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(3)
  ROOT p = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[2]) parameter(0)  i = s32[] get-tuple-element(s), index=0  one = s32[] constant(1)
  j = s32[] add(i, one)  x = f32[2] get-tuple-element(s), index=1  y = f32[2] add(x, x)
  ROOT t = (s32[], f32[2]) tuple(j, y) }
twice { x = f32[2] parameter(0)  ROOT y = f32[2] add(x, x) }
minus { x = f32[2] parameter(0)  ROOT y = f32[2] negate(x) }
ENTRY e {
  x = f32[2] parameter(0)
  z = s32[] constant(0)
  s = (s32[], f32[2]) tuple(z, x)
  w = (s32[], f32[2]) while(s), condition=cond, body=body, backend_config={"known_trip_count":{"n":"3"}}
  y = f32[2] get-tuple-element(w), index=1
  b = f32[2] conditional(z, y, y), branch_computations={twice, minus}
  p = pred[] constant(true)
  ROOT c = f32[2] conditional(p, b, y), true_computation=twice, false_computation=minus
}
"""

WINDOWS = """
HloModule windows
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ge { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=GE }
ENTRY e {
  x = f32[1,5,5,2] parameter(0)
  k = f32[3,3,2,4] parameter(1)
  y = f32[1,3,3,4] convolution(x, k), window={size=3x3 stride=2x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, operand_precision={highest,highest}
  z = f32[] constant(0)
  r = f32[1,2,2,4] reduce-window(y, z), window={size=1x2x2x1 rhs_dilate=1x1x1x1}, to_apply=add
  s = f32[1,3,3,4] select-and-scatter(y, r, z), window={size=1x2x2x1}, select=ge, scatter=add
  p = f32[1,4,4,4] pad(s, z), padding=0_0x1_0x0_1_0x0_0
  q = f32[1,2,2,1] slice(p), slice={[0:1], [0:4:2], [1:3], [3:4]}
  ROOT t = (f32[1,3,3,4], f32[1,2,2,1]) tuple(s, q)
}
"""

INDEXING = """
HloModule indexing
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
less { a = f32[] parameter(0)  b = f32[] parameter(1)  i = s32[] parameter(2)  j = s32[] parameter(3)
  ROOT c = pred[] compare(a, b), direction=LT, type=TOTALORDER }
ENTRY e {
  x = f32[4,5] parameter(0)
  i = s32[3] constant({0, 2, 3})
  g = f32[3,5] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,5}
  s = f32[4,5] scatter(x, i, g), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, unique_indices=true, to_apply=add
  n = s32[] constant(1)
  d = f32[2,5] dynamic-slice(s, n, n), dynamic_slice_sizes={2,5}
  u = f32[4,5] dynamic-update-slice(s, d, n, n)
  v = f32[4,1] slice(u), slice={[0:4], [0:1]}
  w = f32[4] reshape(v)
  k = s32[4] iota(), iota_dimension=0
  ROOT o = (f32[4], s32[4]) sort(w, k), dimensions={0}, is_stable=true, to_apply=less
}
"""

PROCESSES = """
HloModule processes, replica_count=2
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
work { a = f32[4] parameter(0)  b = f32[4] parameter(1)  ROOT c = f32[4] multiply(a, b) }
ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
  g = f32[8] all-gather(a), dimensions={0}, replica_groups=[1,2]<=[2]
  c = (f32[4], f32[4], u32[], u32[]) collective-permute-start(a), source_target_pairs={{0,1},{1,0}}
  d = f32[4] collective-permute-done(c)
  s = ((f32[4], f32[4]), f32[4], u32[]) async-start(d, a), calls=work
  w = f32[4] async-done(s), calls=work
  k = token[] after-all()
  o = token[] outfeed(w, k), outfeed_shape=f32[4]{0}, outfeed_config="c"
  f = (f32[4]{0}, token[]) infeed(o)
  v = f32[4] get-tuple-element(f), index=0
  m = (f32[4], s32[]) custom-call(v), custom_call_target="my", operand_layout_constraints={f32[4]{0}}, api_version=API_VERSION_TYPED_FFI, backend_config={n = 1 : i64}
  ROOT q = f32[4] get-tuple-element(m), index=0
}
"""

CONSTANTS = """
HloModule constants
ENTRY e {
  a = pred[2] constant({1, false})
  b = s4[3] constant({-8, 0, 7})
  c = c64[2] constant({(1, -2.5), (0, inf)})
  d = bf16[2,1] constant({ { /*i0=0*/ 1.5 }, { -0.0 } })
  f = f32[3] constant({nan(0x400001), -inf, 1e-40})
  g = f8e5m2[0,3] constant({})
  h = u64[] constant(18446744073709551615)
  ROOT t = (pred[2], s4[3], c64[2], bf16[2,1], f32[3], f8e5m2[0,3], u64[]) tuple(a, b, c, d, f, /*index=5*/g, h)
}
"""

TEXTS = (LONG, SHORT, ONE_LINE, NESTED, INFERRED, ORDER, LOOPS, WINDOWS, INDEXING, PROCESSES, CONSTANTS)
