// argument float32[4,6] bL8APn9GB7698iM/39XWPaEhCb/9Irk+eemmP+Zzcj/+JzS/Vfmhv+qOH79uRSk9Ts0UwOwKYL4Dep+/4HU7v49UC78Y8qG+PcHSPhRxhT+XngO+RuiuPzNKKr8h+bM+
// argument float32[6,2] sZNRvzMReL/Wrfw9ZeQlv8jOQ79erk8/kqi6Pj4Fyr6n9zs/QwavP3UYjL9WcRq/
// argument float32[2] qk9xP30MOD8=
// result float32[4,2] V27ePtXIED/DS/I+H9oGPwmKVz/f1yE+PuUVP4U11D4=
module {
  func.func @"__inference_<lambda>_580"(%arg0: tensor<?x6xf32>, %arg1: tensor<6x2xf32>, %arg2: tensor<2xf32>) -> tensor<?x2xf32> attributes {allow_soft_placement = false} {
    %0 = shape.const_shape [2] : tensor<1xindex>
    %cst = stablehlo.constant dense<-0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_1 = stablehlo.constant dense<1.12837911> : tensor<f32>
    %cst_2 = stablehlo.constant dense<-0.37612626> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.112835854> : tensor<f32>
    %cst_4 = stablehlo.constant dense<-0.0268538129> : tensor<f32>
    %cst_5 = stablehlo.constant dense<0.00518832775> : tensor<f32>
    %cst_6 = stablehlo.constant dense<-8.0101937E-4> : tensor<f32>
    %cst_7 = stablehlo.constant dense<7.85386146E-5> : tensor<f32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_9 = stablehlo.constant dense<-88.7228394> : tensor<f32>
    %cst_10 = stablehlo.constant dense<0.564189494> : tensor<f32>
    %cst_11 = stablehlo.constant dense<-0.282076746> : tensor<f32>
    %cst_12 = stablehlo.constant dense<0.42184633> : tensor<f32>
    %cst_13 = stablehlo.constant dense<-1.01526523> : tensor<f32>
    %cst_14 = stablehlo.constant dense<2.92101908> : tensor<f32>
    %cst_15 = stablehlo.constant dense<-7.49551868> : tensor<f32>
    %cst_16 = stablehlo.constant dense<1.297720e+01> : tensor<f32>
    %cst_17 = stablehlo.constant dense<-10.477664> : tensor<f32>
    %cst_18 = stablehlo.constant dense<0.563825965> : tensor<f32>
    %cst_19 = stablehlo.constant dense<-0.274112701> : tensor<f32>
    %cst_20 = stablehlo.constant dense<3.404880e-01> : tensor<f32>
    %cst_21 = stablehlo.constant dense<-0.494451523> : tensor<f32>
    %cst_22 = stablehlo.constant dense<0.621000468> : tensor<f32>
    %cst_23 = stablehlo.constant dense<-0.582473278> : tensor<f32>
    %cst_24 = stablehlo.constant dense<0.368742466> : tensor<f32>
    %cst_25 = stablehlo.constant dense<-0.138703942> : tensor<f32>
    %cst_26 = stablehlo.constant dense<2.326820e-02> : tensor<f32>
    %cst_27 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %cst_28 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_29 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %cst_30 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1 = stablehlo.dot %arg0, %arg1, precision = [DEFAULT, DEFAULT] : (tensor<?x6xf32>, tensor<6x2xf32>) -> tensor<?x2xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %2 = shape.shape_of %1 : tensor<?x2xf32> -> tensor<2xindex>
    %3 = shape.broadcast %2, %0 : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
    %4 = stablehlo.dynamic_broadcast_in_dim %1, %3, dims = [0, 1] : (tensor<?x2xf32>, tensor<2xindex>) -> tensor<?x2xf32>
    %5 = stablehlo.dynamic_broadcast_in_dim %arg2, %3, dims = [1] : (tensor<2xf32>, tensor<2xindex>) -> tensor<?x2xf32>
    %6 = stablehlo.add %4, %5 : tensor<?x2xf32>
    %7 = stablehlo.negate %6 : tensor<?x2xf32>
    %8 = shape.shape_of %7 : tensor<?x2xf32> -> tensor<2xindex>
    %9 = shape.shape_of %6 : tensor<?x2xf32> -> tensor<2xindex>
    %10 = stablehlo.dynamic_broadcast_in_dim %cst_29, %8, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %11 = stablehlo.multiply %7, %10 : tensor<?x2xf32>
    %12 = stablehlo.multiply %11, %11 : tensor<?x2xf32>
    %13 = stablehlo.negate %12 : tensor<?x2xf32>
    %14 = stablehlo.abs %11 : tensor<?x2xf32>
    %15 = stablehlo.exponential %13 : tensor<?x2xf32>
    %16 = stablehlo.multiply %11, %11 : tensor<?x2xf32>
    %17 = stablehlo.abs %11 : tensor<?x2xf32>
    %18 = stablehlo.dynamic_broadcast_in_dim %cst_30, %9, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %19 = stablehlo.multiply %6, %18 : tensor<?x2xf32>
    %20 = shape.shape_of %11 : tensor<?x2xf32> -> tensor<2xindex>
    %21 = shape.shape_of %11 : tensor<?x2xf32> -> tensor<2xindex>
    %22 = shape.shape_of %11 : tensor<?x2xf32> -> tensor<2xindex>
    %23 = shape.shape_of %11 : tensor<?x2xf32> -> tensor<2xindex>
    %24 = shape.shape_of %11 : tensor<?x2xf32> -> tensor<2xindex>
    %25 = shape.shape_of %16 : tensor<?x2xf32> -> tensor<2xindex>
    %26 = shape.shape_of %16 : tensor<?x2xf32> -> tensor<2xindex>
    %27 = shape.shape_of %16 : tensor<?x2xf32> -> tensor<2xindex>
    %28 = shape.shape_of %16 : tensor<?x2xf32> -> tensor<2xindex>
    %29 = shape.shape_of %16 : tensor<?x2xf32> -> tensor<2xindex>
    %30 = shape.shape_of %16 : tensor<?x2xf32> -> tensor<2xindex>
    %31 = shape.shape_of %16 : tensor<?x2xf32> -> tensor<2xindex>
    %32 = shape.shape_of %19 : tensor<?x2xf32> -> tensor<2xindex>
    %33 = stablehlo.dynamic_broadcast_in_dim %cst_28, %20, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %34 = stablehlo.divide %33, %12 : tensor<?x2xf32>
    %35 = stablehlo.divide %33, %14 : tensor<?x2xf32>
    %36 = stablehlo.multiply %15, %35 : tensor<?x2xf32>
    %37 = stablehlo.dynamic_broadcast_in_dim %cst_27, %21, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %38 = stablehlo.compare  LT, %14, %37 : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xi1>
    %39 = stablehlo.dynamic_broadcast_in_dim %cst_9, %22, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %40 = stablehlo.compare  LT, %13, %39 : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xi1>
    %41 = stablehlo.dynamic_broadcast_in_dim %cst_8, %23, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %42 = stablehlo.compare  LT, %11, %41 : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xi1>
    %43 = stablehlo.dynamic_broadcast_in_dim %cst_28, %24, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %44 = stablehlo.dynamic_broadcast_in_dim %cst_7, %25, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %45 = stablehlo.multiply %44, %16 : tensor<?x2xf32>
    %46 = stablehlo.dynamic_broadcast_in_dim %cst_6, %26, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %47 = stablehlo.add %45, %46 : tensor<?x2xf32>
    %48 = stablehlo.multiply %47, %16 : tensor<?x2xf32>
    %49 = stablehlo.dynamic_broadcast_in_dim %cst_5, %27, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %50 = stablehlo.add %48, %49 : tensor<?x2xf32>
    %51 = stablehlo.multiply %50, %16 : tensor<?x2xf32>
    %52 = stablehlo.dynamic_broadcast_in_dim %cst_4, %28, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %53 = stablehlo.add %51, %52 : tensor<?x2xf32>
    %54 = stablehlo.multiply %53, %16 : tensor<?x2xf32>
    %55 = stablehlo.dynamic_broadcast_in_dim %cst_3, %29, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %56 = stablehlo.add %54, %55 : tensor<?x2xf32>
    %57 = stablehlo.multiply %56, %16 : tensor<?x2xf32>
    %58 = stablehlo.dynamic_broadcast_in_dim %cst_2, %30, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %59 = stablehlo.add %57, %58 : tensor<?x2xf32>
    %60 = stablehlo.multiply %59, %16 : tensor<?x2xf32>
    %61 = stablehlo.dynamic_broadcast_in_dim %cst_1, %31, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %62 = stablehlo.add %60, %61 : tensor<?x2xf32>
    %63 = stablehlo.multiply %11, %62 : tensor<?x2xf32>
    %64 = stablehlo.subtract %43, %63 : tensor<?x2xf32>
    %65 = stablehlo.compare  LT, %17, %43 : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xi1>
    %66 = shape.shape_of %34 : tensor<?x2xf32> -> tensor<2xindex>
    %67 = shape.shape_of %34 : tensor<?x2xf32> -> tensor<2xindex>
    %68 = shape.shape_of %34 : tensor<?x2xf32> -> tensor<2xindex>
    %69 = shape.shape_of %34 : tensor<?x2xf32> -> tensor<2xindex>
    %70 = shape.shape_of %34 : tensor<?x2xf32> -> tensor<2xindex>
    %71 = shape.shape_of %34 : tensor<?x2xf32> -> tensor<2xindex>
    %72 = shape.shape_of %34 : tensor<?x2xf32> -> tensor<2xindex>
    %73 = shape.shape_of %34 : tensor<?x2xf32> -> tensor<2xindex>
    %74 = shape.shape_of %34 : tensor<?x2xf32> -> tensor<2xindex>
    %75 = shape.shape_of %34 : tensor<?x2xf32> -> tensor<2xindex>
    %76 = shape.shape_of %34 : tensor<?x2xf32> -> tensor<2xindex>
    %77 = shape.shape_of %34 : tensor<?x2xf32> -> tensor<2xindex>
    %78 = shape.shape_of %34 : tensor<?x2xf32> -> tensor<2xindex>
    %79 = shape.shape_of %34 : tensor<?x2xf32> -> tensor<2xindex>
    %80 = shape.shape_of %34 : tensor<?x2xf32> -> tensor<2xindex>
    %81 = shape.shape_of %34 : tensor<?x2xf32> -> tensor<2xindex>
    %82 = shape.shape_of %34 : tensor<?x2xf32> -> tensor<2xindex>
    %83 = stablehlo.dynamic_broadcast_in_dim %cst_26, %66, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %84 = stablehlo.multiply %83, %34 : tensor<?x2xf32>
    %85 = stablehlo.dynamic_broadcast_in_dim %cst_25, %67, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %86 = stablehlo.add %84, %85 : tensor<?x2xf32>
    %87 = stablehlo.multiply %86, %34 : tensor<?x2xf32>
    %88 = stablehlo.dynamic_broadcast_in_dim %cst_24, %68, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %89 = stablehlo.add %87, %88 : tensor<?x2xf32>
    %90 = stablehlo.multiply %89, %34 : tensor<?x2xf32>
    %91 = stablehlo.dynamic_broadcast_in_dim %cst_23, %69, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %92 = stablehlo.add %90, %91 : tensor<?x2xf32>
    %93 = stablehlo.multiply %92, %34 : tensor<?x2xf32>
    %94 = stablehlo.dynamic_broadcast_in_dim %cst_22, %70, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %95 = stablehlo.add %93, %94 : tensor<?x2xf32>
    %96 = stablehlo.multiply %95, %34 : tensor<?x2xf32>
    %97 = stablehlo.dynamic_broadcast_in_dim %cst_21, %71, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %98 = stablehlo.add %96, %97 : tensor<?x2xf32>
    %99 = stablehlo.multiply %98, %34 : tensor<?x2xf32>
    %100 = stablehlo.dynamic_broadcast_in_dim %cst_20, %72, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %101 = stablehlo.add %99, %100 : tensor<?x2xf32>
    %102 = stablehlo.multiply %101, %34 : tensor<?x2xf32>
    %103 = stablehlo.dynamic_broadcast_in_dim %cst_19, %73, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %104 = stablehlo.add %102, %103 : tensor<?x2xf32>
    %105 = stablehlo.multiply %104, %34 : tensor<?x2xf32>
    %106 = stablehlo.dynamic_broadcast_in_dim %cst_18, %74, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %107 = stablehlo.add %105, %106 : tensor<?x2xf32>
    %108 = stablehlo.dynamic_broadcast_in_dim %cst_17, %75, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %109 = stablehlo.multiply %108, %34 : tensor<?x2xf32>
    %110 = stablehlo.dynamic_broadcast_in_dim %cst_16, %76, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %111 = stablehlo.add %109, %110 : tensor<?x2xf32>
    %112 = stablehlo.multiply %111, %34 : tensor<?x2xf32>
    %113 = stablehlo.dynamic_broadcast_in_dim %cst_15, %77, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %114 = stablehlo.add %112, %113 : tensor<?x2xf32>
    %115 = stablehlo.multiply %114, %34 : tensor<?x2xf32>
    %116 = stablehlo.dynamic_broadcast_in_dim %cst_14, %78, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %117 = stablehlo.add %115, %116 : tensor<?x2xf32>
    %118 = stablehlo.multiply %117, %34 : tensor<?x2xf32>
    %119 = stablehlo.dynamic_broadcast_in_dim %cst_13, %79, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %120 = stablehlo.add %118, %119 : tensor<?x2xf32>
    %121 = stablehlo.multiply %120, %34 : tensor<?x2xf32>
    %122 = stablehlo.dynamic_broadcast_in_dim %cst_12, %80, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %123 = stablehlo.add %121, %122 : tensor<?x2xf32>
    %124 = stablehlo.multiply %123, %34 : tensor<?x2xf32>
    %125 = stablehlo.dynamic_broadcast_in_dim %cst_11, %81, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %126 = stablehlo.add %124, %125 : tensor<?x2xf32>
    %127 = stablehlo.multiply %126, %34 : tensor<?x2xf32>
    %128 = stablehlo.dynamic_broadcast_in_dim %cst_10, %82, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %129 = stablehlo.add %127, %128 : tensor<?x2xf32>
    %130 = stablehlo.select %38, %107, %129 : tensor<?x2xi1>, tensor<?x2xf32>
    %131 = stablehlo.multiply %36, %130 : tensor<?x2xf32>
    %132 = stablehlo.select %40, %41, %131 : tensor<?x2xi1>, tensor<?x2xf32>
    %133 = stablehlo.subtract %37, %132 : tensor<?x2xf32>
    %134 = stablehlo.select %42, %133, %132 : tensor<?x2xi1>, tensor<?x2xf32>
    %135 = stablehlo.select %65, %64, %134 : tensor<?x2xi1>, tensor<?x2xf32>
    %136 = shape.shape_of %135 : tensor<?x2xf32> -> tensor<2xindex>
    %137 = shape.cstr_broadcastable %32, %136 : tensor<2xindex>, tensor<2xindex>
    %138 = shape.assuming %137 -> (tensor<?x2xf32>) {
      %150 = shape.shape_of %19 : tensor<?x2xf32> -> tensor<2xindex>
      %151 = shape.shape_of %135 : tensor<?x2xf32> -> tensor<2xindex>
      %152 = shape.broadcast %150, %151 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %153 = stablehlo.dynamic_broadcast_in_dim %19, %152, dims = [0, 1] : (tensor<?x2xf32>, tensor<2xindex>) -> tensor<?x2xf32>
      %154 = stablehlo.dynamic_broadcast_in_dim %135, %152, dims = [0, 1] : (tensor<?x2xf32>, tensor<2xindex>) -> tensor<?x2xf32>
      %155 = stablehlo.multiply %153, %154 : tensor<?x2xf32>
      shape.assuming_yield %155 : tensor<?x2xf32>
    }
    %139 = shape.shape_of %138 : tensor<?x2xf32> -> tensor<2xindex>
    %140 = stablehlo.reduce(%138 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<?x2xf32>, tensor<f32>) -> tensor<?xf32>
    %dim = tensor.dim %140, %c0 : tensor<?xf32>
    %from_elements = tensor.from_elements %dim, %c1 : tensor<2xindex>
    %141 = stablehlo.dynamic_reshape %140, %from_elements : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x1xf32>
    %142 = shape.cstr_broadcastable %139, %from_elements : tensor<2xindex>, tensor<2xindex>
    %143 = shape.assuming %142 -> (tensor<?x2xf32>) {
      %150 = shape.shape_of %138 : tensor<?x2xf32> -> tensor<2xindex>
      %151 = shape.broadcast %150, %from_elements : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %152 = stablehlo.dynamic_broadcast_in_dim %138, %151, dims = [0, 1] : (tensor<?x2xf32>, tensor<2xindex>) -> tensor<?x2xf32>
      %153 = stablehlo.dynamic_broadcast_in_dim %141, %151, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x2xf32>
      %154 = stablehlo.subtract %152, %153 : tensor<?x2xf32>
      shape.assuming_yield %154 : tensor<?x2xf32>
    }
    %144 = stablehlo.exponential %143 : tensor<?x2xf32>
    %145 = stablehlo.reduce(%144 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<?x2xf32>, tensor<f32>) -> tensor<?xf32>
    %dim_31 = tensor.dim %145, %c0 : tensor<?xf32>
    %from_elements_32 = tensor.from_elements %dim_31, %c1 : tensor<2xindex>
    %146 = stablehlo.dynamic_reshape %145, %from_elements_32 : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x1xf32>
    %147 = shape.shape_of %144 : tensor<?x2xf32> -> tensor<2xindex>
    %148 = shape.cstr_broadcastable %147, %from_elements_32 : tensor<2xindex>, tensor<2xindex>
    %149 = shape.assuming %148 -> (tensor<?x2xf32>) {
      %150 = shape.shape_of %144 : tensor<?x2xf32> -> tensor<2xindex>
      %151 = shape.broadcast %150, %from_elements_32 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %152 = stablehlo.dynamic_broadcast_in_dim %144, %151, dims = [0, 1] : (tensor<?x2xf32>, tensor<2xindex>) -> tensor<?x2xf32>
      %153 = stablehlo.dynamic_broadcast_in_dim %146, %151, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x2xf32>
      %154 = stablehlo.divide %152, %153 : tensor<?x2xf32>
      shape.assuming_yield %154 : tensor<?x2xf32>
    }
    return %149 : tensor<?x2xf32>
  }
}
