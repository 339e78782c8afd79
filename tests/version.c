/*
   What the library says of itself
*/
/* ranks: 1 3 */
#include "tap.h"

int main(int argc, char **argv)
{
  PetscInt major = -1, minor = -1, subminor = -1;
  char     version[256], small[8];

  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  PetscCall(StrataGetVersionNumber(&major, &minor, &subminor));
  is_int(major, STRATA_VERSION_MAJOR, "major version");
  is_int(minor, STRATA_VERSION_MINOR, "minor version");
  is_int(subminor, STRATA_VERSION_SUBMINOR, "subminor version");
  PetscCall(StrataGetVersionNumber(NULL, NULL, NULL));
  PetscCall(StrataGetVersion(version, sizeof(version)));
  is_string(version,
            TapText("Strata %d.%d.%d, PETSc %d.%d.%d, %s", STRATA_VERSION_MAJOR, STRATA_VERSION_MINOR, STRATA_VERSION_SUBMINOR, PETSC_VERSION_MAJOR,
                    PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, STRATA_HAVE_CUDA ? "CUDA" : "no CUDA"),
            "version in words");
  PetscCall(StrataGetVersion(small, sizeof(small)));
  is_string(small, "Strata ", "a short buffer gets what fits");
  PetscCall(StrataInitializePackage());
  ok(1, "the package may be initialized again");
  return TapEnd();
}
