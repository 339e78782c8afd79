/*
   Loaded before PETSc (LD_PRELOAD), answers PETSc's questions about itself as another PETSc would, as OTHER_PETSC says:
   index (the other size), major, minor, precision (single) or complex
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <petscsys.h>

static int is(const char *what)
{
  const char *other = getenv("OTHER_PETSC");

  return other && !strcmp(other, what);
}

PetscErrorCode PetscDataTypeGetSize(PetscDataType type, size_t *size)
{
  PetscErrorCode (*petsc)(PetscDataType, size_t *) = (PetscErrorCode(*)(PetscDataType, size_t *))dlsym(RTLD_NEXT, "PetscDataTypeGetSize");
  PetscErrorCode ierr = petsc(type, size);

  if (type == PETSC_INT && is("index")) *size = *size == 4 ? 8 : 4;
  return ierr;
}

PetscErrorCode PetscGetVersionNumber(PetscInt *major, PetscInt *minor, PetscInt *subminor, PetscInt *release)
{
  PetscErrorCode (*petsc)(PetscInt *, PetscInt *, PetscInt *, PetscInt *) =
      (PetscErrorCode(*)(PetscInt *, PetscInt *, PetscInt *, PetscInt *))dlsym(RTLD_NEXT, "PetscGetVersionNumber");
  PetscErrorCode ierr = petsc(major, minor, subminor, release);

  if (is("major")) ++*major;
  if (is("minor")) ++*minor;
  if (is("subminor")) ++*subminor;
  return ierr;
}

PetscErrorCode PetscDataTypeFromString(const char *name, PetscDataType *type, PetscBool *found)
{
  PetscErrorCode (*petsc)(const char *, PetscDataType *, PetscBool *) =
      (PetscErrorCode(*)(const char *, PetscDataType *, PetscBool *))dlsym(RTLD_NEXT, "PetscDataTypeFromString");
  PetscErrorCode ierr = petsc(name, type, found);

  if (!strcmp(name, "real") && is("precision")) *type = PETSC_FLOAT;
  if (!strcmp(name, "scalar") && is("complex")) *type = PETSC_COMPLEX;
  return ierr;
}
