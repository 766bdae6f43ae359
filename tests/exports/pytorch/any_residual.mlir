// argument float32[2] AACAPwAAgD8=
// argument float32[2] AAAAAAAAAAA=
// argument float32[2] AAAAAAAAAAA=
// argument float32[2] AACAPwAAgD8=
// argument float32[2,2,3,3] d9GuPTLRWb4QtRg+48/evB19173tAEE+iQpDvjMxzzzXIUq9i1ssPoe/hj3d8uc97HmqPb0paL1bCUu9SuZGvm7HAj5Eoj8+1yQlPt4/Kr7DOyw8bCQqvkjdBL4rpAy+cPekPT7UD75Jgai713QiPO2VGz69cja+LLIlvuAlDL5w7yg+M4WtvWyVSz73ja49
// argument float32[2,2,4,4] 6CrBP8I+BUCHddo/8VcYQLcTkL+TTaK+ANaLv1l6rr0Qvac+tb1Cv7iuzL9acZc8+RtAv5fbPT7sAh8/3l8jP8qFWLsb0Qi/kJeVP0T8yT7Ugfg/np9KPynnpbyw1N++SoTEv65K076nX3c/5fjPP2Myu75etqa/C5TLPX824j4GApY9OIGOP1WFkD7TUt4+LXBNv6nIpb/lC0C/fu6nv8xeUz6uuaq+m4/bviKCbj7MAEw/IEc9vvGDvb6B6pq/DZczvyeyhD8gihq/lK6jv7Fcvj2DhSq/+6gbP5XiOr8+AbA/ld0oP0v/8z5dFoK/H7I4Phnd3T0ZPEG/oy56Pg==
// result float32[2,2,4,4] R8UJQGEmBkBhOcs/+f4TQAAAAAAM1fQ9AAAAALhgJz7bSLI+AAAAAAAAAAAAAAAAAAAAAD2q7z1wvX0/+J4qP2h6JT0AAAAA1m6SPgAAAAA8U70/3DUkPyU9Mj8AAAAAAAAAAKBHFjxi/+Y/oAapPwAAAAAAAAAAHAIrPtbwMj6YQUc+J2CQPyzVWT+IWJo+AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAGLtTT9e8Ts/jkwSPgAAAAAAAAAAAAAAAG/5Pj8AAAAAAAAAABuahj4Y4fw9N+6iPwAAAAAXLsA/iB/LPjiGdD4AAAAAgbEYPgAAAAAAAAAAqISWPg==
module @IrToHlo.103 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>, %arg3: tensor<2xf32>, %arg4: tensor<2x2x3x3xf32>, %arg5: tensor<?x2x4x4xf32>) -> tensor<?x2x4x4xf32> {
    %c = stablehlo.constant dense<1> : tensor<4xi32>
    %c_0 = stablehlo.constant dense<4> : tensor<1xi32>
    %c_1 = stablehlo.constant dense<2> : tensor<1xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.get_dimension_size %arg5, dim = 0 : (tensor<?x2x4x4xf32>) -> tensor<i32>
    %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %1, %c_1, %c_0, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %3 = stablehlo.convolution(%arg5, %arg4) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<?x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<?x2x4x4xf32>
    %4 = "stablehlo.batch_norm_inference"(%3, %arg3, %arg2, %arg1, %arg0) <{epsilon = 9.99999974E-6 : f32, feature_index = 1 : i64}> : (tensor<?x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2x4x4xf32>
    %5 = stablehlo.get_dimension_size %4, dim = 0 : (tensor<?x2x4x4xf32>) -> tensor<i32>
    %6 = stablehlo.reshape %5 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %6, %c_1, %c_0, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %8 = stablehlo.maximum %2, %7 : tensor<4xi32>
    %9 = stablehlo.dynamic_broadcast_in_dim %arg5, %8, dims = [0, 1, 2, 3] : (tensor<?x2x4x4xf32>, tensor<4xi32>) -> tensor<?x2x4x4xf32>
    %10 = stablehlo.get_dimension_size %9, dim = 0 : (tensor<?x2x4x4xf32>) -> tensor<i32>
    %11 = stablehlo.reshape %10 : (tensor<i32>) -> tensor<1xi32>
    %12 = stablehlo.concatenate %11, %c_1, %c_0, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %13 = stablehlo.maximum %12, %c : tensor<4xi32>
    %14 = stablehlo.dynamic_broadcast_in_dim %arg5, %13, dims = [0, 1, 2, 3] : (tensor<?x2x4x4xf32>, tensor<4xi32>) -> tensor<?x2x4x4xf32>
    %15 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x2x4x4xf32>) -> tensor<i32>
    %16 = stablehlo.reshape %15 : (tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.concatenate %16, %c_1, %c_0, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %18 = stablehlo.dynamic_broadcast_in_dim %4, %8, dims = [0, 1, 2, 3] : (tensor<?x2x4x4xf32>, tensor<4xi32>) -> tensor<?x2x4x4xf32>
    %19 = stablehlo.get_dimension_size %18, dim = 0 : (tensor<?x2x4x4xf32>) -> tensor<i32>
    %20 = stablehlo.reshape %19 : (tensor<i32>) -> tensor<1xi32>
    %21 = stablehlo.concatenate %20, %c_1, %c_0, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %22 = stablehlo.maximum %17, %21 : tensor<4xi32>
    %23 = stablehlo.dynamic_broadcast_in_dim %arg5, %22, dims = [0, 1, 2, 3] : (tensor<?x2x4x4xf32>, tensor<4xi32>) -> tensor<?x2x4x4xf32>
    %24 = stablehlo.dynamic_broadcast_in_dim %4, %22, dims = [0, 1, 2, 3] : (tensor<?x2x4x4xf32>, tensor<4xi32>) -> tensor<?x2x4x4xf32>
    %25 = stablehlo.dynamic_broadcast_in_dim %cst_2, %13, dims = [] : (tensor<f32>, tensor<4xi32>) -> tensor<?x2x4x4xf32>
    %26 = stablehlo.multiply %24, %25 : tensor<?x2x4x4xf32>
    %27 = stablehlo.add %23, %26 : tensor<?x2x4x4xf32>
    %28 = stablehlo.get_dimension_size %27, dim = 0 : (tensor<?x2x4x4xf32>) -> tensor<i32>
    %29 = stablehlo.reshape %28 : (tensor<i32>) -> tensor<1xi32>
    %30 = stablehlo.concatenate %29, %c_1, %c_0, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %31 = stablehlo.maximum %30, %c : tensor<4xi32>
    %32 = stablehlo.dynamic_broadcast_in_dim %27, %31, dims = [0, 1, 2, 3] : (tensor<?x2x4x4xf32>, tensor<4xi32>) -> tensor<?x2x4x4xf32>
    %33 = stablehlo.dynamic_broadcast_in_dim %cst, %31, dims = [] : (tensor<f32>, tensor<4xi32>) -> tensor<?x2x4x4xf32>
    %34 = stablehlo.maximum %32, %33 : tensor<?x2x4x4xf32>
    return %34 : tensor<?x2x4x4xf32>
  }
}
