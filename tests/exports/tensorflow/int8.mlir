// argument int8[3,3] 2KsWzbQOFesZ
// argument int8[3,3] 2KsWzbQOFesZ
// result int32[3,3] /RgAALYkAAAQ+v//QhgAAFkmAADU+P//9AIAADb9//8ZAwAA
#loc1 = loc("XLA_Args")
module @a_inference__lambda__387__.1 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<3x3xi8> loc("XLA_Args"), %arg1: tensor<3x3xi8> loc("XLA_Args")) -> tensor<3x3xi32> {
    %0 = stablehlo.reshape %arg0 : (tensor<3x3xi8>) -> tensor<3x3xi8> loc(#loc2)
    %1 = stablehlo.reshape %arg1 : (tensor<3x3xi8>) -> tensor<3x3xi8> loc(#loc3)
    %2 = stablehlo.dot %0, %1, precision = [DEFAULT, DEFAULT] {mhlo.frontend_attributes = {grad_x = "false", grad_y = "false"}} : (tensor<3x3xi8>, tensor<3x3xi8>) -> tensor<3x3xi32> loc(#loc7)
    %3 = stablehlo.transpose %2, dims = [0, 1] : (tensor<3x3xi32>) -> tensor<3x3xi32> loc(#loc7)
    %4 = stablehlo.reshape %3 : (tensor<3x3xi32>) -> tensor<3x3xi32> loc(#loc6)
    return %4 : tensor<3x3xi32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc("reshape.2")
#loc3 = loc("reshape.3")
#loc4 = loc("MatMul")
#loc5 = loc("ops.py":1221:0)
#loc6 = loc("XLA_Retvals")
#loc7 = loc(fused[#loc4, #loc5])
