/*
   What the PC on the sweep engine is made of
*/
#ifndef STRATA_PCJACOBIIMPL_H
#define STRATA_PCJACOBIIMPL_H

#include "jacobiimpl.h"
#include <petsc/private/pcimpl.h>

typedef struct {
  StrataJacobi jacobi; /* first */
} PC_HJacobi;

#endif
