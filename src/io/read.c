/*
   Arrays out of HDF5 files
*/
#include "ioimpl.h"

#if defined(PETSC_HAVE_HDF5)
#include <errno.h>
#include <unistd.h>

#define STRATA_SHAPE_LEN (24 * H5S_MAX_RANK)

/* A shape in words: 20 x 180 x 360 */
static void StrataShapeText(PetscInt ndim, const PetscInt shape[], char text[STRATA_SHAPE_LEN])
{
  int n = snprintf(text, STRATA_SHAPE_LEN, ndim ? "" : "of a single number");

  for (PetscInt i = 0; i < ndim; i++) {
    n += snprintf(text + n, STRATA_SHAPE_LEN - (size_t)n, i ? " x " : "");
    n += snprintf(text + n, STRATA_SHAPE_LEN - (size_t)n, shape[i] < 0 ? "any" : "%" PetscInt_FMT, shape[i]);
  }
}

/* Opens a dataset on the rank that reads; both ids are negative after a problem */
static void StrataOpenDataset(const char file[], const char dataset[], hid_t *f, hid_t *d, StrataProblem *problem)
{
  *f = *d = -1;
  if (access(file, R_OK)) {
    StrataProblemSet(problem, PETSC_ERR_FILE_OPEN, "Cannot read dataset %s of file %s: %s", dataset, file, strerror(errno));
    return;
  }
  *f = H5Fopen(file, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (*f < 0) {
    StrataProblemSet(problem, PETSC_ERR_FILE_UNEXPECTED, "Cannot read dataset %s of file %s: the file is %s", dataset, file,
                     H5Fis_hdf5(file) > 0 ? "truncated, damaged or still being written" : "not an HDF5 file");
    return;
  }
  *d = H5Dopen2(*f, dataset, H5P_DEFAULT);
  if (*d < 0) {
    StrataProblemSet(problem, PETSC_ERR_FILE_UNEXPECTED, "File %s has no dataset %s; `h5ls -r %s` lists those that it has", file, dataset, file);
    H5Fclose(*f);
    *f = -1;
  }
}

/* The shape of a dataset, which must be the one that is expected, where that is not negative */
static void StrataReadShape(const char file[], const char dataset[], PetscInt ndim, PetscInt shape[], StrataProblem *problem)
{
  hsize_t  size[H5S_MAX_RANK];
  PetscInt found[H5S_MAX_RANK];
  char     found_text[STRATA_SHAPE_LEN], expected_text[STRATA_SHAPE_LEN];
  hid_t    f, d, s, t;
  int      nfound, match;

  StrataOpenDataset(file, dataset, &f, &d, problem);
  if (d < 0) return;
  s = H5Dget_space(d);
  t = H5Dget_type(d);
  if ((H5Tget_class(t) != H5T_FLOAT && H5Tget_class(t) != H5T_INTEGER) || H5Sget_simple_extent_type(s) == H5S_NULL)
    StrataProblemSet(problem, PETSC_ERR_FILE_UNEXPECTED, "Dataset %s of file %s does not hold numbers", dataset, file);
  nfound = PetscMax(0, H5Sget_simple_extent_dims(s, size, NULL));
  for (int i = 0; i < nfound; i++) {
    found[i] = (PetscInt)size[i];
    if (found[i] < 0 || (hsize_t)found[i] != size[i])
      StrataProblemSet(problem, PETSC_ERR_SUP, "Dataset %s of file %s is too large for the indices of this PETSc: configure it --with-64-bit-indices",
                       dataset, file);
  }
  match = nfound == ndim;
  for (PetscInt i = 0; match && i < ndim; i++) match = shape[i] < 0 || shape[i] == found[i];
  if (!match) {
    StrataShapeText(nfound, found, found_text);
    StrataShapeText(ndim, shape, expected_text);
    StrataProblemSet(problem, PETSC_ERR_FILE_UNEXPECTED, "Dataset %s of file %s has the shape %s, expected is %s (slowest dimension first)", dataset,
                     file, found_text, expected_text);
  }
  for (PetscInt i = 0; match && i < ndim; i++) shape[i] = found[i];
  H5Tclose(t);
  H5Sclose(s);
  H5Dclose(d);
  H5Fclose(f);
}

static void StrataReadData(const char file[], const char dataset[], PetscReal data[], StrataProblem *problem)
{
  hid_t f, d;

  StrataOpenDataset(file, dataset, &f, &d, problem);
  if (d < 0) return;
  if (H5Dread(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
    StrataProblemSet(problem, PETSC_ERR_FILE_READ, "Cannot read dataset %s of file %s: the file is truncated or damaged", dataset, file);
  H5Dclose(d);
  H5Fclose(f);
}
#endif

/*@C
  StrataReadArray - Reads an array of numbers from an HDF5 file, the whole of it on every rank

  Collective

  Input Parameters:
+ comm    - the ranks that want the array
. file    - the name of the file, on the first rank
. dataset - the name of the dataset
. ndim    - the number of its dimensions
- shape   - its shape, slowest dimension first; `PETSC_DETERMINE` in a dimension that may have any size

  Output Parameters:
+ shape - the shape that was found
- data  - the numbers, last dimension fastest; free them with `PetscFree()`

  Level: intermediate

  Notes:
  The first rank reads the file and tells the others. Integers and floating-point numbers of all sizes are converted.

  A file that is missing, truncated or not of HDF5, a dataset that is missing, of another shape or not of numbers are errors on every
  rank, which say what was expected and what was found.

.seealso: `StrataWriteFields()`
@*/
PetscErrorCode StrataReadArray(MPI_Comm comm, const char file[], const char dataset[], PetscInt ndim, PetscInt shape[], PetscReal *data[])
{
#if defined(PETSC_HAVE_HDF5)
  const size_t   most = 1 << 28; /* numbers in a message: MPI counts in int */
  StrataProblem  problem = {0};
  StrataQuiet    quiet;
  PetscErrorCode error;
  PetscMPIInt    rank;
  size_t         size = 1;

  PetscFunctionBegin;
  PetscCheck(ndim >= 0 && ndim <= H5S_MAX_RANK, comm, PETSC_ERR_ARG_OUTOFRANGE, "Arrays in HDF5 have up to %d dimensions, not %" PetscInt_FMT,
             H5S_MAX_RANK, ndim);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  StrataQuietBegin(&quiet);
  if (rank == 0) StrataReadShape(file, dataset, ndim, shape, &problem);
  StrataQuietEnd(&quiet);
  PetscCall(StrataProblemRaise(comm, &problem));
  PetscCallMPI(MPI_Bcast(shape, (PetscMPIInt)ndim, MPIU_INT, 0, comm));
  for (PetscInt i = 0; i < ndim; i++) size *= (size_t)shape[i];
  PetscCall(PetscMalloc1(size, data));
  StrataQuietBegin(&quiet);
  if (rank == 0) StrataReadData(file, dataset, *data, &problem);
  StrataQuietEnd(&quiet);
  error = StrataProblemRaise(comm, &problem);
  if (error) PetscCall(PetscFree(*data));
  PetscCall(error);
  for (size_t n = 0; n < size; n += most) PetscCallMPI(MPI_Bcast(*data + n, (PetscMPIInt)PetscMin(most, size - n), MPIU_REAL, 0, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  PetscFunctionBegin;
  SETERRQ(comm, PETSC_ERR_SUP, STRATA_NO_HDF5);
#endif
}
