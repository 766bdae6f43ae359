// argument float32[4,6] bL8APn9GB7698iM/39XWPaEhCb/9Irk+eemmP+Zzcj/+JzS/Vfmhv+qOH79uRSk9Ts0UwOwKYL4Dep+/4HU7v49UC78Y8qG+PcHSPhRxhT+XngO+RuiuPzNKKr8h+bM+
// result float32[4,2] vfIjP/0iuT556aY/5nNyP+wKYL4Y8qG+RuiuPxRxhT8=
// result int32[4,2] AgAAAAUAAAAAAAAAAQAAAAEAAAAFAAAAAwAAAAEAAAA=
// result float32[4,6] roMQPjLCF773iCI/kYfxPbIgDb9WJcg+c1FvPx3OUT8oLS6/py1tv0g2H7+25D495r1/vxPUeL55A2y/Lxkzv0D7Dr8d0rC+LwnhPlUPXD/tsxO+1lpyPzE1J7/YA8M+
module {
  func.func @"__inference_<lambda>_426"(%arg0: tensor<4x6xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>, tensor<4x6xf32>) attributes {allow_soft_placement = false} {
    %0 = stablehlo.custom_call @mhlo.erf(%arg0) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %1:2 = stablehlo.custom_call @mhlo.topk(%arg0) {mhlo.attributes = {k = 2 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<4x6xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
    return %1#0, %1#1, %0 : tensor<4x2xf32>, tensor<4x2xi32>, tensor<4x6xf32>
  }
}
