// argument float32[3] AAAAAAAAAAAAAAAA
// argument float32[3] AACAPwAAgD8AAIA/
// argument float32[3] QEvcvSRdlD56ArK+
// argument float32[3,4] kOa/PbCjJL68Za0+gNPfPEAywD24qyS+ADLrOkDjxL2QHS69LKbHvgCFSbvIfdS+
// argument float32[3,4] XD/FP1A8lr5JcQvAtoQRP6HRir8tBbO/eoPOPuWIVj9EITi/C4POvhi9GL/GZzo+
// result float32[3,3] /NpRvzo0tD92jRa/ybhmPhdSjD8wKam/kZpYvyfAsz+/5Q6/
module @IrToHlo.293 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>, %arg3: tensor<3x4xf32>, %arg4: tensor<?x4xf32>) -> tensor<?x3xf32> {
    %c = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
    %c_0 = stablehlo.constant dense<1> : tensor<2xi32>
    %cst = stablehlo.constant dense<0.333333343> : tensor<f32>
    %c_1 = stablehlo.constant dense<1> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<3> : tensor<1xi32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %cst_4 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.transpose %arg3, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[4,3]{0,1}"} : (tensor<3x4xf32>) -> tensor<4x3xf32>
    %1 = stablehlo.dot_general %arg4, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
    %2 = stablehlo.get_dimension_size %1, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %3 = stablehlo.reshape %2 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %3, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %arg2, %4, dims = [1] : (tensor<3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %6 = stablehlo.add %1, %5 : tensor<?x3xf32>
    %7 = stablehlo.get_dimension_size %6, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %8 = stablehlo.reshape %7 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.concatenate %8, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %10 = stablehlo.reduce(%6 init: %cst_6) applies stablehlo.add across dimensions = [1] : (tensor<?x3xf32>, tensor<f32>) -> tensor<?xf32>
    %11 = stablehlo.get_dimension_size %10, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %12 = stablehlo.reshape %11 : (tensor<i32>) -> tensor<1xi32>
    %13 = stablehlo.maximum %12, %c_1 : tensor<1xi32>
    %14 = stablehlo.dynamic_broadcast_in_dim %10, %13, dims = [0] : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
    %15 = stablehlo.dynamic_broadcast_in_dim %cst, %13, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %16 = stablehlo.multiply %14, %15 : tensor<?xf32>
    %17 = stablehlo.concatenate %8, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %18 = stablehlo.dynamic_reshape %16, %17 : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %19 = stablehlo.get_dimension_size %18, dim = 0 : (tensor<?x1xf32>) -> tensor<i32>
    %20 = stablehlo.reshape %19 : (tensor<i32>) -> tensor<1xi32>
    %21 = stablehlo.concatenate %20, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %22 = stablehlo.maximum %9, %21 : tensor<2xi32>
    %23 = stablehlo.maximum %21, %c_0 : tensor<2xi32>
    %24 = stablehlo.dynamic_broadcast_in_dim %18, %23, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %25 = stablehlo.dynamic_broadcast_in_dim %cst_4, %23, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %26 = stablehlo.multiply %24, %25 : tensor<?x1xf32>
    %27 = stablehlo.get_dimension_size %26, dim = 0 : (tensor<?x1xf32>) -> tensor<i32>
    %28 = stablehlo.reshape %27 : (tensor<i32>) -> tensor<1xi32>
    %29 = stablehlo.concatenate %28, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %30 = stablehlo.maximum %9, %29 : tensor<2xi32>
    %31 = stablehlo.dynamic_broadcast_in_dim %6, %30, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %32 = stablehlo.get_dimension_size %31, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %33 = stablehlo.reshape %32 : (tensor<i32>) -> tensor<1xi32>
    %34 = stablehlo.concatenate %33, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %35 = stablehlo.maximum %34, %c_0 : tensor<2xi32>
    %36 = stablehlo.dynamic_broadcast_in_dim %6, %35, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %37 = stablehlo.get_dimension_size %36, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %38 = stablehlo.reshape %37 : (tensor<i32>) -> tensor<1xi32>
    %39 = stablehlo.concatenate %38, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %40 = stablehlo.dynamic_broadcast_in_dim %26, %30, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %41 = stablehlo.get_dimension_size %40, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %42 = stablehlo.reshape %41 : (tensor<i32>) -> tensor<1xi32>
    %43 = stablehlo.concatenate %42, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %44 = stablehlo.maximum %39, %43 : tensor<2xi32>
    %45 = stablehlo.dynamic_broadcast_in_dim %6, %44, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %46 = stablehlo.dynamic_broadcast_in_dim %26, %44, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %47 = stablehlo.dynamic_broadcast_in_dim %cst_5, %35, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %48 = stablehlo.multiply %46, %47 : tensor<?x3xf32>
    %49 = stablehlo.add %45, %48 : tensor<?x3xf32>
    %50 = stablehlo.get_dimension_size %49, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %51 = stablehlo.reshape %50 : (tensor<i32>) -> tensor<1xi32>
    %52 = stablehlo.concatenate %51, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %53 = stablehlo.dynamic_broadcast_in_dim %18, %22, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %54 = stablehlo.subtract %6, %53 : tensor<?x3xf32>
    %55 = stablehlo.multiply %54, %54 : tensor<?x3xf32>
    %56 = stablehlo.reduce(%55 init: %cst_6) applies stablehlo.add across dimensions = [1] : (tensor<?x3xf32>, tensor<f32>) -> tensor<?xf32>
    %57 = stablehlo.get_dimension_size %56, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %58 = stablehlo.reshape %57 : (tensor<i32>) -> tensor<1xi32>
    %59 = stablehlo.maximum %58, %c_1 : tensor<1xi32>
    %60 = stablehlo.dynamic_broadcast_in_dim %56, %59, dims = [0] : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
    %61 = stablehlo.dynamic_broadcast_in_dim %cst, %59, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %62 = stablehlo.multiply %60, %61 : tensor<?xf32>
    %63 = stablehlo.get_dimension_size %55, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %64 = stablehlo.reshape %63 : (tensor<i32>) -> tensor<1xi32>
    %65 = stablehlo.concatenate %64, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %66 = stablehlo.dynamic_reshape %62, %65 : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %67 = stablehlo.get_dimension_size %66, dim = 0 : (tensor<?x1xf32>) -> tensor<i32>
    %68 = stablehlo.reshape %67 : (tensor<i32>) -> tensor<1xi32>
    %69 = stablehlo.concatenate %68, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %70 = stablehlo.maximum %69, %c_0 : tensor<2xi32>
    %71 = stablehlo.dynamic_broadcast_in_dim %66, %70, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %72 = stablehlo.get_dimension_size %71, dim = 0 : (tensor<?x1xf32>) -> tensor<i32>
    %73 = stablehlo.reshape %72 : (tensor<i32>) -> tensor<1xi32>
    %74 = stablehlo.concatenate %73, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %75 = stablehlo.maximum %74, %c_0 : tensor<2xi32>
    %76 = stablehlo.dynamic_broadcast_in_dim %66, %75, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %77 = stablehlo.get_dimension_size %76, dim = 0 : (tensor<?x1xf32>) -> tensor<i32>
    %78 = stablehlo.reshape %77 : (tensor<i32>) -> tensor<1xi32>
    %79 = stablehlo.concatenate %78, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %80 = stablehlo.dynamic_broadcast_in_dim %cst_3, %70, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %81 = stablehlo.get_dimension_size %80, dim = 0 : (tensor<?x1xf32>) -> tensor<i32>
    %82 = stablehlo.reshape %81 : (tensor<i32>) -> tensor<1xi32>
    %83 = stablehlo.concatenate %82, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %84 = stablehlo.maximum %79, %83 : tensor<2xi32>
    %85 = stablehlo.dynamic_broadcast_in_dim %66, %84, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %86 = stablehlo.dynamic_broadcast_in_dim %cst_3, %84, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %87 = stablehlo.dynamic_broadcast_in_dim %cst_5, %75, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %88 = stablehlo.multiply %86, %87 : tensor<?x1xf32>
    %89 = stablehlo.add %85, %88 : tensor<?x1xf32>
    %90 = stablehlo.rsqrt %89 : tensor<?x1xf32>
    %91 = stablehlo.get_dimension_size %90, dim = 0 : (tensor<?x1xf32>) -> tensor<i32>
    %92 = stablehlo.reshape %91 : (tensor<i32>) -> tensor<1xi32>
    %93 = stablehlo.concatenate %92, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %94 = stablehlo.maximum %52, %93 : tensor<2xi32>
    %95 = stablehlo.dynamic_broadcast_in_dim %49, %94, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %96 = stablehlo.dynamic_broadcast_in_dim %90, %94, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %97 = stablehlo.multiply %95, %96 : tensor<?x3xf32>
    %98 = stablehlo.get_dimension_size %97, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %99 = stablehlo.reshape %98 : (tensor<i32>) -> tensor<1xi32>
    %100 = stablehlo.concatenate %99, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %101 = stablehlo.maximum %100, %c : tensor<2xi32>
    %102 = stablehlo.dynamic_broadcast_in_dim %97, %101, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %103 = stablehlo.dynamic_broadcast_in_dim %arg1, %101, dims = [1] : (tensor<3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %104 = stablehlo.multiply %102, %103 : tensor<?x3xf32>
    %105 = stablehlo.get_dimension_size %104, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %106 = stablehlo.reshape %105 : (tensor<i32>) -> tensor<1xi32>
    %107 = stablehlo.concatenate %106, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %108 = stablehlo.maximum %107, %c : tensor<2xi32>
    %109 = stablehlo.dynamic_broadcast_in_dim %104, %108, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %110 = stablehlo.get_dimension_size %109, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %111 = stablehlo.reshape %110 : (tensor<i32>) -> tensor<1xi32>
    %112 = stablehlo.concatenate %111, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %113 = stablehlo.maximum %112, %c_0 : tensor<2xi32>
    %114 = stablehlo.dynamic_broadcast_in_dim %104, %113, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %115 = stablehlo.get_dimension_size %114, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %116 = stablehlo.reshape %115 : (tensor<i32>) -> tensor<1xi32>
    %117 = stablehlo.concatenate %116, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %118 = stablehlo.dynamic_broadcast_in_dim %arg0, %108, dims = [1] : (tensor<3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %119 = stablehlo.get_dimension_size %118, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %120 = stablehlo.reshape %119 : (tensor<i32>) -> tensor<1xi32>
    %121 = stablehlo.concatenate %120, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %122 = stablehlo.maximum %117, %121 : tensor<2xi32>
    %123 = stablehlo.dynamic_broadcast_in_dim %104, %122, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %124 = stablehlo.dynamic_broadcast_in_dim %arg0, %122, dims = [1] : (tensor<3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %125 = stablehlo.dynamic_broadcast_in_dim %cst_5, %113, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %126 = stablehlo.multiply %124, %125 : tensor<?x3xf32>
    %127 = stablehlo.add %123, %126 : tensor<?x3xf32>
    return %127 : tensor<?x3xf32>
  }
}
