/*
   What all ranks must agree on
*/
#include "strataimpl.h"

/*
   StrataFindDifference - The lowest index of the numbers that are not the same on all ranks, -1 if there is none
*/
PetscErrorCode StrataFindDifference(MPI_Comm comm, PetscInt count, const PetscReal given[], PetscInt *index)
{
  PetscReal *first;
  PetscInt   differs = PETSC_MAX_INT, m;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count, &first));
  PetscCall(PetscArraycpy(first, given, count));
  PetscCallMPI(MPI_Bcast(first, (PetscMPIInt)count, MPIU_REAL, 0, comm));
  for (m = count - 1; m >= 0; m--)
    if (given[m] != first[m] && !(PetscIsNanReal(given[m]) && PetscIsNanReal(first[m]))) differs = m;
  PetscCall(PetscFree(first));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &differs, 1, MPIU_INT, MPI_MIN, comm));
  *index = differs == PETSC_MAX_INT ? -1 : differs;
  PetscFunctionReturn(PETSC_SUCCESS);
}
