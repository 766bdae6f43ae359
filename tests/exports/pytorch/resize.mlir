// argument float32[1,2,4,4] 6CrBP8I+BUCHddo/8VcYQLcTkL+TTaK+ANaLv1l6rr0Qvac+tb1Cv7iuzL9acZc8+RtAv5fbPT7sAh8/3l8jP8qFWLsb0Qi/kJeVP0T8yT7Ugfg/np9KPynnpbyw1N++SoTEv65K076nX3c/5fjPP2Myu75etqa/C5TLPX824j4=
// result float32[1,2,3,6] zfWIP+oisD9m4s0/5SuoP3NqzT+gFvw/5kjMvrIW8L7/Xyy/fQubv0yHML8Cngi95hwSvxgEi76vBYU9RQFbPl83yT4n7wg/BUOkPqKYcTtqrsu9O6xBP2X7HD8aBIM+KPZPPl31SD7yW3I+vfzZPviNCD+5Axg/FIEPv6F7W7/rz2u/j0YyPK4D4j5UlCM/
module @IrToHlo.91 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<1x2x4x4xf32>) -> tensor<1x2x3x6xf32> {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<6x3xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<6xf32>
    %cst_1 = stablehlo.constant dense<0.666666686> : tensor<6xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<6xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<6x3xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<6x3xf32>
    %cst_6 = stablehlo.constant dense<5.000000e-01> : tensor<3x3xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<3xf32>
    %cst_8 = stablehlo.constant dense<1.33333337> : tensor<3xf32>
    %cst_9 = stablehlo.constant dense<5.000000e-01> : tensor<3xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<3x3xf32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<3x3xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<3xf32>
    %0 = stablehlo.iota dim = 0 : tensor<3xf32>
    %1 = stablehlo.add %0, %cst_9 : tensor<3xf32>
    %2 = stablehlo.multiply %1, %cst_8 : tensor<3xf32>
    %3 = stablehlo.subtract %2, %cst_7 : tensor<3xf32>
    %4 = stablehlo.subtract %3, %cst_9 : tensor<3xf32>
    %5 = stablehlo.ceil %4 : tensor<3xf32>
    %6 = stablehlo.clamp %cst_13, %5, %cst_7 : tensor<3xf32>
    %7 = stablehlo.subtract %6, %2 : tensor<3xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<3xf32>) -> tensor<3x3xf32>
    %9 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<3xf32>) -> tensor<3x3xf32>
    %10 = stablehlo.add %8, %9 : tensor<3x3xf32>
    %11 = stablehlo.add %10, %cst_6 : tensor<3x3xf32>
    %12 = stablehlo.abs %11 : tensor<3x3xf32>
    %13 = stablehlo.subtract %cst_12, %12 : tensor<3x3xf32>
    %14 = stablehlo.maximum %13, %cst_11 : tensor<3x3xf32>
    %15 = stablehlo.reduce(%14 init: %cst_10) applies stablehlo.add across dimensions = [1] : (tensor<3x3xf32>, tensor<f32>) -> tensor<3xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<3xf32>) -> tensor<3x3xf32>
    %17 = stablehlo.divide %14, %16 : tensor<3x3xf32>
    %18 = stablehlo.iota dim = 0 : tensor<6xf32>
    %19 = stablehlo.add %18, %cst_2 : tensor<6xf32>
    %20 = stablehlo.multiply %19, %cst_1 : tensor<6xf32>
    %21 = stablehlo.subtract %20, %cst_0 : tensor<6xf32>
    %22 = stablehlo.subtract %21, %cst_2 : tensor<6xf32>
    %23 = stablehlo.ceil %22 : tensor<6xf32>
    %24 = stablehlo.clamp %cst_3, %23, %cst_0 : tensor<6xf32>
    %25 = stablehlo.subtract %24, %20 : tensor<6xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0] : (tensor<6xf32>) -> tensor<6x3xf32>
    %27 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<3xf32>) -> tensor<6x3xf32>
    %28 = stablehlo.add %26, %27 : tensor<6x3xf32>
    %29 = stablehlo.add %28, %cst : tensor<6x3xf32>
    %30 = stablehlo.abs %29 : tensor<6x3xf32>
    %31 = stablehlo.subtract %cst_4, %30 : tensor<6x3xf32>
    %32 = stablehlo.maximum %31, %cst_5 : tensor<6x3xf32>
    %33 = stablehlo.reduce(%32 init: %cst_10) applies stablehlo.add across dimensions = [1] : (tensor<6x3xf32>, tensor<f32>) -> tensor<6xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0] : (tensor<6xf32>) -> tensor<6x3xf32>
    %35 = stablehlo.divide %32, %34 : tensor<6x3xf32>
    %36 = stablehlo.dot_general %17, %35, contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<3x3xf32>, tensor<6x3xf32>) -> tensor<3x3x6x3xf32>
    %37 = stablehlo.transpose %arg0, dims = [0, 3, 2, 1] {result_layout = dense<[1, 2, 3, 0]> : tensor<4xindex>, xla_shape = "f32[1,4,4,2]{1,2,3,0}"} : (tensor<1x2x4x4xf32>) -> tensor<1x4x4x2xf32>
    %38 = stablehlo.broadcast_in_dim %24, dims = [0] : (tensor<6xf32>) -> tensor<6x3x1xf32>
    %39 = stablehlo.broadcast_in_dim %6, dims = [1] : (tensor<3xf32>) -> tensor<6x3x1xf32>
    %40 = stablehlo.concatenate %38, %39, dim = 2 : (tensor<6x3x1xf32>, tensor<6x3x1xf32>) -> tensor<6x3x2xf32>
    %41 = stablehlo.convert %40 : (tensor<6x3x2xf32>) -> tensor<6x3x2xi32>
    %42 = "stablehlo.gather"(%37, %41) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 2, 3], start_index_map = [1, 2], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3, 3, 2>}> : (tensor<1x4x4x2xf32>, tensor<6x3x2xi32>) -> tensor<1x3x3x2x6x3xf32>
    %43 = stablehlo.dot_general %36, %42, batching_dims = [2, 0] x [4, 5], contracting_dims = [3, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<3x3x6x3xf32>, tensor<1x3x3x2x6x3xf32>) -> tensor<6x3x1x2xf32>
    %44 = stablehlo.reshape %43 : (tensor<6x3x1x2xf32>) -> tensor<1x6x3x2xf32>
    %45 = stablehlo.transpose %44, dims = [0, 3, 2, 1] {result_layout = dense<[1, 0, 2, 3]> : tensor<4xindex>, xla_shape = "f32[1,2,3,6]{1,0,2,3}"} : (tensor<1x6x3x2xf32>) -> tensor<1x2x3x6xf32>
    return %45 : tensor<1x2x3x6xf32>
  }
}
