/*
   Fields and arrays in HDF5 files
*/
/* ranks: 1 2 3 4 */
#include "tap.h"
#include <petscviewerhdf5.h>
#include <sys/stat.h>

static char folder[PETSC_MAX_PATH_LEN];

static const char *Path(const char name[])
{
  return TapText("%s/%s", folder, name);
}

static int Exists(const char name[])
{
  struct stat st;

  return !stat(Path(name), &st);
}

static PetscScalar Value(PetscInt i, PetscInt j, PetscInt k)
{
  return 0.5 + (PetscReal)i + 100.0 * (PetscReal)j + 10000.0 * (PetscReal)k;
}

static PetscErrorCode CreateGrid(PetscInt dim, PetscInt dof, DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, dm));
  PetscCall(DMSetDimension(*dm, dim));
  PetscCall(DMDASetSizes(*dm, 7, dim > 1 ? 5 : 1, dim > 2 ? 6 : 1));
  PetscCall(DMDASetDof(*dm, dof));
  PetscCall(DMDASetStencilWidth(*dm, 1));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Fill(DM dm, Vec x)
{
  PetscScalar *v;
  PetscInt     lo[3], n[3], i, j, k, at = 0;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(dm, &lo[0], &lo[1], &lo[2], &n[0], &n[1], &n[2]));
  PetscCall(VecGetArrayWrite(x, &v));
  for (k = 0; k < n[2]; k++)
    for (j = 0; j < n[1]; j++)
      for (i = 0; i < n[0]; i++) v[at++] = Value(lo[0] + i, lo[1] + j, lo[2] + k);
  PetscCall(VecRestoreArrayWrite(x, &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is written comes back, in natural order */
static PetscErrorCode TestRound(PetscInt dim, VecType type)
{
  const char *const names[] = {"a", "a & <b>"};
  const PetscReal   y[] = {0, 1, 4, 9, 16, 25}, *coordinates[3] = {NULL, y, NULL};
  const PetscInt    N[3] = {7, dim > 1 ? 5 : 1, dim > 2 ? 6 : 1};
  PetscInt          shape[3] = {PETSC_DETERMINE, PETSC_DETERMINE, PETSC_DETERMINE}, edges = PETSC_DETERMINE, wrong = 0, at = 0;
  PetscReal        *data;
  DM                dm;
  Vec               x[2];

  PetscFunctionBeginUser;
  PetscCall(CreateGrid(dim, 1, &dm));
  PetscCall(DMSetVecType(dm, type));
  PetscCall(DMCreateGlobalVector(dm, &x[0]));
  PetscCall(Fill(dm, x[0]));
  PetscCall(VecDuplicate(x[0], &x[1]));
  PetscCall(VecCopy(x[0], x[1])); /* on the device, if they are there */
  PetscCall(VecScale(x[1], -1));
  PetscCall(StrataWriteFields(dm, Path("round.h5"), 2, x, names, coordinates));
  ok(Exists("round.h5") && Exists("round.xdmf"), "%dD, %s: both files are there", (int)dim, type);
  ok(!Exists("round.h5.part") && !Exists("round.xdmf.part"), "and nothing else");
  for (int f = 0; f < 2; f++) {
    PetscCall(StrataReadArray(PETSC_COMM_WORLD, Path("round.h5"), names[f], dim, shape, &data));
    for (PetscInt a = 0; a < dim; a++) is_int(shape[dim - 1 - a], N[a], "size along axis %d", (int)a);
    at = 0;
    for (PetscInt k = 0; k < N[2]; k++)
      for (PetscInt j = 0; j < N[1]; j++)
        for (PetscInt i = 0; i < N[0]; i++) wrong += data[at++] != (f ? -1 : 1) * Value(i, j, k);
    is_int(wrong, 0, "all values of field %d", f);
    PetscCall(PetscFree(data));
  }
  PetscCall(StrataReadArray(PETSC_COMM_WORLD, Path("round.h5"), "edges/x", 1, &edges, &data));
  is_int(edges, 8, "edges of the cells along x");
  for (PetscInt i = 0; i < edges; i++) wrong += data[i] != (PetscReal)i;
  is_int(wrong, 0, "are one apart");
  PetscCall(PetscFree(data));
  if (dim > 1) {
    edges = 6;
    PetscCall(StrataReadArray(PETSC_COMM_WORLD, Path("round.h5"), "/edges/y", 1, &edges, &data));
    is_bits(data, y, sizeof(y), "edges along y as given");
    PetscCall(PetscFree(data));
  }
  PetscCall(VecDestroy(&x[0]));
  PetscCall(VecDestroy(&x[1]));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A second write replaces the first; a write that fails leaves it as it is */
static PetscErrorCode TestReplace(void)
{
  const char *const name = "x", *const slash = "x/y", *const edges = "edges", *const empty = "", *const twice[] = {"x", "x"};
  PetscInt    shape = 7;
  PetscReal  *data;
  PetscMPIInt rank;
  DM          dm, two;
  Vec         x[2], other;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(CreateGrid(1, 1, &dm));
  PetscCall(CreateGrid(1, 2, &two));
  PetscCall(DMCreateGlobalVector(dm, &x[0]));
  PetscCall(DMCreateGlobalVector(two, &other));
  PetscCall(Fill(dm, x[0]));
  PetscCall(StrataWriteFields(dm, Path("again.h5"), 1, x, &name, NULL));
  PetscCall(VecSet(x[0], 3));
  PetscCall(StrataWriteFields(dm, Path("again.h5"), 1, x, &name, NULL));
  x[1] = x[0];
  is_error(StrataWriteFields(two, Path("again.h5"), 1, &other, &name, NULL), PETSC_ERR_ARG_WRONG, "again.h5 2 degrees of freedom",
           "two degrees of freedom");
  is_error(StrataWriteFields(dm, Path("again.h5"), 1, &other, &name, NULL), PETSC_ERR_ARG_SIZ, "again.h5 Field x DMCreateGlobalVector",
           "a vector of another grid");
  is_error(StrataWriteFields(dm, Path("again.h5"), 1, x, &slash, NULL), PETSC_ERR_ARG_WRONG, "again.h5 x/y slash", "a slash in a name");
  is_error(StrataWriteFields(dm, Path("again.h5"), 1, x, &edges, NULL), PETSC_ERR_ARG_WRONG, "again.h5 'edges'", "the name edges");
  is_error(StrataWriteFields(dm, Path("again.h5"), 1, x, &empty, NULL), PETSC_ERR_ARG_WRONG, "again.h5 ''", "no name");
  is_error(StrataWriteFields(dm, Path("again.h5"), 2, x, twice, NULL), PETSC_ERR_ARG_WRONG, "again.h5 Two x", "a name twice");
  is_error(StrataWriteFields(dm, "", 1, x, &name, NULL), PETSC_ERR_ARG_SIZ, "name", "no file name");
  is_error(StrataWriteFields(dm, Path("none/again.h5"), 1, x, &name, NULL), PETSC_ERR_FILE_OPEN, "none/again.h5.part No such file", "no such folder");
  if (!rank && mkfifo(Path("pipe.h5"), 0600)) PetscFunctionReturn(PETSC_ERR_SYS);
  is_error(StrataWriteFields(dm, Path("pipe.h5"), 1, x, &name, NULL), PETSC_ERR_FILE_WRITE, "pipe.h5 no plain file",
           "what is no plain file is not replaced");
  ok(Exists("pipe.h5") && !Exists("pipe.h5.part") && !Exists("pipe.xdmf") && !Exists("pipe.xdmf.part"), "and nothing is left beside it");
  PetscCall(StrataReadArray(PETSC_COMM_WORLD, Path("again.h5"), "x", 1, &shape, &data));
  ok(data[0] == 3 && data[6] == 3, "the file is still the last that was written");
  ok(!Exists("again.h5.part") && !Exists("again.xdmf.part"), "and nothing is left beside it");
  PetscCall(PetscFree(data));
  PetscCall(VecDestroy(&x[0]));
  PetscCall(VecDestroy(&other));
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDestroy(&two));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Other files than those that are written here, by HDF5 itself, on one rank */
static void MakeFiles(void)
{
  const hsize_t size[2] = {3, 2}, one = 1;
  const int     numbers[6] = {1, 2, 3, 4, 5, 6};
  const float   number = 2.5f;
  hid_t         f = H5Fcreate(Path("numbers.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), s = H5Screate_simple(2, size, NULL), d;
  FILE         *out;

  d = H5Dcreate2(f, "integers", H5T_STD_I16BE, s, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
  H5Dclose(d);
  H5Sclose(s);
  s = H5Screate(H5S_SCALAR);
  d = H5Dcreate2(f, "scalar", H5T_IEEE_F32LE, s, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(d, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &number);
  H5Dclose(d);
  H5Sclose(s);
  s = H5Screate_simple(1, &one, NULL);
  d = H5Dcreate2(f, "text", H5T_C_S1, s, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dclose(d);
  H5Gclose(H5Gcreate2(f, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(s);
  H5Fclose(f);
  out = fopen(Path("text.h5"), "w");
  fputs("not HDF5\n", out);
  fclose(out);
}

/* A copy of a file that ends too early */
static void Truncate(const char from[], const char to[], long size)
{
  FILE *in = fopen(Path(from), "r"), *out = fopen(Path(to), "w");

  for (int c = getc(in); c != EOF && ftell(out) < size; c = getc(in)) putc(c, out);
  fclose(in);
  fclose(out);
}

static PetscErrorCode TestRead(void)
{
  PetscInt    shape[3] = {PETSC_DETERMINE, 2, PETSC_DETERMINE}, wrong[3] = {3, PETSC_DETERMINE, 5};
  PetscReal  *data;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (!rank) {
    MakeFiles();
    Truncate("round.h5", "short.h5", 2000); /* within the data */
    Truncate("round.h5", "shorter.h5", 40); /* within the first block */
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(StrataReadArray(PETSC_COMM_WORLD, Path("numbers.h5"), "integers", 2, shape, &data));
  ok(shape[0] == 3 && shape[1] == 2 && data[0] == 1 && data[5] == 6, "integers are converted");
  PetscCall(PetscFree(data));
  PetscCall(StrataReadArray(PETSC_COMM_WORLD, Path("numbers.h5"), "scalar", 0, NULL, &data));
  ok(data[0] == 2.5, "so is a single number in single precision");
  PetscCall(PetscFree(data));
#define FAILS(file, dataset, ndim, code, words, ...)                                                                                                 \
  is_error(StrataReadArray(PETSC_COMM_WORLD, Path(file), dataset, ndim, wrong, &data), code, words, __VA_ARGS__)
  FAILS("none.h5", "integers", 2, PETSC_ERR_FILE_OPEN, "none.h5 integers No such file", "a missing file");
  FAILS(".", "integers", 2, PETSC_ERR_FILE_UNEXPECTED, "integers not an HDF5 file", "a folder");
  FAILS("text.h5", "integers", 2, PETSC_ERR_FILE_UNEXPECTED, "text.h5 integers not an HDF5 file", "a file of another kind");
  FAILS("short.h5", "a", 3, PETSC_ERR_FILE_UNEXPECTED, "short.h5 dataset a truncated", "a truncated file");
  FAILS("shorter.h5", "a", 3, PETSC_ERR_FILE_UNEXPECTED, "shorter.h5 dataset a truncated", "a file of nearly nothing");
  FAILS("numbers.h5", "integer", 2, PETSC_ERR_FILE_UNEXPECTED, "numbers.h5 no dataset integer", "a missing dataset");
  FAILS("numbers.h5", "a/b/c", 2, PETSC_ERR_FILE_UNEXPECTED, "numbers.h5 no dataset a/b/c", "a missing group");
  FAILS("numbers.h5", "group", 2, PETSC_ERR_FILE_UNEXPECTED, "numbers.h5 no dataset group", "a group");
  FAILS("numbers.h5", "text", 1, PETSC_ERR_FILE_UNEXPECTED, "numbers.h5 text numbers", "text");
  FAILS("numbers.h5", "integers", 3, PETSC_ERR_FILE_UNEXPECTED, "numbers.h5 integers 2, expected 3 any 5", "another number of dimensions");
  wrong[0] = 4;
  FAILS("numbers.h5", "integers", 2, PETSC_ERR_FILE_UNEXPECTED, "numbers.h5 integers 3 x 2 expected 4 x any", "another shape");
  FAILS("numbers.h5", "scalar", 2, PETSC_ERR_FILE_UNEXPECTED, "numbers.h5 scalar single number expected 4 x any",
        "a single number where there should be more");
  FAILS("numbers.h5", "integers", 33, PETSC_ERR_ARG_OUTOFRANGE, "33 dimensions", "too many dimensions");
  ok(wrong[0] == 4 && wrong[1] == PETSC_DETERMINE && wrong[2] == 5, "the shape that was asked for is left alone");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the disk is full, as files.t arranges: an error on every rank */
static PetscErrorCode TestFull(const char file[])
{
  const char *const name = "x";
  DM                dm;
  Vec               x;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 50, 50, 50, PETSC_DECIDE,
                         PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateGlobalVector(dm, &x));
  is_error(StrataWriteFields(dm, file, 1, &x, &name, NULL), PETSC_ERR_FILE_WRITE, TapText("Cannot write %s.part", file), "a full disk");
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *where = getenv("TMPDIR");
  char        full[PETSC_MAX_PATH_LEN];
  PetscBool   isfull;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-full", full, sizeof(full), &isfull));
  if (isfull) {
    PetscCall(TestFull(full));
    return TapEnd();
  }
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  snprintf(folder, sizeof(folder), "%s/strata-fields.XXXXXX", where ? where : "/tmp");
  if (!rank && !mkdtemp(folder)) return 1;
  PetscCallMPI(MPI_Bcast(folder, sizeof(folder), MPI_CHAR, 0, PETSC_COMM_WORLD));
  for (PetscInt dim = 1; dim <= 3; dim++) PetscCall(TestRound(dim, VECSTANDARD));
  if (TapHasDevice())
    PetscCall(TestRound(3, VECCUDA));
  else
    skip("vectors on the device: no GPU");
  PetscCall(TestReplace());
  PetscCall(TestRead());
  if (!rank && system(TapText("rm -r '%s'", folder))) return 1;
  return TapEnd();
}
