// argument float32[1,2,3,4] OqGyv2hwzL5nsJ6+GqFlvSx1BD99Ucy/RYgKP5b8xD9AZcc+xjO7P9OB9T7njAi/ku4NvZ1EKD96xo6/mz8MQFmM976W1KK/1TEyvpjaDT/VAzq+yxlwvunX8r/M+RG7
// argument bool[] AQ==
// argument float32[1,2,3,4] qzP6vvJ1ST+HWNw9LiaJvwbl7r0ZLIK/Wv+4v7HJTr+YBsg+7ESUPnB7MMBsFVW/Y9/6PpbmlD5D7CQ/L4V7QCmZJr4bqn2+jdwaQGOj0j8kDZ6+eOLBv6gL+T+lKqW/
// argument float32[1,2,3,4] yOU4PmtGrj8PYQJAbp4kP6+JO7+Stfm+mpJvvtASNT+lGz2+cVU7v9Uspb1D5Xq/58V3PUJY+r6D3sm/TMy4PqcXIr+GuqU//T27P73UHr8UB30/dEbdvjcwj78su8E+
// result float32[1,2,3,4] OqGyv2hwzL5nsJ6+GqFlvbvsLb6SRpW/rAZxPqFGdz+CroC8FXHRvk7vmj5R+Qc/ku4NvZ1EKD96xo6/mz8MQLK72L71toG/0bqZvosORj+sAPG93XmIPqCoir/LGdY/
module @IrToHlo.85 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<1x2x3x4xf32>, %arg1: tensor<i1>, %arg2: tensor<1x2x3x4xf32>, %arg3: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<3x3xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<3x3xf32>
    %c = stablehlo.constant dense<0> : tensor<3x3xi64>
    %cst_1 = stablehlo.constant dense<0.707106769> : tensor<1x2x4x3xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c_4 = stablehlo.constant dense<[0, 1, 2]> : tensor<3xi64>
    %cst_5 = stablehlo.constant dense<0.707106769> : tensor<1x2x3x4xf32>
    %0 = stablehlo.multiply %arg3, %cst_5 : tensor<1x2x3x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x3x4xf32>) -> tensor<2x3x4xf32>
    %2 = stablehlo.transpose %arg2, dims = [0, 1, 3, 2] {result_layout = dense<[2, 3, 1, 0]> : tensor<4xindex>, xla_shape = "f32[1,2,4,3]{2,3,1,0}"} : (tensor<1x2x3x4xf32>) -> tensor<1x2x4x3xf32>
    %3 = stablehlo.multiply %2, %cst_1 : tensor<1x2x4x3xf32>
    %4 = stablehlo.reshape %3 : (tensor<1x2x4x3xf32>) -> tensor<2x4x3xf32>
    %5 = stablehlo.dot_general %1, %4, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<2x4x3xf32>) -> tensor<2x3x3xf32>
    %6 = stablehlo.reshape %5 : (tensor<2x3x3xf32>) -> tensor<1x2x3x3xf32>
    %7 = stablehlo.broadcast_in_dim %c_4, dims = [1] : (tensor<3xi64>) -> tensor<3x3xi64>
    %8 = stablehlo.broadcast_in_dim %c_4, dims = [0] : (tensor<3xi64>) -> tensor<3x3xi64>
    %9 = stablehlo.subtract %7, %8 : tensor<3x3xi64>
    %10 = stablehlo.compare  LE, %9, %c : (tensor<3x3xi64>, tensor<3x3xi64>) -> tensor<3x3xi1>
    %11 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i1>) -> tensor<3x3xi1>
    %12 = stablehlo.and %10, %11 : tensor<3x3xi1>
    %13 = stablehlo.select %12, %cst_0, %cst : tensor<3x3xi1>, tensor<3x3xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [2, 3] : (tensor<3x3xf32>) -> tensor<1x2x3x3xf32>
    %15 = stablehlo.add %6, %14 : tensor<1x2x3x3xf32>
    %16 = stablehlo.reduce(%15 init: %cst_2) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<1x2x3xf32>) -> tensor<1x2x3x3xf32>
    %18 = stablehlo.subtract %15, %17 : tensor<1x2x3x3xf32>
    %19 = stablehlo.exponential %18 : tensor<1x2x3x3xf32>
    %20 = stablehlo.reduce(%19 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2] : (tensor<1x2x3xf32>) -> tensor<1x2x3x3xf32>
    %22 = stablehlo.divide %19, %21 : tensor<1x2x3x3xf32>
    %23 = stablehlo.reshape %22 : (tensor<1x2x3x3xf32>) -> tensor<2x3x3xf32>
    %24 = stablehlo.reshape %arg0 : (tensor<1x2x3x4xf32>) -> tensor<2x3x4xf32>
    %25 = stablehlo.dot_general %23, %24, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %26 = stablehlo.reshape %25 : (tensor<2x3x4xf32>) -> tensor<1x2x3x4xf32>
    return %26 : tensor<1x2x3x4xf32>
  }
}
