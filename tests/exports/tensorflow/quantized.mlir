// argument float32[4,6] bL8APn9GB7698iM/39XWPaEhCb/9Irk+eemmP+Zzcj/+JzS/Vfmhv+qOH79uRSk9Ts0UwOwKYL4Dep+/4HU7v49UC78Y8qG+PcHSPhRxhT+XngO+RuiuPzNKKr8h+bM+
// result float32[4,6] gYAAPoGAAL6lpCQ/4uDgPYmICL+5uLg+p6amP/LwcD+1tDS/o6Kiv6GgIL/CwEA9AP/+v+LgYL6fnp6/vbw8v42MDL+hoKC+0tDQPoWEhD+BgAC+r66uP6moKL+xsLA+
module {
  func.func @__inference_rounded_437(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {allow_soft_placement = false} {
    %cst = stablehlo.constant dense<0.0156862754> : tensor<4x6xf32>
    %cst_0 = stablehlo.constant dense<5.000000e-01> : tensor<4x6xf32>
    %cst_1 = stablehlo.constant dense<6.375000e+01> : tensor<4x6xf32>
    %cst_2 = stablehlo.constant dense<63.7499962> : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_4 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_7 = stablehlo.constant dense<2.550000e+02> : tensor<f32>
    %cst_8 = stablehlo.constant dense<0.0156862754> : tensor<f32>
    %cst_9 = stablehlo.constant dense<127.499992> : tensor<f32>
    %0 = stablehlo.floor %cst_9 : tensor<f32>
    %1 = stablehlo.subtract %cst_9, %0 : tensor<f32>
    %2 = stablehlo.compare  GT, %1, %cst_4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.compare  EQ, %1, %cst_4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %4 = stablehlo.floor %cst_2 : tensor<f32>
    %5 = stablehlo.multiply %4, %cst_5 : tensor<f32>
    %6 = stablehlo.subtract %0, %5 : tensor<f32>
    %7 = stablehlo.compare  EQ, %6, %cst_3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %8 = stablehlo.and %3, %7 : tensor<i1>
    %9 = stablehlo.or %2, %8 : tensor<i1>
    %10 = stablehlo.add %0, %cst_3 : tensor<f32>
    %11 = stablehlo.select %9, %10, %0 : tensor<i1>, tensor<f32>
    %12 = stablehlo.compare  EQ, %11, %cst_6 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %13 = stablehlo.select %12, %cst_6, %11 : tensor<i1>, tensor<f32>
    %14 = stablehlo.clamp %cst_6, %13, %cst_7 : tensor<f32>
    %15 = stablehlo.subtract %cst_6, %14 : tensor<f32>
    %16 = stablehlo.subtract %cst_7, %14 : tensor<f32>
    %17 = stablehlo.multiply %15, %cst_8 : tensor<f32>
    %18 = stablehlo.multiply %16, %cst_8 : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %17, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %20 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %21 = stablehlo.clamp %19, %arg0, %20 : tensor<4x6xf32>
    %22 = stablehlo.broadcast_in_dim %17, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %23 = stablehlo.subtract %21, %22 : tensor<4x6xf32>
    %24 = stablehlo.multiply %23, %cst_1 : tensor<4x6xf32>
    %25 = stablehlo.add %24, %cst_0 : tensor<4x6xf32>
    %26 = stablehlo.floor %25 : tensor<4x6xf32>
    %27 = stablehlo.multiply %26, %cst : tensor<4x6xf32>
    %28 = stablehlo.broadcast_in_dim %17, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %29 = stablehlo.add %27, %28 : tensor<4x6xf32>
    return %29 : tensor<4x6xf32>
  }
}
