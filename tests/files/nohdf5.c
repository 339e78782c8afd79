/*
   The sources for files as a PETSc without HDF5 compiles them
*/
#include <petscsys.h>
#undef PETSC_HAVE_HDF5
#include "../../src/io/read.c"
#include "../../src/io/write.c"
#include "../tap.h"

int main(int argc, char **argv)
{
  const char *const name = "x";
  PetscInt          shape = PETSC_DETERMINE;
  PetscReal        *data;
  DM                dm;
  Vec               x;

  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 9, 1, 1, NULL, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateGlobalVector(dm, &x));
  is_error(StrataWriteFields(dm, "none.h5", 1, &x, &name, NULL), PETSC_ERR_SUP, "HDF5 --with-hdf5", "fields cannot be written");
  is_error(StrataReadArray(PETSC_COMM_WORLD, "none.h5", "x", 1, &shape, &data), PETSC_ERR_SUP, "HDF5 --with-hdf5", "arrays cannot be read");
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&dm));
  return TapEnd();
}
