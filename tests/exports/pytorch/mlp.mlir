// argument float32[2] 9co6vn/Dzj4=
// argument float32[2,5] OdSzvSB4zb5LtMW+i1GPvRKDvTugCFC+F4IsPuIWzr6WPve8Fl3JPg==
// argument float32[5] LrCfPopSyL7we9i9HJpPvvA8xb0=
// argument float32[5,4] gKxjPMCtML0QPc89YMaiPrp+8j4Gk6I+xAzzPmAdFL1m+OW+QLpyvs5Prj4Aa1S73Hx+vgItxL4AlO++7BDYvnC0z71WZIw+dGeKPgLl9r4=
// argument float32[3,4] XD/FP1A8lr5JcQvAtoQRP6HRir8tBbO/eoPOPuWIVj9EITi/C4POvhi9GL/GZzo+
// result float32[3,2] epfKPkS0Gj8en9A+cLAXP/T2yD6GhBs/
module @IrToHlo.49 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<2x5xf32>, %arg2: tensor<5xf32>, %arg3: tensor<5x4xf32>, %arg4: tensor<3x4xf32>) -> tensor<3x2xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<3x5xf32>
    %cst_0 = stablehlo.constant dense<0.707106769> : tensor<3x5xf32>
    %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<3x5xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.transpose %arg3, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[4,5]{0,1}"} : (tensor<5x4xf32>) -> tensor<4x5xf32>
    %1 = stablehlo.dot_general %arg4, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<5xf32>) -> tensor<3x5xf32>
    %3 = stablehlo.add %1, %2 : tensor<3x5xf32>
    %4 = stablehlo.multiply %3, %cst_1 : tensor<3x5xf32>
    %5 = stablehlo.multiply %3, %cst_0 : tensor<3x5xf32>
    %6 = stablehlo.custom_call @mhlo.erf(%5) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<3x5xf32>) -> tensor<3x5xf32>
    %7 = stablehlo.add %6, %cst : tensor<3x5xf32>
    %8 = stablehlo.multiply %4, %7 : tensor<3x5xf32>
    %9 = stablehlo.transpose %arg1, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[5,2]{0,1}"} : (tensor<2x5xf32>) -> tensor<5x2xf32>
    %10 = stablehlo.dot_general %8, %9, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x5xf32>, tensor<5x2xf32>) -> tensor<3x2xf32>
    %11 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<2xf32>) -> tensor<3x2xf32>
    %12 = stablehlo.add %10, %11 : tensor<3x2xf32>
    %13 = stablehlo.reduce(%12 init: %cst_3) applies stablehlo.maximum across dimensions = [1] : (tensor<3x2xf32>, tensor<f32>) -> tensor<3xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<3xf32>) -> tensor<3x2xf32>
    %15 = stablehlo.subtract %12, %14 : tensor<3x2xf32>
    %16 = stablehlo.exponential %15 : tensor<3x2xf32>
    %17 = stablehlo.reduce(%16 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<3x2xf32>, tensor<f32>) -> tensor<3xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0] : (tensor<3xf32>) -> tensor<3x2xf32>
    %19 = stablehlo.divide %16, %18 : tensor<3x2xf32>
    return %19 : tensor<3x2xf32>
  }
}
