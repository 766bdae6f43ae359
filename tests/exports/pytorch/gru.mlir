// argument float32[12] XOGXvmBn/7wYJU2++PDrvt5Hur6KRfA+fkOVPryCiT4wRY4++mLLvlAUVz1QQ+4+
// argument float32[12,3] 2G07vkC2Ur5MyqO+ynaxvkDqpL1AHLW9BMVjPgDZWr6KFcw+UKGzvgBEujqeH+Y+BpD+PohKlL5wZ7Y9UOpxPVQNcL605DC+YK0KPnQDsr6g9Kg9GI5dPpDDSb7mpNQ+oMcGvQhNaD64hP0+kIAcvswciz5schK+KJSVvdiJrb0Ak0u73GpBviAD8D3AVpo8
// argument float32[2,3,3] JeGyPe97W79GxZg/6t6hvIqBjz5Cz+c/o1nrP7kfKD4lz7c/0gQrPobpkb9ZZfS8oNUhvNZToz2kyV0+0R2Ivp0yB79YYee+
// argument float32[12] uN6OvnS84z7EkgY+bhu0PqBVW76ECmw+3PDivvAJAr04xyo+xIsZPg451j5qj/s+
// argument float32[12,4] mkaiPlhDz72wX009hHU+vl5j1r6MME8+aAeDPTQMTb4YHC2+IOYFPhAoub0ySqc+oALoPLRmQT6UE18+UEH7vUCGXT4y6bw+wH28PLhjyD2g1JQ8/j6xPvwpWL72FIi+GBtfPujM3r6AVgM82HZrvvb3qD6UWO6+nDibPnxG/T5AMs89kHMIvVr++z7szVq+EB0kvRQ1YL6wWo29GI7ePVDEiD1waMG9jvX/vmC70TzAqXK8GAyaPfooxD6c1fg+
// result float32[2,4] gaE0Px0E6r7P3EY+ArWgPsB8Cj66OnK+vJtwPuqG7T4=
module @IrToHlo.153 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<12xf32>, %arg1: tensor<12x3xf32>, %arg2: tensor<2x3x3xf32>, %arg3: tensor<12xf32>, %arg4: tensor<12x4xf32>) -> tensor<2x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<2x4xf32>
    %0 = stablehlo.slice %arg2 [0:2, 0:1, 0:3] : (tensor<2x3x3xf32>) -> tensor<2x1x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
    %2 = stablehlo.transpose %arg1, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[3,12]{0,1}"} : (tensor<12x3xf32>) -> tensor<3x12xf32>
    %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x3xf32>, tensor<3x12xf32>) -> tensor<2x12xf32>
    %4 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<12xf32>) -> tensor<2x12xf32>
    %5 = stablehlo.add %3, %4 : tensor<2x12xf32>
    %6 = stablehlo.slice %5 [0:2, 8:12] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %7 = stablehlo.transpose %arg4, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[4,12]{0,1}"} : (tensor<12x4xf32>) -> tensor<4x12xf32>
    %8 = stablehlo.dot_general %cst, %7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<4x12xf32>) -> tensor<2x12xf32>
    %9 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<12xf32>) -> tensor<2x12xf32>
    %10 = stablehlo.add %8, %9 : tensor<2x12xf32>
    %11 = stablehlo.slice %10 [0:2, 8:12] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %12 = stablehlo.slice %10 [0:2, 0:4] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %13 = stablehlo.slice %5 [0:2, 0:4] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %14 = stablehlo.add %12, %13 : tensor<2x4xf32>
    %15 = stablehlo.logistic %14 : tensor<2x4xf32>
    %16 = stablehlo.multiply %11, %15 : tensor<2x4xf32>
    %17 = stablehlo.add %6, %16 : tensor<2x4xf32>
    %18 = stablehlo.tanh %17 : tensor<2x4xf32>
    %19 = stablehlo.subtract %cst, %18 : tensor<2x4xf32>
    %20 = stablehlo.slice %10 [0:2, 4:8] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %21 = stablehlo.slice %5 [0:2, 4:8] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %22 = stablehlo.add %20, %21 : tensor<2x4xf32>
    %23 = stablehlo.logistic %22 : tensor<2x4xf32>
    %24 = stablehlo.multiply %19, %23 : tensor<2x4xf32>
    %25 = stablehlo.add %24, %18 : tensor<2x4xf32>
    %26 = stablehlo.slice %arg2 [0:2, 1:2, 0:3] : (tensor<2x3x3xf32>) -> tensor<2x1x3xf32>
    %27 = stablehlo.reshape %26 : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
    %28 = stablehlo.dot_general %27, %2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x3xf32>, tensor<3x12xf32>) -> tensor<2x12xf32>
    %29 = stablehlo.add %28, %4 : tensor<2x12xf32>
    %30 = stablehlo.slice %29 [0:2, 8:12] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %31 = stablehlo.dot_general %25, %7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<4x12xf32>) -> tensor<2x12xf32>
    %32 = stablehlo.add %31, %9 : tensor<2x12xf32>
    %33 = stablehlo.slice %32 [0:2, 8:12] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %34 = stablehlo.slice %32 [0:2, 0:4] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %35 = stablehlo.slice %29 [0:2, 0:4] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %36 = stablehlo.add %34, %35 : tensor<2x4xf32>
    %37 = stablehlo.logistic %36 : tensor<2x4xf32>
    %38 = stablehlo.multiply %33, %37 : tensor<2x4xf32>
    %39 = stablehlo.add %30, %38 : tensor<2x4xf32>
    %40 = stablehlo.tanh %39 : tensor<2x4xf32>
    %41 = stablehlo.subtract %25, %40 : tensor<2x4xf32>
    %42 = stablehlo.slice %32 [0:2, 4:8] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %43 = stablehlo.slice %29 [0:2, 4:8] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %44 = stablehlo.add %42, %43 : tensor<2x4xf32>
    %45 = stablehlo.logistic %44 : tensor<2x4xf32>
    %46 = stablehlo.multiply %41, %45 : tensor<2x4xf32>
    %47 = stablehlo.add %46, %40 : tensor<2x4xf32>
    %48 = stablehlo.slice %arg2 [0:2, 2:3, 0:3] : (tensor<2x3x3xf32>) -> tensor<2x1x3xf32>
    %49 = stablehlo.reshape %48 : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
    %50 = stablehlo.dot_general %49, %2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x3xf32>, tensor<3x12xf32>) -> tensor<2x12xf32>
    %51 = stablehlo.add %50, %4 : tensor<2x12xf32>
    %52 = stablehlo.slice %51 [0:2, 8:12] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %53 = stablehlo.dot_general %47, %7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<4x12xf32>) -> tensor<2x12xf32>
    %54 = stablehlo.add %53, %9 : tensor<2x12xf32>
    %55 = stablehlo.slice %54 [0:2, 8:12] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %56 = stablehlo.slice %54 [0:2, 0:4] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %57 = stablehlo.slice %51 [0:2, 0:4] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %58 = stablehlo.add %56, %57 : tensor<2x4xf32>
    %59 = stablehlo.logistic %58 : tensor<2x4xf32>
    %60 = stablehlo.multiply %55, %59 : tensor<2x4xf32>
    %61 = stablehlo.add %52, %60 : tensor<2x4xf32>
    %62 = stablehlo.tanh %61 : tensor<2x4xf32>
    %63 = stablehlo.subtract %47, %62 : tensor<2x4xf32>
    %64 = stablehlo.slice %54 [0:2, 4:8] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %65 = stablehlo.slice %51 [0:2, 4:8] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %66 = stablehlo.add %64, %65 : tensor<2x4xf32>
    %67 = stablehlo.logistic %66 : tensor<2x4xf32>
    %68 = stablehlo.multiply %63, %67 : tensor<2x4xf32>
    %69 = stablehlo.add %68, %62 : tensor<2x4xf32>
    return %69 : tensor<2x4xf32>
  }
}
