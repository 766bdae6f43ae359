// argument float32[4,6] bL8APn9GB7698iM/39XWPaEhCb/9Irk+eemmP+Zzcj/+JzS/Vfmhv+qOH79uRSk9Ts0UwOwKYL4Dep+/4HU7v49UC78Y8qG+PcHSPhRxhT+XngO+RuiuPzNKKr8h+bM+
// argument float32[6] vD7KvkYkYb/9xrw/ssxLvTIcvL5vCWA+
// argument float32[6] okpYP0hLfj+iBrC/Ps7/P4Vlcj+kJsK+
// result float32[4,6] hqVPP6AVxD/wM04/yJ7/P/RdyT/cHmK+pKiGPgANIT0CJRvAER0EQGCHlj9CBbe+Qm7QP2SvKD7jvgXA+Fj+P/5MRD9akE++kwVWP+jFHz7hBSHAuLP2P1DDwj9tj8m+
module {
  func.func @__inference_layer_norm_546(%arg0: tensor<?x6xf32>, %arg1: tensor<6xf32>, %arg2: tensor<6xf32>) -> tensor<?x6xf32> attributes {allow_soft_placement = false} {
    %0 = shape.const_shape [6] : tensor<1xindex>
    %1 = shape.shape_of %arg0 : tensor<?x6xf32> -> tensor<2xindex>
    %2 = shape.shape_of %arg0 : tensor<?x6xf32> -> tensor<2xindex>
    %cst = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<-0.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %3 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<?x6xf32>, tensor<f32>) -> tensor<?xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %4 = shape.shape_of %3 : tensor<?xf32> -> tensor<1xindex>
    %5 = stablehlo.dynamic_broadcast_in_dim %cst, %4, dims = [] : (tensor<f32>, tensor<1xindex>) -> tensor<?xf32>
    %6 = stablehlo.divide %3, %5 : tensor<?xf32>
    %dim = tensor.dim %6, %c0 : tensor<?xf32>
    %from_elements = tensor.from_elements %dim, %c1 : tensor<2xindex>
    %7 = stablehlo.dynamic_reshape %6, %from_elements : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x1xf32>
    %8 = shape.cstr_broadcastable %1, %from_elements : tensor<2xindex>, tensor<2xindex>
    %9 = shape.assuming %8 -> (tensor<?x6xf32>) {
      %38 = shape.shape_of %arg0 : tensor<?x6xf32> -> tensor<2xindex>
      %39 = shape.broadcast %38, %from_elements : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %40 = stablehlo.dynamic_broadcast_in_dim %arg0, %39, dims = [0, 1] : (tensor<?x6xf32>, tensor<2xindex>) -> tensor<?x6xf32>
      %41 = stablehlo.dynamic_broadcast_in_dim %7, %39, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x6xf32>
      %42 = stablehlo.subtract %40, %41 : tensor<?x6xf32>
      shape.assuming_yield %42 : tensor<?x6xf32>
    }
    %10 = shape.shape_of %9 : tensor<?x6xf32> -> tensor<2xindex>
    %11 = shape.shape_of %9 : tensor<?x6xf32> -> tensor<2xindex>
    %12 = shape.cstr_broadcastable %10, %11 : tensor<2xindex>, tensor<2xindex>
    %13 = shape.assuming %12 -> (tensor<?x6xf32>) {
      %38 = shape.shape_of %9 : tensor<?x6xf32> -> tensor<2xindex>
      %39 = shape.shape_of %9 : tensor<?x6xf32> -> tensor<2xindex>
      %40 = shape.broadcast %38, %39 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %41 = stablehlo.dynamic_broadcast_in_dim %9, %40, dims = [0, 1] : (tensor<?x6xf32>, tensor<2xindex>) -> tensor<?x6xf32>
      %42 = stablehlo.dynamic_broadcast_in_dim %9, %40, dims = [0, 1] : (tensor<?x6xf32>, tensor<2xindex>) -> tensor<?x6xf32>
      %43 = stablehlo.multiply %41, %42 : tensor<?x6xf32>
      shape.assuming_yield %43 : tensor<?x6xf32>
    }
    %14 = shape.cstr_broadcastable %2, %from_elements : tensor<2xindex>, tensor<2xindex>
    %15 = shape.assuming %14 -> (tensor<?x6xf32>) {
      %38 = shape.shape_of %arg0 : tensor<?x6xf32> -> tensor<2xindex>
      %39 = shape.broadcast %38, %from_elements : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %40 = stablehlo.dynamic_broadcast_in_dim %arg0, %39, dims = [0, 1] : (tensor<?x6xf32>, tensor<2xindex>) -> tensor<?x6xf32>
      %41 = stablehlo.dynamic_broadcast_in_dim %7, %39, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x6xf32>
      %42 = stablehlo.subtract %40, %41 : tensor<?x6xf32>
      shape.assuming_yield %42 : tensor<?x6xf32>
    }
    %16 = shape.shape_of %15 : tensor<?x6xf32> -> tensor<2xindex>
    %17 = stablehlo.reduce(%13 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<?x6xf32>, tensor<f32>) -> tensor<?xf32>
    %18 = shape.shape_of %17 : tensor<?xf32> -> tensor<1xindex>
    %19 = stablehlo.dynamic_broadcast_in_dim %cst, %18, dims = [] : (tensor<f32>, tensor<1xindex>) -> tensor<?xf32>
    %20 = stablehlo.divide %17, %19 : tensor<?xf32>
    %dim_2 = tensor.dim %20, %c0 : tensor<?xf32>
    %from_elements_3 = tensor.from_elements %dim_2, %c1 : tensor<2xindex>
    %21 = stablehlo.dynamic_reshape %20, %from_elements_3 : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x1xf32>
    %22 = stablehlo.dynamic_broadcast_in_dim %cst_1, %from_elements_3, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x1xf32>
    %23 = stablehlo.add %21, %22 : tensor<?x1xf32>
    %24 = stablehlo.rsqrt %23 : tensor<?x1xf32>
    %25 = shape.shape_of %24 : tensor<?x1xf32> -> tensor<2xindex>
    %26 = shape.cstr_broadcastable %16, %25 : tensor<2xindex>, tensor<2xindex>
    %27 = shape.assuming %26 -> (tensor<?x6xf32>) {
      %38 = shape.shape_of %15 : tensor<?x6xf32> -> tensor<2xindex>
      %39 = shape.shape_of %24 : tensor<?x1xf32> -> tensor<2xindex>
      %40 = shape.broadcast %38, %39 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %41 = stablehlo.dynamic_broadcast_in_dim %15, %40, dims = [0, 1] : (tensor<?x6xf32>, tensor<2xindex>) -> tensor<?x6xf32>
      %42 = stablehlo.dynamic_broadcast_in_dim %24, %40, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x6xf32>
      %43 = stablehlo.multiply %41, %42 : tensor<?x6xf32>
      shape.assuming_yield %43 : tensor<?x6xf32>
    }
    %28 = shape.shape_of %27 : tensor<?x6xf32> -> tensor<2xindex>
    %29 = shape.broadcast %28, %0 : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
    %30 = stablehlo.dynamic_broadcast_in_dim %27, %29, dims = [0, 1] : (tensor<?x6xf32>, tensor<2xindex>) -> tensor<?x6xf32>
    %31 = stablehlo.dynamic_broadcast_in_dim %arg1, %29, dims = [1] : (tensor<6xf32>, tensor<2xindex>) -> tensor<?x6xf32>
    %32 = stablehlo.multiply %30, %31 : tensor<?x6xf32>
    %33 = shape.shape_of %32 : tensor<?x6xf32> -> tensor<2xindex>
    %34 = shape.broadcast %33, %0 : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
    %35 = stablehlo.dynamic_broadcast_in_dim %32, %34, dims = [0, 1] : (tensor<?x6xf32>, tensor<2xindex>) -> tensor<?x6xf32>
    %36 = stablehlo.dynamic_broadcast_in_dim %arg2, %34, dims = [1] : (tensor<6xf32>, tensor<2xindex>) -> tensor<?x6xf32>
    %37 = stablehlo.add %35, %36 : tensor<?x6xf32>
    return %37 : tensor<?x6xf32>
  }
}
