/*
   What the PETSc side of every room shares
*/
#ifndef STRATA_IMPL_H
#define STRATA_IMPL_H

#include <strata.h>
#include <petsc/private/petscimpl.h>
#include "compat.h"

/* Strata knows of CUDA when its CUDA sources are part of the build; the build says so */
#if !defined(STRATA_HAVE_CUDA)
#define STRATA_HAVE_CUDA 0
#endif

/* Events */
PETSC_INTERN PetscLogEvent STRATA_Halo, STRATA_ColumnSetUp, STRATA_ColumnApply, STRATA_JacobiSetUp, STRATA_JacobiSweep, STRATA_CGPass;

/* The lowest index of numbers that are not the same on all ranks, or -1 */
PETSC_INTERN PetscErrorCode StrataFindDifference(MPI_Comm, PetscInt count, const PetscReal[], PetscInt *index);

/* Richardson's iteration of a PC that knows z = add + M r, or with the transpose of M */
typedef PetscErrorCode (*StrataApplyAdd)(PC, PetscBool transpose, Vec r, Vec add, Vec z);
typedef PetscErrorCode (*StrataRichardson)(PC, Vec, Vec, Vec, PetscReal, PetscReal, PetscReal, PetscInt, PetscBool, PetscInt *,
                                           PCRichardsonConvergedReason *);
PETSC_INTERN PetscErrorCode StrataApplyRichardson(PC, StrataApplyAdd, Vec b, Vec x, Vec w, PetscInt its, PetscBool guesszero, PetscInt *outits,
                                                  PCRichardsonConvergedReason *);
PETSC_INTERN PetscErrorCode StrataPreSolveRichardson(PC, KSP, StrataRichardson);

/* Types that the package registers */
PETSC_INTERN PetscErrorCode MatCreate_Strata(Mat);
PETSC_INTERN PetscErrorCode PCCreate_Column(PC);
PETSC_INTERN PetscErrorCode PCCreate_HJacobi(PC);
PETSC_INTERN PetscErrorCode KSPCreate_HJacobi(KSP);
PETSC_INTERN PetscErrorCode KSPCreate_CGFused(KSP);

/* Calls into CUDA sources: plain C, the value is a cudaError_t */
#if STRATA_HAVE_CUDA
PETSC_INTERN PetscErrorCode StrataGetDeviceStream(void **);

PETSC_INTERN const char *StrataCUDAErrorString(int);
PETSC_INTERN int         StrataCUDAOutOfMemory(int);
PETSC_INTERN int         StrataCUDAMalloc(void **, size_t);
PETSC_INTERN int         StrataCUDAFree(void *);
PETSC_INTERN int         StrataCUDAMallocHost(void **, size_t);
PETSC_INTERN int         StrataCUDAFreeHost(void *);
PETSC_INTERN int         StrataCUDAMemcpy(void *, const void *, size_t, void *stream); /* any direction; returns after the copy */
PETSC_INTERN int         StrataCUDAMemcpyAsync(void *, const void *, size_t, void *stream);
PETSC_INTERN int         StrataCUDAMemset(void *, int, size_t, void *stream);
PETSC_INTERN int         StrataCUDAStreamCreate(void **);
PETSC_INTERN int         StrataCUDAStreamDestroy(void *);
PETSC_INTERN int         StrataCUDAStreamSynchronize(void *);
PETSC_INTERN int         StrataCUDAEventCreate(void **);
PETSC_INTERN int         StrataCUDAEventDestroy(void *);
PETSC_INTERN int         StrataCUDAEventRecord(void *event, void *stream);
PETSC_INTERN int         StrataCUDAEventSynchronize(void *);
PETSC_INTERN int         StrataCUDAStreamWaitEvent(void *stream, void *event);
#define STRATA_CUDA_IPC_BYTES 64
PETSC_INTERN int StrataCUDAIpcGet(void *handle, void *memory); /* a handle of device memory, STRATA_CUDA_IPC_BYTES long, for other processes */
PETSC_INTERN int StrataCUDAIpcOpen(void **memory, const void *handle);
PETSC_INTERN int StrataCUDAIpcClose(void *memory);

#define StrataCallCUDA(...)                                                                                                                          \
  do {                                                                                                                                               \
    const int strata_err_ = (__VA_ARGS__);                                                                                                           \
    PetscCheck(!strata_err_, PETSC_COMM_SELF, StrataCUDAOutOfMemory(strata_err_) ? PETSC_ERR_MEM : PETSC_ERR_GPU, "CUDA error %d: %s", strata_err_,  \
               StrataCUDAErrorString(strata_err_));                                                                                                  \
  } while (0)
/* One call on the host or on the device */
#define StrataDispatch(memtype, host, cuda)                                                                                                          \
  do {                                                                                                                                               \
    if (PetscMemTypeDevice(memtype))                                                                                                                 \
      StrataCallCUDA(cuda);                                                                                                                          \
    else                                                                                                                                             \
      host;                                                                                                                                          \
  } while (0)
#else
#define StrataDispatch(memtype, host, cuda)                                                                                                          \
  do {                                                                                                                                               \
    PetscCheck(!PetscMemTypeDevice(memtype), PETSC_COMM_SELF, PETSC_ERR_SUP,                                                                         \
               "The data are on a GPU, but this Strata was built without CUDA: build it with CUDA, or use host vectors (-vec_type standard, "        \
               "-dm_vec_type standard)");                                                                                                            \
    host;                                                                                                                                            \
  } while (0)
#endif

/* The stream that PETSc works on now, as a void pointer; NULL for work on the host */
PETSC_INTERN PetscErrorCode StrataGetStream(PetscMemType, void **);

/* An array that lives on the host, on the device or on both, and is copied when asked for where it is not */
typedef struct {
  size_t    bytes;
  void     *host, *device;
  PetscBool hostvalid, devicevalid;
} StrataArray;
PETSC_INTERN PetscErrorCode StrataArrayCreate(StrataArray *, size_t);
PETSC_INTERN PetscErrorCode StrataArrayDestroy(StrataArray *);
PETSC_INTERN PetscErrorCode StrataArrayRead(StrataArray *, PetscMemType, void *);              /* last: address of the pointer to set */
PETSC_INTERN PetscErrorCode StrataArrayWrite(StrataArray *, PetscMemType, void *);             /* the same; old values are lost */
PETSC_INTERN PetscErrorCode StrataArrayUpdate(StrataArray *, PetscMemType, void *);            /* the same; old values are kept */
PETSC_INTERN PetscErrorCode StrataArraySet(StrataArray *, size_t, PetscMemType, const void *); /* made from a copy of the data */
PETSC_INTERN PetscErrorCode StrataArrayCopy(StrataArray *, const StrataArray *);               /* the first is new */

/* Vectors whose arrays are wanted together, in the one memory where the work will be done */
PETSC_INTERN PetscErrorCode StrataVecGetArrays(Vec x, Vec add, Vec y, const PetscScalar **, const PetscScalar **, PetscScalar **, PetscMemType *);
PETSC_INTERN PetscErrorCode StrataVecRestoreArrays(Vec x, Vec add, Vec y, const PetscScalar **, const PetscScalar **, PetscScalar **, PetscMemType);

/* The same of dense matrices, with their leading dimensions; all entries of one */
PETSC_INTERN PetscErrorCode StrataDenseGetArrays(Mat X, Mat Y, const PetscScalar **, PetscInt *ldx, PetscScalar **, PetscInt *ldy, PetscMemType *);
PETSC_INTERN PetscErrorCode StrataDenseRestoreArrays(Mat X, Mat Y, const PetscScalar **, PetscScalar **, PetscMemType);
PETSC_INTERN PetscErrorCode StrataDenseSet(Mat, PetscScalar);

#endif
