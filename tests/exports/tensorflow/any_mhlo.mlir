// argument float32[2,3] vyNoPjjKlD+GSou/Y1S9v23TXb9m+Po9
// argument float32[3,4] AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/
// result float32[2,4] AACAPgAAgD4AAIA+AACAPgAAgD4AAIA+AACAPgAAgD4=
module attributes {tf.versions = {bad_consumers = [], min_consumer = 0 : i32, producer = 2474 : i32}} {
  func.func @"__inference_<lambda>_661"(%arg0: tensor<?x3xf32> {tf._user_specified_name = "x"}, %arg1: tensor<3x4xf32> {tf._user_specified_name = "w"}) -> tensor<?x4xf32> attributes {allow_soft_placement = false, tf.entry_function = {control_outputs = "", inputs = "x,w", outputs = "identity_RetVal"}} {
    %0 = mhlo.constant dense<[0, 1]> : tensor<2xi64>
    %1 = mhlo.constant dense<[0, 1]> : tensor<2xi64>
    %2 = "mhlo.dot"(%arg0, %arg1) <{precision_config = [#mhlo<precision DEFAULT>, #mhlo<precision DEFAULT>]}> : (tensor<?x3xf32>, tensor<3x4xf32>) -> tensor<?x4xf32>
    %3 = mhlo.constant dense<-1> : tensor<1xi64>
    %4 = mhlo.convert %2 : tensor<?x4xf32>
    %5 = mhlo.constant dense<0xFF800000> : tensor<f32>
    %6 = mhlo.reduce(%4 init: %5) applies mhlo.maximum across dimensions = [1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<?xf32>
    %7 = mhlo.convert %6 : tensor<?xf32>
    %cst = arith.constant dense<1> : tensor<1xi32>
    %8 = shape.shape_of %7 : tensor<?xf32> -> tensor<1xindex>
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %extracted = tensor.extract %8[%c0] : tensor<1xindex>
    %from_elements = tensor.from_elements %extracted, %c1 : tensor<2xindex>
    %9 = mhlo.dynamic_reshape %7, %from_elements : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x1xf32>
    %10 = shape.shape_of %2 : tensor<?x4xf32> -> tensor<2xindex>
    %11 = shape.shape_of %9 : tensor<?x1xf32> -> tensor<2xindex>
    %12 = shape.cstr_broadcastable %10, %11 : tensor<2xindex>, tensor<2xindex>
    %13 = shape.assuming %12 -> (tensor<?x4xf32>) {
      %25 = shape.shape_of %2 : tensor<?x4xf32> -> tensor<2xindex>
      %26 = shape.shape_of %9 : tensor<?x1xf32> -> tensor<2xindex>
      %27 = shape.broadcast %25, %26 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %28 = "mhlo.dynamic_broadcast_in_dim"(%2, %27) <{broadcast_dimensions = dense<[0, 1]> : tensor<2xi64>}> : (tensor<?x4xf32>, tensor<2xindex>) -> tensor<?x4xf32>
      %29 = "mhlo.dynamic_broadcast_in_dim"(%9, %27) <{broadcast_dimensions = dense<[0, 1]> : tensor<2xi64>}> : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x4xf32>
      %30 = mhlo.subtract %28, %29 : tensor<?x4xf32>
      shape.assuming_yield %30 : tensor<?x4xf32>
    }
    %14 = mhlo.exponential %13 : tensor<?x4xf32>
    %15 = mhlo.convert %14 : tensor<?x4xf32>
    %16 = mhlo.constant dense<-0.000000e+00> : tensor<f32>
    %17 = mhlo.reduce(%15 init: %16) applies mhlo.add across dimensions = [1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<?xf32>
    %18 = mhlo.convert %17 : tensor<?xf32>
    %cst_0 = arith.constant dense<1> : tensor<1xi32>
    %19 = shape.shape_of %18 : tensor<?xf32> -> tensor<1xindex>
    %c1_1 = arith.constant 1 : index
    %c0_2 = arith.constant 0 : index
    %extracted_3 = tensor.extract %19[%c0_2] : tensor<1xindex>
    %from_elements_4 = tensor.from_elements %extracted_3, %c1_1 : tensor<2xindex>
    %20 = mhlo.dynamic_reshape %18, %from_elements_4 : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x1xf32>
    %21 = shape.shape_of %14 : tensor<?x4xf32> -> tensor<2xindex>
    %22 = shape.shape_of %20 : tensor<?x1xf32> -> tensor<2xindex>
    %23 = shape.cstr_broadcastable %21, %22 : tensor<2xindex>, tensor<2xindex>
    %24 = shape.assuming %23 -> (tensor<?x4xf32>) {
      %25 = shape.shape_of %14 : tensor<?x4xf32> -> tensor<2xindex>
      %26 = shape.shape_of %20 : tensor<?x1xf32> -> tensor<2xindex>
      %27 = shape.broadcast %25, %26 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %28 = "mhlo.dynamic_broadcast_in_dim"(%14, %27) <{broadcast_dimensions = dense<[0, 1]> : tensor<2xi64>}> : (tensor<?x4xf32>, tensor<2xindex>) -> tensor<?x4xf32>
      %29 = "mhlo.dynamic_broadcast_in_dim"(%20, %27) <{broadcast_dimensions = dense<[0, 1]> : tensor<2xi64>}> : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x4xf32>
      %30 = mhlo.divide %28, %29 : tensor<?x4xf32>
      shape.assuming_yield %30 : tensor<?x4xf32>
    }
    return %24 : tensor<?x4xf32>
  }
}
