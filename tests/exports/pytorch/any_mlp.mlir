// argument float32[2] 9co6vn/Dzj4=
// argument float32[2,5] OdSzvSB4zb5LtMW+i1GPvRKDvTugCFC+F4IsPuIWzr6WPve8Fl3JPg==
// argument float32[5] LrCfPopSyL7we9i9HJpPvvA8xb0=
// argument float32[5,4] gKxjPMCtML0QPc89YMaiPrp+8j4Gk6I+xAzzPmAdFL1m+OW+QLpyvs5Prj4Aa1S73Hx+vgItxL4AlO++7BDYvnC0z71WZIw+dGeKPgLl9r4=
// argument float32[3,4] XD/FP1A8lr5JcQvAtoQRP6HRir8tBbO/eoPOPuWIVj9EITi/C4POvhi9GL/GZzo+
// result float32[3,2] epfKPkS0Gj8en9A+cLAXP/T2yD6GhBs/
module @IrToHlo.73 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<2x5xf32>, %arg2: tensor<5xf32>, %arg3: tensor<5x4xf32>, %arg4: tensor<?x4xf32>) -> tensor<?x2xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<2> : tensor<1xi32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %c_3 = stablehlo.constant dense<5> : tensor<1xi32>
    %cst_4 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %0 = stablehlo.transpose %arg3, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[4,5]{0,1}"} : (tensor<5x4xf32>) -> tensor<4x5xf32>
    %1 = stablehlo.dot_general %arg4, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<?x4xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>
    %2 = stablehlo.get_dimension_size %1, dim = 0 : (tensor<?x5xf32>) -> tensor<i32>
    %3 = stablehlo.reshape %2 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %3, %c_3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %arg2, %4, dims = [1] : (tensor<5xf32>, tensor<2xi32>) -> tensor<?x5xf32>
    %6 = stablehlo.add %1, %5 : tensor<?x5xf32>
    %7 = stablehlo.get_dimension_size %6, dim = 0 : (tensor<?x5xf32>) -> tensor<i32>
    %8 = stablehlo.reshape %7 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.concatenate %8, %c_3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %10 = stablehlo.dynamic_broadcast_in_dim %cst_4, %9, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %11 = stablehlo.multiply %6, %10 : tensor<?x5xf32>
    %12 = stablehlo.dynamic_broadcast_in_dim %cst_2, %9, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %13 = stablehlo.multiply %6, %12 : tensor<?x5xf32>
    %14 = stablehlo.custom_call @mhlo.erf(%13) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<?x5xf32>) -> tensor<?x5xf32>
    %15 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x5xf32>) -> tensor<i32>
    %16 = stablehlo.reshape %15 : (tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.concatenate %16, %c_3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %18 = stablehlo.dynamic_broadcast_in_dim %cst_1, %17, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %19 = stablehlo.add %14, %18 : tensor<?x5xf32>
    %20 = stablehlo.multiply %11, %19 : tensor<?x5xf32>
    %21 = stablehlo.transpose %arg1, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[5,2]{0,1}"} : (tensor<2x5xf32>) -> tensor<5x2xf32>
    %22 = stablehlo.dot_general %20, %21, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<?x5xf32>, tensor<5x2xf32>) -> tensor<?x2xf32>
    %23 = stablehlo.get_dimension_size %22, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
    %24 = stablehlo.reshape %23 : (tensor<i32>) -> tensor<1xi32>
    %25 = stablehlo.concatenate %24, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %26 = stablehlo.dynamic_broadcast_in_dim %arg0, %25, dims = [1] : (tensor<2xf32>, tensor<2xi32>) -> tensor<?x2xf32>
    %27 = stablehlo.add %22, %26 : tensor<?x2xf32>
    %28 = stablehlo.reduce(%27 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<?x2xf32>, tensor<f32>) -> tensor<?xf32>
    %29 = stablehlo.get_dimension_size %27, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
    %30 = stablehlo.reshape %29 : (tensor<i32>) -> tensor<1xi32>
    %31 = stablehlo.concatenate %30, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %32 = stablehlo.dynamic_broadcast_in_dim %28, %31, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x2xf32>
    %33 = stablehlo.subtract %27, %32 : tensor<?x2xf32>
    %34 = stablehlo.exponential %33 : tensor<?x2xf32>
    %35 = stablehlo.reduce(%34 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<?x2xf32>, tensor<f32>) -> tensor<?xf32>
    %36 = stablehlo.dynamic_broadcast_in_dim %35, %31, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x2xf32>
    %37 = stablehlo.divide %34, %36 : tensor<?x2xf32>
    return %37 : tensor<?x2xf32>
  }
}
