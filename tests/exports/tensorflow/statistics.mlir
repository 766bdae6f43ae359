// argument float32[4,6] bL8APn9GB7698iM/39XWPaEhCb/9Irk+eemmP+Zzcj/+JzS/Vfmhv+qOH79uRSk9Ts0UwOwKYL4Dep+/4HU7v49UC78Y8qG+PcHSPhRxhT+XngO+RuiuPzNKKr8h+bM+
// result float32[4] Sye9PtRNaz8DTTg/BbstPw==
// result float32[6] HBvuP9TJ+j8If6I/M+XgP4ewSz+wG8Q/
// result int64[4] AgAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAwAAAAAAAAA=
module {
  func.func @"__inference_<lambda>_500"(%arg0: tensor<4x6xf32>) -> (tensor<4xf32>, tensor<6xf32>, tensor<4xi64>) attributes {allow_soft_placement = false} {
    %cst = stablehlo.constant dense<6.000000e+00> : tensor<4xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<1x6xf32>
    %cst_1 = stablehlo.constant dense<-0.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.iota dim = 0 : tensor<6xi64>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<6xi64>) -> tensor<4x6xi64>
    %2:2 = stablehlo.reduce(%arg0 init: %cst_2), (%1 init: %c) across dimensions = [1] : (tensor<4x6xf32>, tensor<4x6xi64>, tensor<f32>, tensor<i64>) -> (tensor<4xf32>, tensor<4xi64>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i64>, %arg4: tensor<i64>)  {
      %23 = stablehlo.compare  GE, %arg1, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %24 = stablehlo.select %23, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %25 = stablehlo.compare  EQ, %arg1, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %26 = stablehlo.minimum %arg2, %arg4 : tensor<i64>
      %27 = stablehlo.select %23, %arg2, %arg4 : tensor<i1>, tensor<i64>
      %28 = stablehlo.select %25, %26, %27 : tensor<i1>, tensor<i64>
      stablehlo.return %24, %28 : tensor<f32>, tensor<i64>
    }
    %3 = stablehlo.reduce(%arg0 init: %cst_2) applies stablehlo.maximum across dimensions = [0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
    %4 = stablehlo.reshape %3 : (tensor<6xf32>) -> tensor<1x6xf32>
    %5 = stablehlo.is_finite %4 : (tensor<1x6xf32>) -> tensor<1x6xi1>
    %6 = stablehlo.select %5, %4, %cst_0 : tensor<1x6xi1>, tensor<1x6xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x6xf32>) -> tensor<4x6xf32>
    %8 = stablehlo.subtract %arg0, %7 : tensor<4x6xf32>
    %9 = stablehlo.exponential %8 : tensor<4x6xf32>
    %10 = stablehlo.reduce(%9 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
    %11 = stablehlo.log %10 : tensor<6xf32>
    %12 = stablehlo.reshape %6 : (tensor<1x6xf32>) -> tensor<6xf32>
    %13 = stablehlo.add %11, %12 : tensor<6xf32>
    %14 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %15 = stablehlo.divide %14, %cst : tensor<4xf32>
    %16 = stablehlo.reshape %15 : (tensor<4xf32>) -> tensor<4x1xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x6xf32>
    %18 = stablehlo.subtract %arg0, %17 : tensor<4x6xf32>
    %19 = stablehlo.multiply %18, %18 : tensor<4x6xf32>
    %20 = stablehlo.reduce(%19 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %21 = stablehlo.divide %20, %cst : tensor<4xf32>
    %22 = stablehlo.sqrt %21 : tensor<4xf32>
    return %22, %13, %2#1 : tensor<4xf32>, tensor<6xf32>, tensor<4xi64>
  }
}
