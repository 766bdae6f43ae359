// argument float32[2] AACAPwAAgD8=
// argument float32[2] AAAAAAAAAAA=
// argument float32[2] AAAAAAAAAAA=
// argument float32[2] AACAPwAAgD8=
// argument float32[2,2,3,3] d9GuPTLRWb4QtRg+48/evB19173tAEE+iQpDvjMxzzzXIUq9i1ssPoe/hj3d8uc97HmqPb0paL1bCUu9SuZGvm7HAj5Eoj8+1yQlPt4/Kr7DOyw8bCQqvkjdBL4rpAy+cPekPT7UD75Jgai713QiPO2VGz69cja+LLIlvuAlDL5w7yg+M4WtvWyVSz73ja49
// argument float32[2,2,4,4] 6CrBP8I+BUCHddo/8VcYQLcTkL+TTaK+ANaLv1l6rr0Qvac+tb1Cv7iuzL9acZc8+RtAv5fbPT7sAh8/3l8jP8qFWLsb0Qi/kJeVP0T8yT7Ugfg/np9KPynnpbyw1N++SoTEv65K076nX3c/5fjPP2Myu75etqa/C5TLPX824j4GApY9OIGOP1WFkD7TUt4+LXBNv6nIpb/lC0C/fu6nv8xeUz6uuaq+m4/bviKCbj7MAEw/IEc9vvGDvb6B6pq/DZczvyeyhD8gihq/lK6jv7Fcvj2DhSq/+6gbP5XiOr8+AbA/ld0oP0v/8z5dFoK/H7I4Phnd3T0ZPEG/oy56Pg==
// result float32[2,2,4,4] R8UJQGEmBkBhOcs/+f4TQAAAAAAM1fQ9AAAAALhgJz7bSLI+AAAAAAAAAAAAAAAAAAAAAD2q7z1wvX0/+J4qP2h6JT0AAAAA1m6SPgAAAAA8U70/3DUkPyU9Mj8AAAAAAAAAAKBHFjxi/+Y/oAapPwAAAAAAAAAAHAIrPtbwMj6YQUc+J2CQPyzVWT+IWJo+AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAGLtTT9e8Ts/jkwSPgAAAAAAAAAAAAAAAG/5Pj8AAAAAAAAAABuahj4Y4fw9N+6iPwAAAAAXLsA/iB/LPjiGdD4AAAAAgbEYPgAAAAAAAAAAqISWPg==
module @IrToHlo.21 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>, %arg3: tensor<2xf32>, %arg4: tensor<2x2x3x3xf32>, %arg5: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<2x2x4x4xf32>
    %0 = stablehlo.convolution(%arg5, %arg4) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x4x4xf32>
    %1 = "stablehlo.batch_norm_inference"(%0, %arg3, %arg2, %arg1, %arg0) <{epsilon = 9.99999974E-6 : f32, feature_index = 1 : i64}> : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
    %2 = stablehlo.add %arg5, %1 : tensor<2x2x4x4xf32>
    %3 = stablehlo.maximum %2, %cst : tensor<2x2x4x4xf32>
    return %3 : tensor<2x2x4x4xf32>
  }
}
