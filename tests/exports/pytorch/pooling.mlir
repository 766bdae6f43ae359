// argument float32[3] M0EXPoD2jj1KoIO9
// argument float32[2,3,3,3] 5KHHPC/Gu7rZ0xu92s3FPKD/M72TPbG6LijJPPclGr57lM69tyEfPjzuH76LaWK8vPJCPo5gjj0+jLI7KMgqvkU/wz1OXgy+ZcNfvVs9hL2jd+m8SfUJOz2LIj6X0MQ8YYMwPlgZ8T3uLfm9vcWwPaZOC76mC6e9iNlnPSQkgj282BM+J8J9vZmGoTlT6co9c5U+vhx6Dj7v9SK+n9QtOyMFBr3rlM+92F/QPMD1Ij6obWa9Tf/pvXjEkb0TU0O+U+mxPUJKvb0TgwO+NxDjvaac4j2ZudA9
// argument float32[2,2,4,4] 6CrBP8I+BUCHddo/8VcYQLcTkL+TTaK+ANaLv1l6rr0Qvac+tb1Cv7iuzL9acZc8+RtAv5fbPT7sAh8/3l8jP8qFWLsb0Qi/kJeVP0T8yT7Ugfg/np9KPynnpbyw1N++SoTEv65K076nX3c/5fjPP2Myu75etqa/C5TLPX824j4GApY9OIGOP1WFkD7TUt4+LXBNv6nIpb/lC0C/fu6nv8xeUz6uuaq+m4/bviKCbj7MAEw/IEc9vvGDvb6B6pq/DZczvyeyhD8gihq/lK6jv7Fcvj2DhSq/+6gbP5XiOr8+AbA/ld0oP0v/8z5dFoK/H7I4Phnd3T0ZPEG/oy56Pg==
// result float32[2,3,2,2] usKYPv5/oz5Tntg+BDHIPkKCCT/BQAM/1rrePijV4D77fHs+7mGiPmSegD6BE0I9AIdwPjGIkD69DZ0+kmG3PkaUjz4KHZ8+2ulDPmqTjT5oCwE+jw4jPmDoRjrOcwE+
module @IrToHlo.213 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<3xf32>, %arg1: tensor<2x3x3x3xf32>, %arg2: tensor<2x2x4x4xf32>) -> tensor<2x3x2x2xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<5x5xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.transpose %arg1, dims = [2, 3, 1, 0] {result_layout = dense<[1, 0, 2, 3]> : tensor<4xindex>, xla_shape = "f32[3,3,3,2]{1,0,2,3}"} : (tensor<2x3x3x3xf32>) -> tensor<3x3x3x2xf32>
    %1 = stablehlo.reverse %0, dims = [0, 1] {result_layout = dense<[1, 0, 2, 3]> : tensor<4xindex>, xla_shape = "f32[3,3,3,2]{1,0,2,3}"} : tensor<3x3x3x2xf32>
    %2 = stablehlo.convolution(%arg2, %1) dim_numbers = [b, f, 0, 1]x[0, 1, o, i]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[2, 2], [2, 2]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x2x4x4xf32>, tensor<3x3x3x2xf32>) -> tensor<2x3x9x9xf32>
    %3 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<3xf32>) -> tensor<2x3x9x9xf32>
    %4 = stablehlo.add %2, %3 : tensor<2x3x9x9xf32>
    %5 = stablehlo.pad %4, %cst_0, low = [0, 0, 1, 1], high = [0, 0, 1, 1], interior = [0, 0, 0, 0] : (tensor<2x3x9x9xf32>, tensor<f32>) -> tensor<2x3x11x11xf32>
    %6 = "stablehlo.reduce_window"(%5, %cst_0) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 1, 3, 3>, window_strides = array<i64: 1, 1, 2, 2>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %11 = stablehlo.maximum %arg3, %arg4 : tensor<f32>
      stablehlo.return %11 : tensor<f32>
    }) : (tensor<2x3x11x11xf32>, tensor<f32>) -> tensor<2x3x5x5xf32>
    %7 = "stablehlo.reduce_window"(%6, %cst_1) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %11 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %11 : tensor<f32>
    }) : (tensor<2x3x5x5xf32>, tensor<f32>) -> tensor<2x3x2x2xf32>
    %8 = "stablehlo.reduce_window"(%cst, %cst_1) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %11 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %11 : tensor<f32>
    }) : (tensor<5x5xf32>, tensor<f32>) -> tensor<2x2xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [2, 3] : (tensor<2x2xf32>) -> tensor<2x3x2x2xf32>
    %10 = stablehlo.divide %7, %9 : tensor<2x3x2x2xf32>
    return %10 : tensor<2x3x2x2xf32>
  }
}
