// argument float32[1,6,6,2] 0klnP4WJwD34VT6/MvZrvwpb6r7VemE+KzuBvx8yVr7iCyO+23QKP5rPWz5p87U+UGEnv3C5BL6eskg/wCi/Pw8pob9ByME/pUWsPwYESD+6Zoc+frqgvmyguj+/6fo/+ZvmP1JVqD+R+rY+L6qav/rzkbu+Dig/B+mkv3BNyj4YF9w+2y8yPy2Rl79XZSm/cXTfvhK8lb+bo94/A+j9vrVuqD6fY4S+Pa/KP5cBqT9mIyI/TgYNwFUcVT0PBi8/0IGAPygvHr+rN+k/4gOpv+dZKb9wX28/fu1IPTMnAEAtC0E+AhkivwFQwb6tqou/Boujv6ZiIT9IxxQ/GrSlP9gtQb+sNNg/eySTvjaGyT8blt2+okg8v73Hfz6oBoQ/
// result float32[6,12] 0klnP4WJwD1QYSe/cLkEvvmb5j9SVag/cXTfvhK8lb/QgYA/KC8evwaLo7+mYiE/+FU+vzL2a7+eskg/wCi/P5H6tj4vqpq/m6PePwPo/b6rN+k/4gOpv0jHFD8atKU/ClvqvtV6YT4PKaG/QcjBP/rzkbu+Dig/tW6oPp9jhL7nWSm/cF9vP9gtQb+sNNg/KzuBvx8yVr6lRaw/BgRIPwfppL9wTco+Pa/KP5cBqT9+7Ug9MycAQHskk742hsk/4gsjvtt0Cj+6Zoc+frqgvhgX3D7bLzI/ZiMiP04GDcAtC0E+AhkivxuW3b6iSDy/ms9bPmnztT5soLo/v+n6Py2Rl79XZSm/VRxVPQ8GLz8BUMG+raqLv73Hfz6oBoQ/
module {
  func.func @"__inference_<lambda>_649"(%arg0: tensor<?x6x6x2xf32>) -> tensor<?x12xf32> attributes {allow_soft_placement = false} {
    %c = stablehlo.constant dense<[-1, 12]> : tensor<2xi32>
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1, 3] : (tensor<?x6x6x2xf32>) -> tensor<?x6x6x2xf32>
    %1 = "tf.Reshape"(%0, %c) {device = ""} : (tensor<?x6x6x2xf32>, tensor<2xi32>) -> tensor<?x12xf32>
    return %1 : tensor<?x12xf32>
  }
}
