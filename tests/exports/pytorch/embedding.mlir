// argument int64[2,2] AQAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAgAAAAAAAAA=
// argument float32[5,3] gaySv5fz5L92x04/K1Ajv3wxHb8cjpo+ao+dvx1iyr5OGAK+JO99v/SXYL9M5Tu+Op1nP8xajj8SIR4+
// result float32[2,2,3] K1Ajv3wxHb8cjpo+Op1nP8xajj8SIR4+gaySv5fz5L92x04/ao+dvx1iyr5OGAK+
module @IrToHlo.8 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<2x2xi64>, %arg1: tensor<5x3xf32>) -> tensor<2x2x3xf32> {
    %0 = stablehlo.reshape %arg0 : (tensor<2x2xi64>) -> tensor<4xi64>
    %1 = stablehlo.convert %0 : (tensor<4xi64>) -> tensor<4xui32>
    %2 = "stablehlo.gather"(%arg1, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}> : (tensor<5x3xf32>, tensor<4xui32>) -> tensor<4x3xf32>
    %3 = stablehlo.reshape %2 : (tensor<4x3xf32>) -> tensor<2x2x3xf32>
    return %3 : tensor<2x2x3xf32>
  }
}
