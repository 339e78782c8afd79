/*
   Includes the file STRATA_TYPED twice, for double and for float (see kernels.h).

     #define STRATA_TYPED "mykernels_typed.h"
     #include "../sys/typed.h"
*/
#if defined(__cplusplus)
#define CELL(name) name
#else
#define CELL(name) TYPED(name)
#endif

#define REAL         double
#define TYPED(name)  name##_d
#define FMA(a, b, c) fma(a, b, c)
#define REAL_EPSILON 2.220446049250313e-16
#include STRATA_TYPED
#undef REAL
#undef TYPED
#undef FMA
#undef REAL_EPSILON

#define REAL         float
#define TYPED(name)  name##_f
#define FMA(a, b, c) fmaf(a, b, c)
#define REAL_EPSILON 1.1920929e-07f
#include STRATA_TYPED
#undef REAL
#undef TYPED
#undef FMA
#undef REAL_EPSILON

#undef CELL
#undef STRATA_TYPED
