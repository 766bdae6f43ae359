// argument float32[2,3] CN5Dvh3VoryOZNg/mUMfP1G5w7/AtgFA
// argument int32[2] AQAAAAAAAAA=
// result float32[2,2] HdWivAjeQ75RucO/mUMfPw==
// result float32[2,3] LpjcPqVExr8H6W1ALpjcPqVExr8H6W1A
// result float32[2,3] mUMfP1G5w7/AtgFACN5Dvh3VoryOZNg/
module {
  func.func @__inference_places_459(%arg0: tensor<2x3xf32>, %arg1: tensor<2xi32>) -> (tensor<2x2xf32>, tensor<2x3xf32>, tensor<2x3xf32>) attributes {allow_soft_placement = false} {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<2x3xf32>
    %0 = stablehlo.reshape %arg1 : (tensor<2xi32>) -> tensor<2x1xi32>
    %1 = "stablehlo.torch_index_select"(%arg0, %arg1) <{batch_dims = 0 : i64, dim = 1 : i64}> : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x2xf32>
    %2 = "stablehlo.scatter"(%cst, %arg1, %arg0) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %4 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<2x3xf32>, tensor<2xi32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %3 = "stablehlo.scatter"(%arg0, %0, %arg0) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %4 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<2x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    return %1, %3, %2 : tensor<2x2xf32>, tensor<2x3xf32>, tensor<2x3xf32>
  }
}
