// argument float32[2,3,2,4] NNmTviH1qj3Hf1m/J7gCvyv1PLzGIL6/ZvOZPmk82b2rxZe/pnwZwGJXAz/vXJi+oq4Hv4XScb5Jgug/GvxLvXFlsT1nWL6/AtzSP37gaj9SkYg/e0RDPeOpaj++7L0+9vkcP3nYG75cqLy/gLGDP8Ks97/1sXW+WG5RvnF8hb+j9Rw/OyNNvjWt375ZFAU/KwL0vhnKsT/r8bM+xtvyvq3d+L91ZKe/RR2LPzVGT73F9ZC+ElbSP9otpL+r7RW/
// argument float32[2,3,2,4] ZhM2P1Kvij/kABo+so/6PisMfT8Yg/i+2nymP3PYZD9YLT6+TPmyv7GrwT+I0TM/vKLwPl+LQz8kQTRAPkBzP1cWiz+cYfm+AW4pQD9w9T+pSARAJBqGP/JU9T8we68/+3zOP+IJWT9wofK+wNgBQIRZb7+Dk0I/aqRLPyCOL73Ses4/MbdMP2YpED8sisI/6v4FPwzlGEB7/Kw/HZIGP1q7cb/UkZ2+oo4FQJ0Lcz8ehTc/CSspQGi3kL6qJNQ+
// argument float32[2,3,2,4] Tfakv1yhar/kv+y/FFzBv+p5gb9jEB/ATQYzv8eTjb/W4gvApnxZwDxR+b48F6a/UdfDv1E6nr+SBFE/4V+Gv1LTab80LB/ABLglPxD8qL0gFYk9uMtzv+iwqr2hCSG/FAzGvg97k78uVB7AAGDsPGHWO8A/tp6/yy2avzi+AsC6FMa+Z6SZv03rt79O1/W+iwC9v2Qoxz4KBya/8ra8v9ZuPMA6shPAUNSxPTJ6hr9xPaS/JKwkP+0WEsDW9sq/
// result float32[2,3,2,4] Tfakv1yhar/kv+y/FFzBv+p5gb9jEB/ATQYzv8eTjb8yqQrA3BhWwJEaBL85rKa/tFe2v0vAvr9BFwI/7NaHvzEFpb9vvC7AHEGQPn6/6b4ogB6/5jCqvwf2jz1Ktli/FAzGvg97k78uVB7AAGDsPGHWO8A/tp6/yy2avzi+AsClD8a+kQWWvyn1AsBsaTm+Swf5v44MCr6Oy1O/bx3Uv8MnOMDE0BHA0GkZPQD4g7+axb+/XmTIPnkx7L+Gbc6/
module {
  func.func @__inference_attention_608(%arg0: tensor<?x3x2x4xf32>, %arg1: tensor<?x3x2x4xf32>, %arg2: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> attributes {allow_soft_placement = false} {
    %c3 = arith.constant 3 : index
    %c2 = arith.constant 2 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = shape.const_shape [3, 3] : tensor<2xindex>
    %cst = stablehlo.constant dense<-0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %cst_2 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %c = stablehlo.constant dense<[[true, false, false], [true, true, false], [true, true, true]]> : tensor<3x3xi1>
    %1 = stablehlo.einsum %arg0, %arg1, config = "bqhd,bkhd->bhqk" : (tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>) -> tensor<?x2x3x3xf32>
    %2 = shape.shape_of %1 : tensor<?x2x3x3xf32> -> tensor<4xindex>
    %3 = stablehlo.dynamic_broadcast_in_dim %cst_1, %2, dims = [] : (tensor<f32>, tensor<4xindex>) -> tensor<?x2x3x3xf32>
    %4 = stablehlo.multiply %1, %3 : tensor<?x2x3x3xf32>
    %5 = shape.shape_of %4 : tensor<?x2x3x3xf32> -> tensor<4xindex>
    %6 = shape.broadcast %5, %0 : tensor<4xindex>, tensor<2xindex> -> tensor<4xindex>
    %7 = stablehlo.dynamic_broadcast_in_dim %c, %6, dims = [2, 3] : (tensor<3x3xi1>, tensor<4xindex>) -> tensor<?x2x3x3xi1>
    %8 = stablehlo.dynamic_broadcast_in_dim %4, %6, dims = [0, 1, 2, 3] : (tensor<?x2x3x3xf32>, tensor<4xindex>) -> tensor<?x2x3x3xf32>
    %9 = stablehlo.dynamic_broadcast_in_dim %cst_2, %6, dims = [] : (tensor<f32>, tensor<4xindex>) -> tensor<?x2x3x3xf32>
    %10 = stablehlo.select %7, %8, %9 : tensor<?x2x3x3xi1>, tensor<?x2x3x3xf32>
    %11 = stablehlo.reduce(%10 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<?x2x3x3xf32>, tensor<f32>) -> tensor<?x2x3xf32>
    %dim = tensor.dim %11, %c0 : tensor<?x2x3xf32>
    %from_elements = tensor.from_elements %dim, %c2, %c3, %c1 : tensor<4xindex>
    %12 = stablehlo.dynamic_reshape %11, %from_elements : (tensor<?x2x3xf32>, tensor<4xindex>) -> tensor<?x2x3x1xf32>
    %13 = shape.shape_of %10 : tensor<?x2x3x3xf32> -> tensor<4xindex>
    %14 = shape.cstr_broadcastable %13, %from_elements : tensor<4xindex>, tensor<4xindex>
    %15 = shape.assuming %14 -> (tensor<?x2x3x3xf32>) {
      %23 = shape.shape_of %10 : tensor<?x2x3x3xf32> -> tensor<4xindex>
      %24 = shape.broadcast %23, %from_elements : tensor<4xindex>, tensor<4xindex> -> tensor<4xindex>
      %25 = stablehlo.dynamic_broadcast_in_dim %10, %24, dims = [0, 1, 2, 3] : (tensor<?x2x3x3xf32>, tensor<4xindex>) -> tensor<?x2x3x3xf32>
      %26 = stablehlo.dynamic_broadcast_in_dim %12, %24, dims = [0, 1, 2, 3] : (tensor<?x2x3x1xf32>, tensor<4xindex>) -> tensor<?x2x3x3xf32>
      %27 = stablehlo.subtract %25, %26 : tensor<?x2x3x3xf32>
      shape.assuming_yield %27 : tensor<?x2x3x3xf32>
    }
    %16 = stablehlo.exponential %15 : tensor<?x2x3x3xf32>
    %17 = stablehlo.reduce(%16 init: %cst) applies stablehlo.add across dimensions = [3] : (tensor<?x2x3x3xf32>, tensor<f32>) -> tensor<?x2x3xf32>
    %dim_3 = tensor.dim %17, %c0 : tensor<?x2x3xf32>
    %from_elements_4 = tensor.from_elements %dim_3, %c2, %c3, %c1 : tensor<4xindex>
    %18 = stablehlo.dynamic_reshape %17, %from_elements_4 : (tensor<?x2x3xf32>, tensor<4xindex>) -> tensor<?x2x3x1xf32>
    %19 = shape.shape_of %16 : tensor<?x2x3x3xf32> -> tensor<4xindex>
    %20 = shape.cstr_broadcastable %19, %from_elements_4 : tensor<4xindex>, tensor<4xindex>
    %21 = shape.assuming %20 -> (tensor<?x2x3x3xf32>) {
      %23 = shape.shape_of %16 : tensor<?x2x3x3xf32> -> tensor<4xindex>
      %24 = shape.broadcast %23, %from_elements_4 : tensor<4xindex>, tensor<4xindex> -> tensor<4xindex>
      %25 = stablehlo.dynamic_broadcast_in_dim %16, %24, dims = [0, 1, 2, 3] : (tensor<?x2x3x3xf32>, tensor<4xindex>) -> tensor<?x2x3x3xf32>
      %26 = stablehlo.dynamic_broadcast_in_dim %18, %24, dims = [0, 1, 2, 3] : (tensor<?x2x3x1xf32>, tensor<4xindex>) -> tensor<?x2x3x3xf32>
      %27 = stablehlo.divide %25, %26 : tensor<?x2x3x3xf32>
      shape.assuming_yield %27 : tensor<?x2x3x3xf32>
    }
    %22 = stablehlo.einsum %21, %arg2, config = "bhqk,bkhd->bqhd" : (tensor<?x2x3x3xf32>, tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32>
    return %22 : tensor<?x3x2x4xf32>
  }
}
