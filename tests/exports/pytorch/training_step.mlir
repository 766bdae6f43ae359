// argument float32[] AAAAvw==
// argument float32[5] AKJPPnCoLb7asrA+0mDKPhD2lD0=
// argument float32[5,4] qI6svmgJ+r1MWwy+sFmtPQAAqj0U0YE+elqwvqCHEL22LY8+xm7dPnBkFb10IJS+TC4TPkTJkT6c75++HI6UvphNYj7Afg+9qsrxvhSbk74=
// argument float32[6,4] kOFlPzRuxL4+jJg+35rnP2f6ur0H34s/6NgPv6T4KT9NvJ6/b7yQvStvgb2Mixc/jCDkvo0HnL/1x8C/Gj5VPoZRL8CcBdQ8V/JIvuY0SL9IAQnA4N+qPlwelz49gPw+
// argument float32[3,5] G9kQvV9dEb5uQLm8NbamPcvmrr4C5dq903W+vpSIjD6M0ZG+XS3RPogZ7L1VLIO+ngVcPmKKiD3RjZ4+
// argument float32[3] zC0/Pj6U3L7O0pA+
// argument int64[6] AAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAEAAAAAAAAA
// result float32[5,4] MmqsvlKB/703hAm+Ymy3PTOuvT2son4+TZGmvqimIb3tUpA+A8bgPiCWVL0eRZe+XAlEPjTmjz5MR4+++/2cvjw3hD4IGdm76WMBv3ZBmr4=
// result float32[5] cepSPt/xOr60La4+pP2zPpogSj0=
// result float32[3,5] 1G2qvETzNb5MBy+9Xkp8PY5mwb702be8ejW7vuAVkD5Lmma+R7HZPpJsW753Q2i+y4RpPjwn3Dyqiag+
// result float32[3] JFNqPtDUi77OAqo9
module @IrToHlo.137 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<f32>, %arg1: tensor<5xf32>, %arg2: tensor<5x4xf32>, %arg3: tensor<6x4xf32>, %arg4: tensor<3x5xf32>, %arg5: tensor<3xf32>, %arg6: tensor<6xi64>) -> (tensor<5x4xf32>, tensor<5xf32>, tensor<3x5xf32>, tensor<3xf32>) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<6x5xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<6x5xf32>
    %c = stablehlo.constant dense<-100> : tensor<6xi64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<6x3xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<6x3xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.transpose %arg3, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[4,6]{0,1}"} : (tensor<6x4xf32>) -> tensor<4x6xf32>
    %1 = stablehlo.broadcast_in_dim %arg6, dims = [0] : (tensor<6xi64>) -> tensor<6x3xi64>
    %2 = stablehlo.iota dim = 0 : tensor<3xi64>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<3xi64>) -> tensor<6x3xi64>
    %4 = stablehlo.compare  EQ, %1, %3 : (tensor<6x3xi64>, tensor<6x3xi64>) -> tensor<6x3xi1>
    %5 = stablehlo.select %4, %cst_2, %cst_1 : tensor<6x3xi1>, tensor<6x3xf32>
    %6 = stablehlo.negate %5 : tensor<6x3xf32>
    %7 = stablehlo.compare  NE, %arg6, %c : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi1>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<6xi1>) -> tensor<6x3xi1>
    %9 = stablehlo.select %8, %cst_2, %cst_1 : tensor<6x3xi1>, tensor<6x3xf32>
    %10 = stablehlo.multiply %9, %5 : tensor<6x3xf32>
    %11 = stablehlo.multiply %6, %10 : tensor<6x3xf32>
    %12 = stablehlo.reduce(%10 init: %cst_4) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x3xf32>, tensor<f32>) -> tensor<f32>
    %13 = stablehlo.compare  NE, %12, %cst_4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %14 = stablehlo.select %13, %12, %cst_5 : tensor<i1>, tensor<f32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<f32>) -> tensor<6x3xf32>
    %16 = stablehlo.divide %11, %15 : tensor<6x3xf32>
    %17 = stablehlo.transpose %arg2, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[4,5]{0,1}"} : (tensor<5x4xf32>) -> tensor<4x5xf32>
    %18 = stablehlo.dot_general %arg3, %17, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
    %19 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<5xf32>) -> tensor<6x5xf32>
    %20 = stablehlo.add %18, %19 : tensor<6x5xf32>
    %21 = stablehlo.tanh %20 : tensor<6x5xf32>
    %22 = stablehlo.transpose %arg4, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[5,3]{0,1}"} : (tensor<3x5xf32>) -> tensor<5x3xf32>
    %23 = stablehlo.dot_general %21, %22, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x5xf32>, tensor<5x3xf32>) -> tensor<6x3xf32>
    %24 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<3xf32>) -> tensor<6x3xf32>
    %25 = stablehlo.add %23, %24 : tensor<6x3xf32>
    %26 = stablehlo.reduce(%25 init: %cst_3) applies stablehlo.maximum across dimensions = [1] : (tensor<6x3xf32>, tensor<f32>) -> tensor<6xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<6xf32>) -> tensor<6x3xf32>
    %28 = stablehlo.subtract %25, %27 : tensor<6x3xf32>
    %29 = stablehlo.exponential %28 : tensor<6x3xf32>
    %30 = stablehlo.reduce(%29 init: %cst_4) applies stablehlo.add across dimensions = [1] : (tensor<6x3xf32>, tensor<f32>) -> tensor<6xf32>
    %31 = stablehlo.log %30 : tensor<6xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0] : (tensor<6xf32>) -> tensor<6x3xf32>
    %33 = stablehlo.subtract %28, %32 : tensor<6x3xf32>
    %34 = stablehlo.exponential %33 : tensor<6x3xf32>
    %35 = stablehlo.reduce(%16 init: %cst_4) applies stablehlo.add across dimensions = [1] : (tensor<6x3xf32>, tensor<f32>) -> tensor<6xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0] : (tensor<6xf32>) -> tensor<6x3xf32>
    %37 = stablehlo.multiply %34, %36 : tensor<6x3xf32>
    %38 = stablehlo.subtract %16, %37 : tensor<6x3xf32>
    %39 = stablehlo.dot_general %38, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x3xf32>, tensor<3x5xf32>) -> tensor<6x5xf32>
    %40 = stablehlo.power %21, %cst : tensor<6x5xf32>
    %41 = stablehlo.subtract %cst_0, %40 : tensor<6x5xf32>
    %42 = stablehlo.multiply %39, %41 : tensor<6x5xf32>
    %43 = stablehlo.dot_general %0, %42, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
    %44 = stablehlo.transpose %43, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[5,4]{0,1}"} : (tensor<4x5xf32>) -> tensor<5x4xf32>
    %45 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<5x4xf32>
    %46 = stablehlo.multiply %44, %45 : tensor<5x4xf32>
    %47 = stablehlo.add %arg2, %46 : tensor<5x4xf32>
    %48 = stablehlo.reduce(%42 init: %cst_4) applies stablehlo.add across dimensions = [0] : (tensor<6x5xf32>, tensor<f32>) -> tensor<5xf32>
    %49 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %50 = stablehlo.multiply %48, %49 : tensor<5xf32>
    %51 = stablehlo.add %arg1, %50 : tensor<5xf32>
    %52 = stablehlo.transpose %21, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[5,6]{0,1}"} : (tensor<6x5xf32>) -> tensor<5x6xf32>
    %53 = stablehlo.dot_general %52, %38, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x6xf32>, tensor<6x3xf32>) -> tensor<5x3xf32>
    %54 = stablehlo.transpose %53, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[3,5]{0,1}"} : (tensor<5x3xf32>) -> tensor<3x5xf32>
    %55 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %56 = stablehlo.multiply %54, %55 : tensor<3x5xf32>
    %57 = stablehlo.add %arg4, %56 : tensor<3x5xf32>
    %58 = stablehlo.reduce(%38 init: %cst_4) applies stablehlo.add across dimensions = [0] : (tensor<6x3xf32>, tensor<f32>) -> tensor<3xf32>
    %59 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %60 = stablehlo.multiply %58, %59 : tensor<3xf32>
    %61 = stablehlo.add %arg5, %60 : tensor<3xf32>
    return %47, %51, %57, %61 : tensor<5x4xf32>, tensor<5xf32>, tensor<3x5xf32>, tensor<3xf32>
  }
}
