// argument float32[4,6] bL8APn9GB7698iM/39XWPaEhCb/9Irk+eemmP+Zzcj/+JzS/Vfmhv+qOH79uRSk9Ts0UwOwKYL4Dep+/4HU7v49UC78Y8qG+PcHSPhRxhT+XngO+RuiuPzNKKr8h+bM+
// result float32[4,6] bL8APiBx/b298iM/39XWPYRW1L79Irk+eemmP+Zzcj8eWQG/9sY3vwx57b5uRSk93Pdmvyg6Sb6wWja/JOkEv6bm1r5m1Yq+PcHSPhRxhT8ABve9RuiuP0S++L4h+bM+
// result float32[4,6] cAtCPyQYIT+5KYg/kDk/P6no6z4r5GM/z6bFP1wuoz8nzM0+xnp+Po7N2z5AyjY/Aw+/PRn4Fj9ldIE+HwLJPh5K6j7BJQw/woRrPyoZrD+FhSE/PvvLP8xp1D5mX2I/
// result float32[4,6] bL8APstw2Ly98iM/39XWPQJp2739Irk+eemmP+Zzcj//HxC+RJSBvhBL/71uRSk9ShXuvvA7M72fKX++5/cVvrLt3r16joG9PcHSPhRxhT9Yl9K8RuiuP1w7CL4h+bM+
module {
  func.func @"__inference_<lambda>_635"(%arg0: tensor<?x6xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>) attributes {allow_soft_placement = false} {
    %cst = stablehlo.constant dense<13.9423847> : tensor<f32>
    %cst_0 = stablehlo.constant dense<-13.9423847> : tensor<f32>
    %cst_1 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.exponential_minus_one %arg0 : tensor<?x6xf32>
    %1 = stablehlo.exponential %arg0 : tensor<?x6xf32>
    %2 = stablehlo.log_plus_one %1 : tensor<?x6xf32>
    %3 = shape.shape_of %arg0 : tensor<?x6xf32> -> tensor<2xindex>
    %4 = shape.shape_of %arg0 : tensor<?x6xf32> -> tensor<2xindex>
    %5 = shape.shape_of %arg0 : tensor<?x6xf32> -> tensor<2xindex>
    %6 = shape.shape_of %arg0 : tensor<?x6xf32> -> tensor<2xindex>
    %7 = shape.shape_of %arg0 : tensor<?x6xf32> -> tensor<2xindex>
    %8 = stablehlo.dynamic_broadcast_in_dim %cst_2, %3, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x6xf32>
    %9 = stablehlo.compare  GT, %arg0, %8 : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x6xi1>
    %10 = stablehlo.select %9, %arg0, %0 : tensor<?x6xi1>, tensor<?x6xf32>
    %11 = stablehlo.dynamic_broadcast_in_dim %cst_1, %4, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x6xf32>
    %12 = stablehlo.dynamic_broadcast_in_dim %cst_2, %5, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x6xf32>
    %13 = stablehlo.multiply %arg0, %11 : tensor<?x6xf32>
    %14 = stablehlo.compare  GT, %arg0, %12 : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x6xi1>
    %15 = stablehlo.select %14, %arg0, %13 : tensor<?x6xi1>, tensor<?x6xf32>
    %16 = stablehlo.dynamic_broadcast_in_dim %cst, %6, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x6xf32>
    %17 = stablehlo.compare  GT, %arg0, %16 : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x6xi1>
    %18 = stablehlo.dynamic_broadcast_in_dim %cst_0, %7, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x6xf32>
    %19 = stablehlo.compare  LT, %arg0, %18 : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x6xi1>
    %20 = stablehlo.select %19, %1, %2 : tensor<?x6xi1>, tensor<?x6xf32>
    %21 = stablehlo.select %17, %arg0, %20 : tensor<?x6xi1>, tensor<?x6xf32>
    return %10, %21, %15 : tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>
  }
}
