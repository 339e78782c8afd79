/*
   One source for PETSc 3.18 to 3.26: every difference between the versions that Strata meets, and no version #if anywhere else
*/
#ifndef STRATA_COMPAT_H
#define STRATA_COMPAT_H

#include <petscsys.h>
#include <petscversion.h>

#if PETSC_VERSION_LT(3, 18, 0)
#error "Strata needs PETSc 3.18 or newer"
#endif

/* 3.19: PETSC_SUCCESS */
#if PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS ((PetscErrorCode)0)
#endif

/* 3.23: PetscOptionItems became a pointer */
#if PETSC_VERSION_LT(3, 23, 0)
typedef PetscOptionItems *StrataOptionItems;
#else
typedef PetscOptionItems StrataOptionItems;
#endif

/* 3.23: the destructor of a context gets the address of the context. StrataContextOf() is what a destructor declared with
   `void *arg` finds in its argument. */
#if PETSC_VERSION_LT(3, 23, 0)
#define StrataContextOf(arg)                       (arg)
#define StrataContainerSetDestroy(container, func) PetscContainerSetUserDestroy(container, func)
#define STRATA_DESTROY_ARGUMENT                    void *
#elif PETSC_VERSION_LT(3, 25, 0)
#define StrataContextOf(arg)                       (*(arg))
#define StrataContainerSetDestroy(container, func) PetscContainerSetCtxDestroy(container, func)
#define STRATA_DESTROY_ARGUMENT                    void **
#else
#define StrataContextOf(arg)                       (*(void **)(arg))
#define StrataContainerSetDestroy(container, func) PetscContainerSetCtxDestroy(container, func)
#define STRATA_DESTROY_ARGUMENT                    void *
#endif

/* 3.24: PetscBool is the bool of C */
#if PETSC_VERSION_LT(3, 24, 0)
#define STRATA_MPI_BOOL MPIU_BOOL
#else
#define STRATA_MPI_BOOL MPI_C_BOOL
#endif

/* 3.20: PetscGetCurrentCUDAStream() */
#if PETSC_VERSION_LT(3, 20, 0)
#define StrataGetCUDAStream(stream) (*(stream) = PetscDefaultCudaStream, PETSC_SUCCESS)
#else
#define StrataGetCUDAStream(stream) PetscGetCurrentCUDAStream(stream)
#endif

/* 3.19: KSP_CONVERGED_NEG_CURVE, and the choice whether it is convergence */
#if PETSC_VERSION_LT(3, 19, 0)
#define KSP_CONVERGED_NEG_CURVE                          KSP_CONVERGED_CG_NEG_CURVE
#define StrataKSPGetConvergedNegativeCurvature(ksp, flg) (*(flg) = PETSC_FALSE, PETSC_SUCCESS)
#else
#define StrataKSPGetConvergedNegativeCurvature(ksp, flg) KSPGetConvergedNegativeCurvature(ksp, flg)
#endif

/* 3.18 has no MatDenseGetArray*AndMemType() */
#if PETSC_VERSION_LT(3, 19, 0)
#define StrataDenseGetArrayRead(B, array, type)  (*(type) = PETSC_MEMTYPE_HOST, MatDenseGetArrayRead(B, array))
#define StrataDenseRestoreArrayRead(B, array)    MatDenseRestoreArrayRead(B, array)
#define StrataDenseGetArrayWrite(B, array, type) (*(type) = PETSC_MEMTYPE_HOST, MatDenseGetArrayWrite(B, array))
#define StrataDenseRestoreArrayWrite(B, array)   MatDenseRestoreArrayWrite(B, array)
#else
#define StrataDenseGetArrayRead(B, array, type)  MatDenseGetArrayReadAndMemType(B, array, type)
#define StrataDenseRestoreArrayRead(B, array)    MatDenseRestoreArrayReadAndMemType(B, array)
#define StrataDenseGetArrayWrite(B, array, type) MatDenseGetArrayWriteAndMemType(B, array, type)
#define StrataDenseRestoreArrayWrite(B, array)   MatDenseRestoreArrayWriteAndMemType(B, array)
#endif

/* 3.26: KSP does not scale systems by their diagonal */
#if PETSC_VERSION_LT(3, 26, 0)
#define StrataKSPGetDiagonalScale(ksp, flg) KSPGetDiagonalScale(ksp, flg)
#else
#define StrataKSPGetDiagonalScale(ksp, flg) (*(flg) = PETSC_FALSE, PETSC_SUCCESS)
#endif

/* 3.26: the default convergence test looks at the right-hand sides of KSPMatSolve(), all of them together */
#if PETSC_VERSION_LT(3, 26, 0)
#define StrataKSPForgetMatRHS(ksp) PETSC_SUCCESS
#else
#define StrataKSPForgetMatRHS(ksp) ((ksp)->mat_rhs = NULL, PETSC_SUCCESS)
#endif

#endif
