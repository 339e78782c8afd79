/*
   Arrays and vectors in host and device memory
*/
#include "strataimpl.h"

PetscErrorCode StrataGetStream(PetscMemType type, void **stream)
{
  PetscFunctionBegin;
  *stream = NULL;
#if STRATA_HAVE_CUDA
  if (PetscMemTypeDevice(type)) PetscCall(StrataGetDeviceStream(stream));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataArrayCreate(StrataArray *a, size_t bytes)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(a, sizeof(*a)));
  a->bytes = bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataArrayDestroy(StrataArray *a)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(a->host));
#if STRATA_HAVE_CUDA
  if (a->device) StrataCallCUDA(StrataCUDAFree(a->device));
#endif
  PetscCall(PetscMemzero(a, sizeof(*a)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Space in one memory, and the pointer to it; NULL for an array of no length */
static PetscErrorCode StrataArraySpace(StrataArray *a, PetscMemType type, void **p)
{
  PetscFunctionBegin;
  *p = NULL;
  if (!a->bytes) PetscFunctionReturn(PETSC_SUCCESS);
  if (PetscMemTypeHost(type)) {
    if (!a->host) PetscCall(PetscMalloc(a->bytes, &a->host));
    *p = a->host;
  } else {
#if STRATA_HAVE_CUDA
    if (!a->device) {
      const int err = StrataCUDAMalloc(&a->device, a->bytes);

      PetscCheck(!err, PETSC_COMM_SELF, StrataCUDAOutOfMemory(err) ? PETSC_ERR_MEM : PETSC_ERR_GPU,
                 "Could not get %zu bytes of GPU memory: %s. Use more GPUs or a smaller grid", a->bytes, StrataCUDAErrorString(err));
    }
    *p = a->device;
#else
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB, "This Strata was built without CUDA");
#endif
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataArrayRead(StrataArray *a, PetscMemType type, void *pointer)
{
  const PetscBool valid = PetscMemTypeHost(type) ? a->hostvalid : a->devicevalid;
  void           *p;

  PetscFunctionBegin;
  PetscCall(StrataArraySpace(a, type, &p));
  if (p && !valid) {
    PetscCheck(a->hostvalid || a->devicevalid, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Array is read before it is written");
#if STRATA_HAVE_CUDA
    {
      void *stream;

      PetscCall(StrataGetStream(PETSC_MEMTYPE_DEVICE, &stream));
      StrataCallCUDA(StrataCUDAMemcpy(p, PetscMemTypeHost(type) ? a->device : a->host, a->bytes, stream));
    }
#endif
    if (PetscMemTypeHost(type))
      a->hostvalid = PETSC_TRUE;
    else
      a->devicevalid = PETSC_TRUE;
  }
  *(const void **)pointer = p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataArrayWrite(StrataArray *a, PetscMemType type, void *pointer)
{
  PetscFunctionBegin;
  PetscCall(StrataArraySpace(a, type, (void **)pointer));
  a->hostvalid = PetscMemTypeHost(type) ? PETSC_TRUE : PETSC_FALSE;
  a->devicevalid = PetscMemTypeHost(type) ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataArrayUpdate(StrataArray *a, PetscMemType type, void *pointer)
{
  PetscFunctionBegin;
  PetscCall(StrataArrayRead(a, type, pointer));
  PetscCall(StrataArrayWrite(a, type, pointer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataArraySet(StrataArray *a, size_t bytes, PetscMemType type, const void *data)
{
  void *p;

  PetscFunctionBegin;
  if (a->bytes != bytes) {
    PetscCall(StrataArrayDestroy(a));
    PetscCall(StrataArrayCreate(a, bytes));
  }
  PetscCall(StrataArrayWrite(a, type, &p));
  if (!p) PetscFunctionReturn(PETSC_SUCCESS);
  if (PetscMemTypeHost(type)) PetscCall(PetscMemcpy(p, data, bytes));
#if STRATA_HAVE_CUDA
  else {
    void *stream;

    PetscCall(StrataGetStream(PETSC_MEMTYPE_DEVICE, &stream));
    StrataCallCUDA(StrataCUDAMemcpyAsync(p, data, bytes, stream));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataArrayCopy(StrataArray *a, const StrataArray *b)
{
  PetscFunctionBegin;
  PetscCall(StrataArrayCreate(a, b->bytes));
  if (b->devicevalid)
    PetscCall(StrataArraySet(a, b->bytes, PETSC_MEMTYPE_DEVICE, b->device));
  else if (b->hostvalid)
    PetscCall(StrataArraySet(a, b->bytes, PETSC_MEMTYPE_HOST, b->host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataVecGetArrays(Vec x, Vec add, Vec y, const PetscScalar **ax, const PetscScalar **aadd, PetscScalar **ay, PetscMemType *type)
{
  PetscMemType tx, tadd, ty;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(x, ax, &tx));
  *aadd = NULL;
  tadd = tx;
  if (add == y) {
    PetscCall(VecGetArrayAndMemType(y, ay, &ty));
    *aadd = *ay;
  } else {
    if (add) PetscCall(VecGetArrayReadAndMemType(add, aadd, &tadd));
    PetscCall(VecGetArrayWriteAndMemType(y, ay, &ty));
  }
  *type = tx;
  if (PetscMemTypeDevice(tx) && PetscMemTypeDevice(ty) && PetscMemTypeDevice(tadd)) PetscFunctionReturn(PETSC_SUCCESS);
  *type = PETSC_MEMTYPE_HOST;
  if (PetscMemTypeHost(tx) && PetscMemTypeHost(ty) && PetscMemTypeHost(tadd)) PetscFunctionReturn(PETSC_SUCCESS);
  /* Not all in one memory: work on the host, where every vector can be had */
  PetscCall(StrataVecRestoreArrays(x, add, y, ax, aadd, ay, PETSC_MEMTYPE_DEVICE));
  PetscCall(VecGetArrayRead(x, ax));
  if (add == y) {
    PetscCall(VecGetArray(y, ay));
    *aadd = *ay;
  } else {
    if (add) PetscCall(VecGetArrayRead(add, aadd));
    PetscCall(VecGetArrayWrite(y, ay));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataVecRestoreArrays(Vec x, Vec add, Vec y, const PetscScalar **ax, const PetscScalar **aadd, PetscScalar **ay, PetscMemType type)
{
  PetscFunctionBegin;
  if (PetscMemTypeDevice(type)) {
    PetscCall(VecRestoreArrayReadAndMemType(x, ax));
    if (add == y)
      PetscCall(VecRestoreArrayAndMemType(y, ay));
    else {
      if (add) PetscCall(VecRestoreArrayReadAndMemType(add, aadd));
      PetscCall(VecRestoreArrayWriteAndMemType(y, ay));
    }
  } else {
    PetscCall(VecRestoreArrayRead(x, ax));
    if (add == y)
      PetscCall(VecRestoreArray(y, ay));
    else {
      if (add) PetscCall(VecRestoreArrayRead(add, aadd));
      PetscCall(VecRestoreArrayWrite(y, ay));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
