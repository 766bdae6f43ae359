// argument float32[3,4] XD/FP1A8lr5JcQvAtoQRP6HRir8tBbO/eoPOPuWIVj9EITi/C4POvhi9GL/GZzo+
// result float32[3,4] K394P9DHpL7reH+/6BoUP/f5X79MunO/fPvcPjOYQz8N4TC/Efvcvl/oGb8YCVA+
// result float32[3,4] LtCbP8AolL4oq8K/JaQKP/qccL+jjpG/xknJPicYQz9nGiu/YEnJvknhEL8UZDk+
// result float32[3,4] XD/FP1A8lr5JcQvAtoQRP6HRir8tBbO/eYPOPuSIVj9EITi/C4POvhi9GL/GZzo+
// result float32[3,4] 8Y8OQJpmmL4Nj4vAhXsZP3utp785XfO/rCjUPtGKcD/2a0i/NCjUvpD2Ib/Cbzs+
// result float32[3,4] RAvYPtoX7j/wojpAc+6DP3FVH0C5EipAcMeWP2IHUT+YCg9ALFj7Pw6iCECO47E/
// result float32[3,4] J0VcPrFtz74AJbc+UiQzvtudlj2e5jM+16SYvkWd47yZULG9OKWYvinDIL7LuAy/
module @IrToHlo.105 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
    %cst = stablehlo.constant dense<0.434294492> : tensor<3x4xf32>
    %cst_0 = stablehlo.constant dense<1.000000e-01> : tensor<3x4xf32>
    %cst_1 = stablehlo.constant dense<3.14159274> : tensor<3x4xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<3x4xf32>
    %cst_3 = stablehlo.constant dense<-1.000000e+00> : tensor<3x4xf32>
    %cst_4 = stablehlo.constant dense<-0.693147182> : tensor<3x4xf32>
    %cst_5 = stablehlo.constant dense<5.000000e-01> : tensor<3x4xf32>
    %cst_6 = stablehlo.constant dense<0x7FC00000> : tensor<3x4xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<3x4xf32>
    %cst_8 = stablehlo.constant dense<0.693147182> : tensor<3x4xf32>
    %cst_9 = stablehlo.constant dense<1.8446743E+19> : tensor<3x4xf32>
    %0 = stablehlo.custom_call @mhlo.erf(%arg0) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %1 = stablehlo.sign %arg0 : tensor<3x4xf32>
    %2 = stablehlo.abs %arg0 : tensor<3x4xf32>
    %3 = stablehlo.compare  GE, %2, %cst_9 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
    %4 = stablehlo.abs %2 : tensor<3x4xf32>
    %5 = stablehlo.log %4 : tensor<3x4xf32>
    %6 = stablehlo.add %5, %cst_8 : tensor<3x4xf32>
    %7 = stablehlo.compare  LE, %2, %cst_7 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
    %8 = stablehlo.multiply %2, %2 : tensor<3x4xf32>
    %9 = stablehlo.add %8, %cst_7 : tensor<3x4xf32>
    %10 = stablehlo.sqrt %9 : tensor<3x4xf32>
    %11 = stablehlo.add %10, %cst_7 : tensor<3x4xf32>
    %12 = stablehlo.divide %8, %11 : tensor<3x4xf32>
    %13 = stablehlo.add %2, %12 : tensor<3x4xf32>
    %14 = stablehlo.log_plus_one %13 : tensor<3x4xf32>
    %15 = stablehlo.add %2, %10 : tensor<3x4xf32>
    %16 = stablehlo.log %15 : tensor<3x4xf32>
    %17 = stablehlo.select %7, %14, %16 : tensor<3x4xi1>, tensor<3x4xf32>
    %18 = stablehlo.select %3, %6, %17 : tensor<3x4xi1>, tensor<3x4xf32>
    %19 = stablehlo.multiply %1, %18 : tensor<3x4xf32>
    %20 = stablehlo.tanh %arg0 : tensor<3x4xf32>
    %21 = stablehlo.abs %20 : tensor<3x4xf32>
    %22 = stablehlo.compare  GT, %21, %cst_7 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
    %23 = stablehlo.log_plus_one %20 : tensor<3x4xf32>
    %24 = stablehlo.negate %20 : tensor<3x4xf32>
    %25 = stablehlo.log_plus_one %24 : tensor<3x4xf32>
    %26 = stablehlo.subtract %23, %25 : tensor<3x4xf32>
    %27 = stablehlo.multiply %26, %cst_5 : tensor<3x4xf32>
    %28 = stablehlo.select %22, %cst_6, %27 : tensor<3x4xi1>, tensor<3x4xf32>
    %29 = stablehlo.compare  LT, %2, %cst_7 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
    %30 = stablehlo.exponential_minus_one %arg0 : tensor<3x4xf32>
    %31 = stablehlo.add %30, %cst_7 : tensor<3x4xf32>
    %32 = stablehlo.divide %30, %31 : tensor<3x4xf32>
    %33 = stablehlo.add %30, %32 : tensor<3x4xf32>
    %34 = stablehlo.multiply %33, %cst_5 : tensor<3x4xf32>
    %35 = stablehlo.add %arg0, %cst_4 : tensor<3x4xf32>
    %36 = stablehlo.exponential %35 : tensor<3x4xf32>
    %37 = stablehlo.negate %arg0 : tensor<3x4xf32>
    %38 = stablehlo.add %37, %cst_4 : tensor<3x4xf32>
    %39 = stablehlo.exponential %38 : tensor<3x4xf32>
    %40 = stablehlo.subtract %36, %39 : tensor<3x4xf32>
    %41 = stablehlo.select %29, %34, %40 : tensor<3x4xi1>, tensor<3x4xf32>
    %42 = stablehlo.compare  NE, %20, %cst_3 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
    %43 = stablehlo.multiply %20, %20 : tensor<3x4xf32>
    %44 = stablehlo.subtract %cst_7, %43 : tensor<3x4xf32>
    %45 = stablehlo.sqrt %44 : tensor<3x4xf32>
    %46 = stablehlo.add %20, %cst_7 : tensor<3x4xf32>
    %47 = stablehlo.atan2 %45, %46 : tensor<3x4xf32>
    %48 = stablehlo.multiply %47, %cst_2 : tensor<3x4xf32>
    %49 = stablehlo.select %42, %48, %cst_1 : tensor<3x4xi1>, tensor<3x4xf32>
    %50 = stablehlo.add %2, %cst_0 : tensor<3x4xf32>
    %51 = stablehlo.log %50 : tensor<3x4xf32>
    %52 = stablehlo.multiply %51, %cst : tensor<3x4xf32>
    return %0, %19, %28, %41, %49, %52 : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
  }
}
