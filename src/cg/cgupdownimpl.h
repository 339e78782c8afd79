/*
   The vectors of the two passes along columns, see cg_columns_kernels.h
*/
#ifndef STRATA_CGUPDOWNIMPL_H
#define STRATA_CGUPDOWNIMPL_H

#include "cgimpl.h"
#include "cg_columns_kernels.h"

#define STRATA_TYPED "../cg/cgupdownimpl_typed.h"
#include "../sys/typed.h"

#endif
