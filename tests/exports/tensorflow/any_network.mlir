// argument float32[3,6,6,2] VQ3MP204jL/tmbk+11LjPp2LuL5+YhU/gyG4v3iaB0AdyKu/fXhrP/OAj78jUJM/GgHFvp05Ij77flo92+SMP96hpL5X5j3ANpNCvxUfPD4MheG++xJFPzz2gT9+URe+s6y+v1MssT9/oYo/lS+ZvjPuBkDOn7K+JI2Rv0mdH7519ok/8/xvv77B+T++gmW/BVV0P+NhCz8iwR2+6E6KP2j5v7/qxK0/xmyCvQndCr/fyT8/xaqHP1ARRT++7/8/O1WKP/JJpD+GNAq/IynaPaAfED8rWJG872+aPmcq2j5fIFg/UhjQveIYs75/DFS/kkhkv+ISlj+aGa29MHVJPwUQpr/kFfi/n0iGv6zEkj/Dtog/9wCqPgZbTb8h8QW+EHSYvlmgsL5zYyDAEKFbv+erQr5OGsI/1JkkPk9Qsz/0k8m+ZmCBviCQecCiOe0+dg4MP9vC4T/EOPm+5dPAPXudNL+Xj5a/Po42v6ajsL7+fq0/ifAQOyVhSr9sSBE+B8tePosdLb97VZI/a7Xxv3GrWr7FQSo/wlGrv0D2uD6FfaU/mkfoPilX2L/9ajq/HrydP2a/mD5jhyG8C+XhPqqWOD/6XTW/Uq+UvvVXEj7QQAu/hqcIvqkgpj8Lw3e/4pz2P1uO8D/8Udu/P2gQvkV1rz5zyEK/dLc9vxodc77GOj0/xuYCvxrR6T95d5Q+/hLSvVeBuT/3UyA/KBO9PjuLqb6uMOg/itNPPxBLUL6p4cm/gfO+PhNmkr8epNu/8uyOvvsckD5YKKQ/h52QPkxXTj+56Zy/Z5W4vIFi/j0qvFw/OLHtPR7YTT80EwG/3kW3Pl5p1D6n+J+/ZsAzPo8GpL4nufO/JFp1P4pFub48Nlq/qS/BvmGEDT4uA8E/ZeopvmXf8T5z0a8/xZYIP7bGiD8a+fO+fWNFPz54bb1Phok/pHSAvxmRR7/MZaI/PcpIvrHJt75K3p496IIwvw59qj+Q5J+/XTYavsyjsT5Y6NW9t2JNv8FOXr9Mzdk+yeaDvylwJT9LF8O/XxMOv6C1FD2ERqC/L+omP7bel7wQnoS/7mrCvzxlyL/4CFE9AhOUv2C0rr9+xmy+ksIRQMUZjj6mTkM/19JZPoVxSD9U6qu/EWzcvsfPhT5JxpK8
// result float32[3,2] YkkivTszCj6kWCA/CkkxveFkmL5W5Dc/
module {
  func.func @serve(%arg0: tensor<?x6x6x2xf32>) -> tensor<?x2xf32> {
    %0 = shape.const_shape [3] : tensor<1xindex>
    %cst = stablehlo.constant dense<1.000000e-03> : tensor<3xf32>
    %c = stablehlo.constant dense<48> : tensor<1xi32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %vars.__sm_node13__variables.5 = ml_program.global_load @vars.__sm_node13__variables.5 : tensor<3xf32>
    %vars.__sm_node10__variables.2 = ml_program.global_load @vars.__sm_node10__variables.2 : tensor<3xf32>
    %vars.__sm_node11__variables.3 = ml_program.global_load @vars.__sm_node11__variables.3 : tensor<3xf32>
    %vars.__sm_node12__variables.4 = ml_program.global_load @vars.__sm_node12__variables.4 : tensor<3xf32>
    %vars.__sm_node8__variables.0 = ml_program.global_load @vars.__sm_node8__variables.0 : tensor<3x3x2x3xf32>
    %vars.__sm_node9__variables.1 = ml_program.global_load @vars.__sm_node9__variables.1 : tensor<3xf32>
    %vars.__sm_node15__variables.7 = ml_program.global_load @vars.__sm_node15__variables.7 : tensor<2xf32>
    %vars.__sm_node14__variables.6 = ml_program.global_load @vars.__sm_node14__variables.6 : tensor<48x2xf32>
    %1 = stablehlo.add %vars.__sm_node13__variables.5, %cst : tensor<3xf32>
    %2 = stablehlo.rsqrt %1 : tensor<3xf32>
    %3 = stablehlo.multiply %2, %vars.__sm_node10__variables.2 : tensor<3xf32>
    %4 = stablehlo.multiply %vars.__sm_node12__variables.4, %3 : tensor<3xf32>
    %5 = stablehlo.subtract %vars.__sm_node11__variables.3, %4 : tensor<3xf32>
    %6 = stablehlo.convolution(%arg0, %vars.__sm_node8__variables.0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<?x6x6x2xf32>, tensor<3x3x2x3xf32>) -> tensor<?x4x4x3xf32>
    %7 = shape.shape_of %6 : tensor<?x4x4x3xf32> -> tensor<4xindex>
    %8 = stablehlo.dynamic_broadcast_in_dim %vars.__sm_node9__variables.1, %7, dims = [3] : (tensor<3xf32>, tensor<4xindex>) -> tensor<?x4x4x3xf32>
    %9 = stablehlo.add %6, %8 : tensor<?x4x4x3xf32>
    %10 = shape.shape_of %9 : tensor<?x4x4x3xf32> -> tensor<4xindex>
    %11 = shape.broadcast %10, %0 : tensor<4xindex>, tensor<1xindex> -> tensor<4xindex>
    %12 = stablehlo.dynamic_broadcast_in_dim %9, %11, dims = [0, 1, 2, 3] : (tensor<?x4x4x3xf32>, tensor<4xindex>) -> tensor<?x4x4x3xf32>
    %13 = stablehlo.dynamic_broadcast_in_dim %3, %11, dims = [3] : (tensor<3xf32>, tensor<4xindex>) -> tensor<?x4x4x3xf32>
    %14 = stablehlo.multiply %12, %13 : tensor<?x4x4x3xf32>
    %15 = shape.shape_of %14 : tensor<?x4x4x3xf32> -> tensor<4xindex>
    %16 = shape.broadcast %15, %0 : tensor<4xindex>, tensor<1xindex> -> tensor<4xindex>
    %17 = stablehlo.dynamic_broadcast_in_dim %14, %16, dims = [0, 1, 2, 3] : (tensor<?x4x4x3xf32>, tensor<4xindex>) -> tensor<?x4x4x3xf32>
    %18 = stablehlo.dynamic_broadcast_in_dim %5, %16, dims = [3] : (tensor<3xf32>, tensor<4xindex>) -> tensor<?x4x4x3xf32>
    %19 = stablehlo.add %17, %18 : tensor<?x4x4x3xf32>
    %20 = shape.shape_of %19 : tensor<?x4x4x3xf32> -> tensor<4xindex>
    %21 = stablehlo.dynamic_broadcast_in_dim %cst_0, %20, dims = [] : (tensor<f32>, tensor<4xindex>) -> tensor<?x4x4x3xf32>
    %22 = stablehlo.maximum %19, %21 : tensor<?x4x4x3xf32>
    %23 = shape.shape_of %22 : tensor<?x4x4x3xf32> -> tensor<4xindex>
    %24 = arith.index_cast %23 : tensor<4xindex> to tensor<4xi32>
    %25 = stablehlo.slice %24 [0:1] : (tensor<4xi32>) -> tensor<1xi32>
    %26 = stablehlo.concatenate %25, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %27 = "tf.Reshape"(%22, %26) {device = ""} : (tensor<?x4x4x3xf32>, tensor<2xi32>) -> tensor<?x48xf32>
    %28 = stablehlo.dot %27, %vars.__sm_node14__variables.6, precision = [DEFAULT, DEFAULT] : (tensor<?x48xf32>, tensor<48x2xf32>) -> tensor<?x2xf32>
    %29 = shape.shape_of %28 : tensor<?x2xf32> -> tensor<2xindex>
    %30 = stablehlo.dynamic_broadcast_in_dim %vars.__sm_node15__variables.7, %29, dims = [1] : (tensor<2xf32>, tensor<2xindex>) -> tensor<?x2xf32>
    %31 = stablehlo.add %28, %30 : tensor<?x2xf32>
    return %31 : tensor<?x2xf32>
  }
  ml_program.global public @vars.__sm_node13__variables.5(dense<[0.994464993, 0.996956467, 1.00094509]> : tensor<3xf32>) : tensor<3xf32>
  ml_program.global public @vars.__sm_node10__variables.2(dense<[0.900000751, 0.900000929, 0.90000087]> : tensor<3xf32>) : tensor<3xf32>
  ml_program.global public @vars.__sm_node11__variables.3(dense<[-0.0999992415, -0.0999987199, -0.0999989658]> : tensor<3xf32>) : tensor<3xf32>
  ml_program.global public @vars.__sm_node12__variables.4(dense<[0.00268456666, 0.00203128904, 0.00409628265]> : tensor<3xf32>) : tensor<3xf32>
  ml_program.global public @vars.__sm_node8__variables.0(dense<[[[[-0.0885450169, -0.239440501, 0.147507459], [-0.387296617, -0.176731408, -0.128793418]], [[0.0993201658, 0.455458015, -0.0603740737], [0.0543246493, 0.105180666, 0.157221466]], [[-0.093311876, -0.120198324, -0.159537584], [0.00550512969, -0.110848688, 0.440586239]]], [[[-0.114202164, -0.1710217, 0.0750265792], [0.245751709, 0.237411737, 0.171555027]], [[-0.039095208, 0.445156962, -0.0896050706], [-0.203465879, -0.124558017, 0.284845352]], [[0.194886506, -0.138308495, -3.309800e-01], [0.0640180408, -0.227348268, 0.115621716]]], [[[0.211961687, 0.191393673, 0.274684131], [0.357830912, 0.294638157, -0.411949426]], [[0.284351408, 0.109194458, 0.241381139], [-0.274458051, 0.166338265, 0.241206735]], [[-0.380040377, -0.0526487529, 0.386500746], [0.154987022, -0.0590634495, 0.423820138]]]]> : tensor<3x3x2x3xf32>) : tensor<3x3x2x3xf32>
  ml_program.global public @vars.__sm_node9__variables.1(dense<[-0.0171728376, -0.00107793394, -0.00335848099]> : tensor<3xf32>) : tensor<3xf32>
  ml_program.global public @vars.__sm_node15__variables.7(dense<[0.0999991968, 0.0999992117]> : tensor<2xf32>) : tensor<2xf32>
  ml_program.global public @vars.__sm_node14__variables.6(dense<[[-0.0227814242, -0.11025551], [-0.152411565, 0.127044767], [0.211560473, -0.0101920143], [-0.0195781812, 0.069080919], [-0.196238443, -0.123327702], [0.380453318, -0.206776679], [-0.0626543909, -0.169618681], [-0.1405994, 0.364106834], [-0.298578292, 0.157024086], [-0.23777765, 0.25117296], [-0.148397505, 0.275923371], [-0.134760052, -0.255279899], [-0.133989736, 0.0101165175], [-0.0467458665, 0.176754355], [-0.158012956, 0.24878104], [-0.0511069894, 0.203306854], [0.165707588, -0.346395612], [0.165574983, 0.175093979], [0.207888842, -0.331865549], [-0.121191248, -0.0372288823], [-0.17136091, -0.109284818], [0.368493259, -0.161885992], [0.0604851618, -7.793740e-02], [0.207615852, -0.338514239], [-0.217094481, -0.143104836], [0.213953197, 0.0764751136], [0.107813865, 0.10472855], [0.162688822, -0.139723793], [0.0912794768, -0.156978086], [0.101321384, -0.0302152336], [-0.283061832, -0.0746822357], [-0.0531242639, -0.105848543], [-0.344500482, 0.0152422488], [0.398211628, 0.41329357], [0.137691304, 0.343762279], [0.195806384, -0.171622396], [-0.200218856, 0.370072931], [0.366775185, 0.179905653], [0.105689406, 0.0419287086], [0.0299108624, -0.0871562957], [-0.1614061, -0.291248471], [0.164724082, -0.140905023], [-0.0754839479, 0.19328028], [-0.223737881, 0.443860829], [-0.237375021, -0.0218984187], [-0.164458618, -0.112185746], [-0.205202341, 0.276495457], [0.324225187, -0.0998256206]]> : tensor<48x2xf32>) : tensor<48x2xf32>
}
