/*
   A problem that one rank has with a file is an error on all ranks
*/
#include "ioimpl.h"
#include <stdarg.h>

void StrataProblemSet(StrataProblem *problem, PetscErrorCode code, const char format[], ...)
{
  va_list args;

  if (problem->code) return;
  problem->code = code;
  va_start(args, format);
  (void)PetscVSNPrintf(problem->text, sizeof(problem->text), format, NULL, args);
  va_end(args);
}

/* Collective: the problem of the first rank that has one is raised on every rank */
PetscErrorCode StrataProblemRaise(MPI_Comm comm, const StrataProblem *problem)
{
  StrataProblem p = *problem;
  PetscMPIInt   rank, size, first;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  first = p.code ? rank : size;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm));
  if (first == size) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(&p, (PetscMPIInt)sizeof(p), MPI_BYTE, first, comm));
  SETERRQ(comm, p.code, "%s", p.text);
}
