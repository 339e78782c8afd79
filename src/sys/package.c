/*
   Registration of the package, and the check that the PETSc that loads it is the PETSc that it was built for
*/
#include "strataimpl.h"

PetscLogEvent STRATA_Halo, STRATA_ColumnSetUp, STRATA_ColumnApply, STRATA_JacobiSetUp, STRATA_JacobiSweep, STRATA_CGPass;

static PetscBool StrataPackageInitialized = PETSC_FALSE;

/* Entry point of -dll_append; PETSc derives its name from the name of the file */
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_strata(void);

/*
   A library built for another PETSc would write over memory or misread structures. Each question is put in a form that is safe
   even if the answer is bad: sizes through size_t first, then what is passed as PetscInt, then names that only the loaded
   library can resolve.
*/
static PetscErrorCode StrataCheckABI(void)
{
  size_t        size;
  PetscInt      major, minor, subminor, release;
  PetscDataType scalar = PETSC_DATATYPE_UNKNOWN, real = PETSC_DATATYPE_UNKNOWN;
  PetscBool     found;

  PetscFunctionBegin;
  PetscCall(PetscDataTypeGetSize(PETSC_INT, &size));
  PetscCheck(size == sizeof(PetscInt), PETSC_COMM_SELF, PETSC_ERR_LIB,
             "This libstrata was built for a PETSc with %d-bit indices, but the running PETSc has %d-bit indices: build Strata with the PETSC_DIR "
             "and PETSC_ARCH of the program",
             (int)(8 * sizeof(PetscInt)), (int)(8 * size));
  PetscCall(PetscGetVersionNumber(&major, &minor, &subminor, &release));
  PetscCheck(major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "This libstrata was built for PETSc %d.%d, but the running PETSc is %" PetscInt_FMT ".%" PetscInt_FMT ".%" PetscInt_FMT
             ": build Strata with the PETSC_DIR and PETSC_ARCH of the program",
             PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, major, minor, subminor);
  PetscCall(PetscDataTypeFromString("real", &real, &found));
  PetscCheck(
      found && real == PETSC_REAL, PETSC_COMM_SELF, PETSC_ERR_LIB,
      "This libstrata was built for a PETSc in double precision, but the running PETSc has another precision: Strata needs a double precision PETSc");
  PetscCall(PetscDataTypeFromString("scalar", &scalar, &found));
  PetscCheck(found && scalar == PETSC_SCALAR, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "This libstrata was built for a PETSc with real numbers, but the running PETSc has complex ones: Strata needs a real PETSc");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  StrataInitializePackage - Registers the types of Strata with PETSc

  Not Collective

  Level: developer

  Notes:
  Programs that load Strata with `-dll_append` need not call it. A program that links against Strata calls it once after
  `PetscInitialize()`; further calls do nothing.

  It fails if the running PETSc differs in version, index size, precision or number type from the one that Strata was built for.

.seealso: `StrataFinalizePackage()`, `MATSTRATA`, `PCCOLUMN`, `PCHJACOBI`, `KSPHJACOBI`, `KSPCGFUSED`
@*/
PetscErrorCode StrataInitializePackage(void)
{
  PetscClassId classid;

  PetscFunctionBegin;
  if (StrataPackageInitialized) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCheckABI());
  StrataPackageInitialized = PETSC_TRUE;
  PetscCall(PetscRegisterFinalize(StrataFinalizePackage));
  PetscCall(MatRegister(MATSTRATA, MatCreate_Strata));
  PetscCall(PCRegister(PCCOLUMN, PCCreate_Column));
  PetscCall(PCRegister(PCHJACOBI, PCCreate_HJacobi));
  PetscCall(KSPRegister(KSPHJACOBI, KSPCreate_HJacobi));
  PetscCall(KSPRegister(KSPCGFUSED, KSPCreate_CGFused));
  PetscCall(PetscClassIdRegister("Strata", &classid));
  PetscCall(PetscLogEventRegister("StrataHalo", classid, &STRATA_Halo));
  PetscCall(PetscLogEventRegister("StrataColSetUp", classid, &STRATA_ColumnSetUp));
  PetscCall(PetscLogEventRegister("StrataColApply", classid, &STRATA_ColumnApply));
  PetscCall(PetscLogEventRegister("StrataJacSetUp", classid, &STRATA_JacobiSetUp));
  PetscCall(PetscLogEventRegister("StrataJacSweep", classid, &STRATA_JacobiSweep));
  PetscCall(PetscLogEventRegister("StrataCGPass", classid, &STRATA_CGPass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  StrataFinalizePackage - Ends the use of Strata

  Not Collective

  Level: developer

  Note:
  `PetscFinalize()` calls it. PETSc may be initialized again afterwards, and Strata with it.

.seealso: `StrataInitializePackage()`
@*/
PetscErrorCode StrataFinalizePackage(void)
{
  PetscFunctionBegin;
  if (!StrataPackageInitialized) PetscFunctionReturn(PETSC_SUCCESS);
  StrataPackageInitialized = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscDLLibraryRegister_strata(void)
{
  PetscFunctionBegin;
  PetscCall(StrataInitializePackage());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  StrataGetVersionNumber - The version of the loaded Strata library

  Not Collective

  Output Parameters:
+ major    - the major version, or `NULL`
. minor    - the minor version, or `NULL`
- subminor - the subminor version, or `NULL`

  Level: beginner

.seealso: `StrataGetVersion()`
@*/
PetscErrorCode StrataGetVersionNumber(PetscInt *major, PetscInt *minor, PetscInt *subminor)
{
  PetscFunctionBegin;
  if (major) *major = STRATA_VERSION_MAJOR;
  if (minor) *minor = STRATA_VERSION_MINOR;
  if (subminor) *subminor = STRATA_VERSION_SUBMINOR;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  StrataGetVersion - The version of the loaded Strata library in words

  Not Collective

  Input Parameter:
. len - the length of the string

  Output Parameter:
. version - a string such as "Strata 0.1.0, PETSc 3.26.1, CUDA", or with "no CUDA" at its end

  Level: beginner

.seealso: `StrataGetVersionNumber()`
@*/
PetscErrorCode StrataGetVersion(char version[], size_t len)
{
  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(version, len, "Strata %d.%d.%d, PETSc %d.%d.%d, %s", STRATA_VERSION_MAJOR, STRATA_VERSION_MINOR, STRATA_VERSION_SUBMINOR,
                          PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, STRATA_HAVE_CUDA ? "CUDA" : "no CUDA"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
