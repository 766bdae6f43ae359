// argument int64[3] AgAAAAAAAAAAAAAAAAAAAAIAAAAAAAAA
// argument float32[3,4] XD/FP1A8lr5JcQvAtoQRP6HRir8tBbO/eoPOPuWIVj9EITi/C4POvhi9GL/GZzo+
// argument float32[3,4] dXyzPJh0CD8BhP6+KuDUP4Xdwr0/ikc+0LFfPSCYjT/YSOO/SSAxwJw1nr8wvwK/
// argument int64[3,1] AgAAAAAAAAAAAAAAAAAAAAEAAAAAAAAA
// result float32[3,4] RCE4vwuDzr4YvRi/xmc6Plw/xT9QPJa+SXELwLaEET9EITi/C4POvhi9GL/GZzo+
// result float32[3,4] hBG5P8Lcyb2C8gfAe1rWP6HRir8tBbO/eoPOPuWIVj/ERR7AhNMowJQaFcCLzao/
// result float32[3,4] XD/FP1A8lr51fLM8toQRP4Xdwr0tBbO/eoPOPuWIVj9EITi/2Ejjvxi9GL/GZzo+
module @IrToHlo.46 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<3xi64>, %arg1: tensor<3x4xf32>, %arg2: tensor<3x4xf32>, %arg3: tensor<3x1xi64>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
    %c = stablehlo.constant dense<3> : tensor<3xi64>
    %c_0 = stablehlo.constant dense<0> : tensor<3xi64>
    %0 = stablehlo.compare  LT, %arg0, %c_0 : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
    %1 = stablehlo.add %arg0, %c : tensor<3xi64>
    %2 = stablehlo.select %0, %1, %arg0 : tensor<3xi1>, tensor<3xi64>
    %3 = stablehlo.reshape %2 : (tensor<3xi64>) -> tensor<3x1xi64>
    %4 = "stablehlo.gather"(%arg1, %3) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xf32>, tensor<3x1xi64>) -> tensor<3x4xf32>
    %5 = "stablehlo.scatter"(%arg1, %3, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %12 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %12 : tensor<f32>
    }) : (tensor<3x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %6 = stablehlo.iota dim = 0 : tensor<3xi64>
    %7 = stablehlo.reshape %6 : (tensor<3xi64>) -> tensor<3x1x1xi64>
    %8 = stablehlo.reshape %arg3 : (tensor<3x1xi64>) -> tensor<3x1x1xi64>
    %9 = stablehlo.concatenate %7, %8, dim = 2 : (tensor<3x1x1xi64>, tensor<3x1x1xi64>) -> tensor<3x1x2xi64>
    %10 = stablehlo.slice %arg2 [0:3, 0:1] : (tensor<3x4xf32>) -> tensor<3x1xf32>
    %11 = "stablehlo.scatter"(%arg1, %9, %10) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      stablehlo.return %arg5 : tensor<f32>
    }) : (tensor<3x4xf32>, tensor<3x1x2xi64>, tensor<3x1xf32>) -> tensor<3x4xf32>
    return %4, %5, %11 : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
  }
}
