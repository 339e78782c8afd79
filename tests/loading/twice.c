/*
   A program that knows nothing of Strata initializes and finalizes PETSc three times, and each time makes a preconditioner of
   the type that -dll_append brought. With -leak it forgets one, to see that -malloc_dump notices.
*/
#include <petscksp.h>

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 3; i++) {
    PC        pc;
    PCType    type;
    PetscBool leak = PETSC_FALSE;

    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(PetscOptionsGetBool(NULL, NULL, "-leak", &leak, NULL));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, "column"));
    PetscCall(PCGetType(pc, &type));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "time %d: %s\n", i + 1, type));
    if (!leak) PetscCall(PCDestroy(&pc));
    PetscCall(PetscFinalize());
  }
  MPI_Finalize();
  return 0;
}
