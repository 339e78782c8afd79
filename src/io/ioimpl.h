/*
   What reading and writing of files share
*/
#ifndef STRATA_IO_IMPL_H
#define STRATA_IO_IMPL_H

#include "../sys/strataimpl.h"

/* What went wrong on one rank, until all ranks can be told; code 0 while nothing did. The first problem stays. */
typedef struct {
  PetscErrorCode code;
  char           text[2048];
} StrataProblem;
PETSC_INTERN void           StrataProblemSet(StrataProblem *, PetscErrorCode, const char[], ...) PETSC_ATTRIBUTE_FORMAT(3, 4);
PETSC_INTERN PetscErrorCode StrataProblemRaise(MPI_Comm, const StrataProblem *);

#define STRATA_NO_HDF5 "Files are in HDF5, but this PETSc was built without it: configure PETSc --with-hdf5 and build Strata anew"

#if defined(PETSC_HAVE_HDF5)
#include <petscviewerhdf5.h>

/* HDF5 is not to print errors of its own meanwhile */
typedef struct {
  H5E_auto2_t function;
  void       *data;
} StrataQuiet;

static inline void StrataQuietBegin(StrataQuiet *q)
{
  H5Eget_auto2(H5E_DEFAULT, &q->function, &q->data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static inline void StrataQuietEnd(StrataQuiet *q)
{
  H5Eset_auto2(H5E_DEFAULT, q->function, q->data);
}
#endif

#endif
