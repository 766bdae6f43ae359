// argument float32[8] AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8=
// argument float32[8] DrbTvUpXsL51hJY8PQ+APfrunLmY0+k9qMKrPkeFwD0=
// argument float32[8,8] ywRovV47Vr732U6+msGrPdfpqT7rA5G+gBtbPnu0O74ZCI29GbCPPsnDo73h3AM9qhN9vk8Xmj7lMzu9VGWEvm8E1D04tYC+4qOPvtVwsDwghY8+/ubMvU1mKj7DjZs+SCBwPlDpPb4bvx69L9vjvdKPkb5QLRk5jjSIPvmCmD4lHQc9Y3SkPQC8HL4dpIg+uqUWvr19e76jAV89LQBZPpw0o762oqM+jzwCPh+mfb7A+Ju9egydPmLiir6dodO9rHvtPZ2Wnr4NeEY+WHU8PtOJYD4U0Wa+oku0PkOaVr4MuLQ+97itvmVIob7hXF4+1FkXPQoWpzxhe0i+yN0Xvg==
// argument float32[8] EcmwPqWVtL3OqpA8aU7EPd8Wdj7Nfpo+Ts+SPjodhr4=
// argument float32[8,8] EPBEPgjsE75jEJg+piN5vs8DmL4LQCO+RRhqPbOspj5s1iy+qnkBPgKItb1sBp29qBqFPpVJjL420Bk9dDuqPn7+Rr3hjIw+C/zevba2kT4CG6++n7ZQvfpcfr2gqeo9pwkOPl39ij43wVe98rRlvJvtdz536sO9CbCePrwMcb5gtBy9QZCbvJWLIT5nhHc+uYllvZT4lb4pYzM+MpjYPUFuET53VF++qQFpPhB0qz4VUfs8sRSpvsElfj6ON4a+93GmPVFxUj2Ecim+2h78Pdzoob5d6qQ9x4NlviOYHL1ERjo96jeaPmq8LL5e72c+8vY3vTXxK76voZ2+rBamvg==
// argument float32[8] AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8=
// argument float32[8] AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
// argument float32[8,8] qsY7PowPYT7ga/29U7ctPgdnJj0W7Ky9sxVMvlklS755Sou+KwxzPjqxgD6B0SS9uIFRvizpiz4MhWc+WUvXPGXuKr6NXaY+Zg0UPoRrib4hQK0+GnaJPrX1A76NhUs+1rRNvlPyYr0otJk+klhvPCkFgL6vAvK9G4zEvQOyi73clgo9e2mnPsURmzyDiV++v3KUPMiXLT7zlTM+x3ClvnORgb0Ghoa+B3oavq1wAj4cjIC+WpQGPi+lmT7T9r08WEtxvoi2Ab7NHJ49iv6JvlPdMz6KV6S+PwOuvq3jr76F45K9XHJzPrxUq74AdpY+4dIQvhwS1D2FFIQ8hTqjvg==
// argument float32[24] AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
// argument float32[24,8] fMSxvu8R/71Jr9m+87MsvgJQvz2DEq6+dlcNPtgFbj7tFHc9Y1aUvuzjq749zAi+4aJCPsKv2j6C+H4+3rlHvRB3Gz4Mgdm+PVu9vnPlTj69Jnu++lFVPsaBnL6Tn1u+KZ22vgNjZz4iuTS9W5+qPpw0iT7ZWnU+gSFkPFAXCb4R0sC9FLdrPdPMWz6RUpu+7BG6PonYQL1Oxrm+YuhvvpMqxD7CwMo+yFvNvsxdnD5sN14+1DqDPnqtuz4o+W6+PAQMPsB0NT7zBQO+CmMUPqol/73xEYk+rgz2vatMJb7qQN8930UdPpeiWL76yBw9CXyAPil4ML108QY+FOPVvc1pGz6amaC+EV6CvnQRYb48v8s+YKDuveT2mrrm01a+ylLdPryH2D5/NKe+QLqzvocMqL7s2wi7JA3ivUodkb56CR++uIunPc2sZ75pgMQ9EFzLvZrbVr5uq3M99Uu2PnLjlb7HtqQ8coMjvt2O2T7bV9K+n4nUvlp22j7aRIy+rgWqPQATGb0P0Lq9KhHGvffgjD4cjKk8UNrXvmPigr4qKBe+8CBfPp54j74yDNE+woTFvcM8n71+t60+2NtePsgHvD4YPoA+NoIGvu8Xk7529gO9RH23PsXQFL6pmc2+qsM1PjDS1z6+dfy9LJO3vu8Yyb7qO949SkwGvfPpX76oQLM9EGMoPv9SsD45IKw+s72EvW99w77jVci+VgDPPm4CRD6USEE+WdK/vs1MzT5BB9I+mCrIPmAGu76dTie+nXqYvtTx0T6zhT6+RnBKvjxOaD6jHU2+A2NaviQkG73Beiq9lLOsvonTuD53mEO+SEgdPk3VwD7PnV8+4Bt7PRujvD7La2497iRNvv+60T4B5NE9lk/YvqN3/L08BJe+2mDCPvlzkr1cFsq+zP3evGY7iz7EZOY95TQMPse4JD1HTyU+sRLYvfhiML4qOs++RQSnvkAsQD7kRYO+e3R+PfWHDT6KKPs8o72PvjkF1D5964C+tlm2Pr1dsL4gUtW9
// argument float32[2,3,8] VarvPl9/Ib7bybg/oTeIPkVzKj59118/z+oSvm+T5L0wjG4/NyehP5pRAEA6G1w99jgeP9Ba074GUFe/CDoUwEILXb6jFz6/gg4QP+LthD7VIjK+UMItv9sxcD8lTfo+PAOaP4cgrT0rnpm/rtGcu42gBL9VCJ2+Al7Kv0pz2j9SdVI+n5Hmvi61Er/4Kw6/jiUYP2BexT+r4AE/800Xv0ikqb8wFEE++3WNvdtm/b4ker+/PX1Gviwa5D6boqk/
// argument float32[8] AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
// argument float32[8] AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
// result float32[2,3,8] crb6Pgsl+b+989g/gH6hPSVaSb8gSSw/lfi6vb/C5b0VVSQ/IVWVPnlS5T+q6mS8IklQPnJMEr8um86+lET4vykFH74Qy8q/nCv/PhwSRT63jEC/rRBsv9/Wwz9dtpg/d2qFP0gYtL3Ej6e/1T4NP3F/sb4cnp++7NOjv7fi3j9vQwy+SdRBv5ePYb/thT+/Jd9VP2mJBUCNJPk+bZxiv/89xL8I95s+7KumvB0/v73NkbG//xEMPjKbcj/TkNI/
module @IrToHlo.201 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<8x8xf32>, %arg3: tensor<8xf32>, %arg4: tensor<8x8xf32>, %arg5: tensor<8xf32>, %arg6: tensor<8xf32>, %arg7: tensor<8x8xf32>, %arg8: tensor<24xf32>, %arg9: tensor<24x8xf32>, %arg10: tensor<2x3x8xf32>, %arg11: tensor<8xf32>, %arg12: tensor<8xf32>) -> tensor<2x3x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<2x3x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<6xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<6xf32>
    %cst_2 = stablehlo.constant dense<0.707106769> : tensor<2x2x4x3xf32>
    %cst_3 = stablehlo.constant dense<0.707106769> : tensor<2x2x3x4xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.transpose %arg10, dims = [1, 0, 2] {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "f32[3,2,8]{2,0,1}"} : (tensor<2x3x8xf32>) -> tensor<3x2x8xf32>
    %1 = stablehlo.transpose %arg9, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[8,24]{0,1}"} : (tensor<24x8xf32>) -> tensor<8x24xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [1, 2] : (tensor<8x24xf32>) -> tensor<3x8x24xf32>
    %3 = stablehlo.dot_general %0, %2, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x2x8xf32>, tensor<3x8x24xf32>) -> tensor<3x2x24xf32>
    %4 = stablehlo.broadcast_in_dim %arg8, dims = [2] : (tensor<24xf32>) -> tensor<3x2x24xf32>
    %5 = stablehlo.add %3, %4 : tensor<3x2x24xf32>
    %6 = stablehlo.reshape %5 : (tensor<3x2x24xf32>) -> tensor<1x3x2x3x8xf32>
    %7 = stablehlo.transpose %6, dims = [3, 1, 2, 0, 4] {result_layout = dense<[4, 0, 2, 1, 3]> : tensor<5xindex>, xla_shape = "f32[3,3,2,1,8]{4,0,2,1,3}"} : (tensor<1x3x2x3x8xf32>) -> tensor<3x3x2x1x8xf32>
    %8 = stablehlo.reshape %7 : (tensor<3x3x2x1x8xf32>) -> tensor<3x3x2x8xf32>
    %9 = stablehlo.slice %8 [0:1, 0:3, 0:2, 0:8] : (tensor<3x3x2x8xf32>) -> tensor<1x3x2x8xf32>
    %10 = stablehlo.reshape %9 : (tensor<1x3x2x8xf32>) -> tensor<3x4x4xf32>
    %11 = stablehlo.transpose %10, dims = [1, 0, 2] {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "f32[4,3,4]{2,0,1}"} : (tensor<3x4x4xf32>) -> tensor<4x3x4xf32>
    %12 = stablehlo.reshape %11 : (tensor<4x3x4xf32>) -> tensor<2x2x3x4xf32>
    %13 = stablehlo.multiply %12, %cst_3 : tensor<2x2x3x4xf32>
    %14 = stablehlo.reshape %13 : (tensor<2x2x3x4xf32>) -> tensor<4x3x4xf32>
    %15 = stablehlo.slice %8 [1:2, 0:3, 0:2, 0:8] : (tensor<3x3x2x8xf32>) -> tensor<1x3x2x8xf32>
    %16 = stablehlo.reshape %15 : (tensor<1x3x2x8xf32>) -> tensor<3x4x4xf32>
    %17 = stablehlo.transpose %16, dims = [1, 0, 2] {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "f32[4,3,4]{2,0,1}"} : (tensor<3x4x4xf32>) -> tensor<4x3x4xf32>
    %18 = stablehlo.reshape %17 : (tensor<4x3x4xf32>) -> tensor<2x2x3x4xf32>
    %19 = stablehlo.transpose %18, dims = [0, 1, 3, 2] {result_layout = dense<[2, 3, 1, 0]> : tensor<4xindex>, xla_shape = "f32[2,2,4,3]{2,3,1,0}"} : (tensor<2x2x3x4xf32>) -> tensor<2x2x4x3xf32>
    %20 = stablehlo.multiply %19, %cst_2 : tensor<2x2x4x3xf32>
    %21 = stablehlo.reshape %20 : (tensor<2x2x4x3xf32>) -> tensor<4x4x3xf32>
    %22 = stablehlo.dot_general %14, %21, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x4xf32>, tensor<4x4x3xf32>) -> tensor<4x3x3xf32>
    %23 = stablehlo.reshape %22 : (tensor<4x3x3xf32>) -> tensor<2x2x3x3xf32>
    %24 = stablehlo.reduce(%23 init: %cst_4) applies stablehlo.maximum across dimensions = [3] : (tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2] : (tensor<2x2x3xf32>) -> tensor<2x2x3x3xf32>
    %26 = stablehlo.subtract %23, %25 : tensor<2x2x3x3xf32>
    %27 = stablehlo.exponential %26 : tensor<2x2x3x3xf32>
    %28 = stablehlo.reduce(%27 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2] : (tensor<2x2x3xf32>) -> tensor<2x2x3x3xf32>
    %30 = stablehlo.divide %27, %29 : tensor<2x2x3x3xf32>
    %31 = stablehlo.reshape %30 : (tensor<2x2x3x3xf32>) -> tensor<4x3x3xf32>
    %32 = stablehlo.slice %8 [2:3, 0:3, 0:2, 0:8] : (tensor<3x3x2x8xf32>) -> tensor<1x3x2x8xf32>
    %33 = stablehlo.reshape %32 : (tensor<1x3x2x8xf32>) -> tensor<3x4x4xf32>
    %34 = stablehlo.transpose %33, dims = [1, 0, 2] {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "f32[4,3,4]{2,0,1}"} : (tensor<3x4x4xf32>) -> tensor<4x3x4xf32>
    %35 = stablehlo.dot_general %31, %34, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x3xf32>, tensor<4x3x4xf32>) -> tensor<4x3x4xf32>
    %36 = stablehlo.reshape %35 : (tensor<4x3x4xf32>) -> tensor<2x2x3x4xf32>
    %37 = stablehlo.transpose %36, dims = [2, 0, 1, 3] {result_layout = dense<[3, 0, 2, 1]> : tensor<4xindex>, xla_shape = "f32[3,2,2,4]{3,0,2,1}"} : (tensor<2x2x3x4xf32>) -> tensor<3x2x2x4xf32>
    %38 = stablehlo.reshape %37 : (tensor<3x2x2x4xf32>) -> tensor<6x8xf32>
    %39 = stablehlo.transpose %arg7, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[8,8]{0,1}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %40 = stablehlo.dot_general %38, %39, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
    %41 = stablehlo.broadcast_in_dim %arg6, dims = [1] : (tensor<8xf32>) -> tensor<6x8xf32>
    %42 = stablehlo.add %40, %41 : tensor<6x8xf32>
    %43 = stablehlo.reshape %42 : (tensor<6x8xf32>) -> tensor<3x2x8xf32>
    %44 = stablehlo.transpose %43, dims = [1, 0, 2] {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "f32[2,3,8]{2,0,1}"} : (tensor<3x2x8xf32>) -> tensor<2x3x8xf32>
    %45 = stablehlo.add %arg10, %44 : tensor<2x3x8xf32>
    %46 = stablehlo.reshape %45 : (tensor<2x3x8xf32>) -> tensor<1x6x8xf32>
    %output, %batch_mean, %batch_var = "stablehlo.batch_norm_training"(%46, %cst_1, %cst_0) <{epsilon = 9.99999974E-6 : f32, feature_index = 1 : i64}> : (tensor<1x6x8xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<1x6x8xf32>, tensor<6xf32>, tensor<6xf32>)
    %47 = stablehlo.broadcast_in_dim %arg11, dims = [2] : (tensor<8xf32>) -> tensor<2x3x8xf32>
    %48 = stablehlo.reshape %output : (tensor<1x6x8xf32>) -> tensor<2x3x8xf32>
    %49 = stablehlo.broadcast_in_dim %arg5, dims = [2] : (tensor<8xf32>) -> tensor<2x3x8xf32>
    %50 = stablehlo.multiply %48, %49 : tensor<2x3x8xf32>
    %51 = stablehlo.add %47, %50 : tensor<2x3x8xf32>
    %52 = stablehlo.reshape %51 : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
    %53 = stablehlo.transpose %arg4, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[8,8]{0,1}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %54 = stablehlo.dot_general %52, %53, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
    %55 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<8xf32>) -> tensor<6x8xf32>
    %56 = stablehlo.add %54, %55 : tensor<6x8xf32>
    %57 = stablehlo.reshape %56 : (tensor<6x8xf32>) -> tensor<2x3x8xf32>
    %58 = stablehlo.maximum %57, %cst : tensor<2x3x8xf32>
    %59 = stablehlo.reshape %58 : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
    %60 = stablehlo.transpose %arg2, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[8,8]{0,1}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %61 = stablehlo.dot_general %59, %60, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
    %62 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<8xf32>) -> tensor<6x8xf32>
    %63 = stablehlo.add %61, %62 : tensor<6x8xf32>
    %64 = stablehlo.reshape %63 : (tensor<6x8xf32>) -> tensor<2x3x8xf32>
    %65 = stablehlo.add %51, %64 : tensor<2x3x8xf32>
    %66 = stablehlo.reshape %65 : (tensor<2x3x8xf32>) -> tensor<1x6x8xf32>
    %output_6, %batch_mean_7, %batch_var_8 = "stablehlo.batch_norm_training"(%66, %cst_1, %cst_0) <{epsilon = 9.99999974E-6 : f32, feature_index = 1 : i64}> : (tensor<1x6x8xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<1x6x8xf32>, tensor<6xf32>, tensor<6xf32>)
    %67 = stablehlo.broadcast_in_dim %arg12, dims = [2] : (tensor<8xf32>) -> tensor<2x3x8xf32>
    %68 = stablehlo.reshape %output_6 : (tensor<1x6x8xf32>) -> tensor<2x3x8xf32>
    %69 = stablehlo.broadcast_in_dim %arg0, dims = [2] : (tensor<8xf32>) -> tensor<2x3x8xf32>
    %70 = stablehlo.multiply %68, %69 : tensor<2x3x8xf32>
    %71 = stablehlo.add %67, %70 : tensor<2x3x8xf32>
    return %71 : tensor<2x3x8xf32>
  }
}
