/*
   The vectors of the two passes along columns
*/
#include "cgupdownimpl.h"

#if STRATA_HAVE_CUDA

#define STRATA_TYPED "../cg/cgspace_typed.h"
#include "../sys/typed.h"

#endif
