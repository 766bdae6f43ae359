// argument float32[3,4] XD/FP1A8lr5JcQvAtoQRP6HRir8tBbO/eoPOPuWIVj9EITi/C4POvhi9GL/GZzo+
// result float32[3,2] XD/FP7aEET/liFY/eoPOPsZnOj4Lg86+
// result int64[3,2] AAAAAAAAAAADAAAAAAAAAAMAAAAAAAAAAgAAAAAAAAADAAAAAAAAAAEAAAAAAAAA
// result float32[3,4] XD/FP7aEET9QPJa+SXELwOWIVj96g84+odGKvy0Fs7/GZzo+C4POvhi9GL9EITi/
// result int64[3,4] AAAAAAAAAAADAAAAAAAAAAEAAAAAAAAAAgAAAAAAAAADAAAAAAAAAAIAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAMAAAAAAAAAAQAAAAAAAAACAAAAAAAAAAAAAAAAAAAA
module @IrToHlo.41 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<3x4xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>, tensor<3x4xf32>, tensor<3x4xi64>) {
    %0 = stablehlo.iota dim = 0 : tensor<4xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<4xi32>) -> tensor<3x4xi32>
    %2:2 = "stablehlo.sort"(%arg0, %1) <{dimension = 1 : i64, is_stable = false}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>, %arg3: tensor<i32>, %arg4: tensor<i32>):
      %8 = stablehlo.compare  GT, %arg1, %arg2,  TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %8 : tensor<i1>
    }) : (tensor<3x4xf32>, tensor<3x4xi32>) -> (tensor<3x4xf32>, tensor<3x4xi32>)
    %3 = stablehlo.slice %2#0 [0:3, 0:2] : (tensor<3x4xf32>) -> tensor<3x2xf32>
    %4 = stablehlo.slice %2#1 [0:3, 0:2] : (tensor<3x4xi32>) -> tensor<3x2xi32>
    %5 = stablehlo.convert %4 : (tensor<3x2xi32>) -> tensor<3x2xi64>
    %6:2 = "stablehlo.sort"(%arg0, %1) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>, %arg3: tensor<i32>, %arg4: tensor<i32>):
      %8 = stablehlo.compare  GT, %arg1, %arg2,  TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %8 : tensor<i1>
    }) : (tensor<3x4xf32>, tensor<3x4xi32>) -> (tensor<3x4xf32>, tensor<3x4xi32>)
    %7 = stablehlo.convert %6#1 : (tensor<3x4xi32>) -> tensor<3x4xi64>
    return %3, %5, %6#0, %7 : tensor<3x2xf32>, tensor<3x2xi64>, tensor<3x4xf32>, tensor<3x4xi64>
  }
}
