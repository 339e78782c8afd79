/*
   Fields on a DMDA into an HDF5 file, and an XDMF file beside it that says how they lie in space
*/
#include "ioimpl.h"

#if defined(PETSC_HAVE_HDF5)
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const StrataAxes[] = {"x", "y", "z"};

/* Names of the files. What is written carries the suffix .part until it is whole. */
typedef struct {
  char h5[PETSC_MAX_PATH_LEN], xdmf[PETSC_MAX_PATH_LEN], h5part[PETSC_MAX_PATH_LEN], xdmfpart[PETSC_MAX_PATH_LEN];
} StrataFiles;

static PetscErrorCode StrataFileNames(MPI_Comm comm, const char file[], StrataFiles *f)
{
  size_t stem;

  PetscFunctionBegin;
  PetscCall(PetscStrlen(file, &stem));
  PetscCheck(stem && stem + sizeof(".xdmf.part") <= sizeof(f->h5), comm, PETSC_ERR_ARG_SIZ, "'%.80s' is no name for a file", file);
  if (stem > 3 && !strcmp(file + stem - 3, ".h5")) stem -= 3;
  PetscCall(PetscSNPrintf(f->h5, sizeof(f->h5), "%s", file));
  PetscCall(PetscSNPrintf(f->h5part, sizeof(f->h5part), "%s.part", file));
  PetscCall(PetscSNPrintf(f->xdmf, sizeof(f->xdmf), "%.*s.xdmf", (int)stem, file));
  PetscCall(PetscSNPrintf(f->xdmfpart, sizeof(f->xdmfpart), "%.*s.xdmf.part", (int)stem, file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes sure, on one rank, that the disk has room for a file: HDF5 does not survive a disk that becomes full while it writes */
static void StrataReserve(const char file[], PetscInt64 bytes, StrataProblem *problem)
{
  const int fd = open(file, O_WRONLY | O_CREAT, 0666);
  int       err;

  if (fd < 0) {
    StrataProblemSet(problem, PETSC_ERR_FILE_OPEN, "Cannot create file %s: %s", file, strerror(errno));
    return;
  }
  err = posix_fallocate(fd, 0, (off_t)bytes);
  if (err && err != EINVAL && err != EOPNOTSUPP)
    StrataProblemSet(problem, PETSC_ERR_FILE_WRITE, "Cannot write %" PetscInt64_FMT " bytes to file %s: %s", bytes, file, strerror(err));
  close(fd);
}

/* Writes the part of an array that this rank has, none of it without data. Since calls of HDF5 are collective, every rank makes all of
   them, whatever fails. */
static void StrataWriteDataset(hid_t f, const char name[], int ndim, const hsize_t size[], const hsize_t start[], const hsize_t count[],
                               const PetscReal data[], const char file[], StrataProblem *problem)
{
  const hid_t filespace = H5Screate_simple(ndim, size, NULL), memspace = H5Screate_simple(ndim, count, NULL);
  const hid_t d = H5Dcreate2(f, name, H5T_NATIVE_DOUBLE, filespace, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  herr_t      err = d < 0 ? -1 : 0;

  if (!err && data) {
    H5Sselect_hyperslab(filespace, H5S_SELECT_SET, start, NULL, count, NULL);
    err = H5Dwrite(d, H5T_NATIVE_DOUBLE, memspace, filespace, H5P_DEFAULT, data);
  }
  if (d >= 0 && H5Dclose(d) < 0) err = -1;
  H5Sclose(memspace);
  H5Sclose(filespace);
  if (err < 0) StrataProblemSet(problem, PETSC_ERR_FILE_WRITE, "Cannot write dataset %s of file %s: is the disk full?", name, file);
}

/* The edges of the cells along each axis, all by the first rank */
static PetscErrorCode StrataWriteEdges(hid_t f, PetscMPIInt rank, PetscInt dim, const PetscInt N[], const PetscReal *const coordinates[],
                                       const char file[], StrataProblem *problem)
{
  const hid_t group = H5Gcreate2(f, "edges", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  PetscReal  *unit;

  PetscFunctionBegin;
  for (PetscInt a = 0; a < dim; a++) {
    const hsize_t size[1] = {(hsize_t)N[a] + 1}, start[1] = {0};

    PetscCall(PetscMalloc1(N[a] + 1, &unit));
    for (PetscInt i = 0; i <= N[a]; i++) unit[i] = (PetscReal)i;
    StrataWriteDataset(group, StrataAxes[a], 1, size, start, size, rank ? NULL : (coordinates && coordinates[a] ? coordinates[a] : unit), file,
                       problem);
    PetscCall(PetscFree(unit));
  }
  H5Gclose(group);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A text between quotes or tags of XML */
static void StrataPrintXML(FILE *out, const char text[])
{
  for (; *text; text++) switch (*text) {
    case '&': fputs("&amp;", out); break;
    case '<': fputs("&lt;", out); break;
    case '>': fputs("&gt;", out); break;
    case '"': fputs("&quot;", out); break;
    default: putc(*text, out);
    }
}

/* A reference to a dataset of the HDF5 file, which lies in the same folder */
static void StrataPrintDataItem(FILE *out, const char dimensions[], const char h5[], const char group[], const char name[])
{
  const char *slash = strrchr(h5, '/');

  fprintf(out, "        <DataItem Dimensions=\"%s\" NumberType=\"Float\" Precision=\"8\" Format=\"HDF\">", dimensions);
  StrataPrintXML(out, slash ? slash + 1 : h5);
  fprintf(out, ":%s", group);
  StrataPrintXML(out, name);
  fprintf(out, "</DataItem>\n");
}

/* On one rank. Readers know rectilinear meshes of two and three dimensions: a line is a mesh that is one cell wide. */
static void StrataWriteXDMF(const StrataFiles *f, PetscInt dim, const PetscInt N[], PetscInt nfields, const char *const names[],
                            StrataProblem *problem)
{
  FILE *out = fopen(f->xdmfpart, "w");
  char  cells[128], nodes[128], edges[32];
  int   bad;

  if (!out) {
    StrataProblemSet(problem, PETSC_ERR_FILE_OPEN, "Cannot create file %s: %s", f->xdmfpart, strerror(errno));
    return;
  }
  if (dim == 3) {
    snprintf(cells, sizeof(cells), "%" PetscInt_FMT " %" PetscInt_FMT " %" PetscInt_FMT, N[2], N[1], N[0]);
    snprintf(nodes, sizeof(nodes), "%" PetscInt_FMT " %" PetscInt_FMT " %" PetscInt_FMT, N[2] + 1, N[1] + 1, N[0] + 1);
  } else {
    snprintf(cells, sizeof(cells), "%" PetscInt_FMT " %" PetscInt_FMT, N[1], N[0]);
    snprintf(nodes, sizeof(nodes), "%" PetscInt_FMT " %" PetscInt_FMT, N[1] + 1, N[0] + 1);
  }
  fprintf(out, "<?xml version=\"1.0\"?>\n<Xdmf Version=\"2.0\">\n  <Domain>\n    <Grid Name=\"fields\" GridType=\"Uniform\">\n");
  fprintf(out, "      <Topology TopologyType=\"%s\" Dimensions=\"%s\"/>\n", dim == 3 ? "3DRectMesh" : "2DRectMesh", nodes);
  fprintf(out, "      <Geometry GeometryType=\"%s\">\n", dim == 3 ? "VXVYVZ" : "VXVY");
  for (PetscInt a = 0; a < dim; a++) {
    snprintf(edges, sizeof(edges), "%" PetscInt_FMT, N[a] + 1);
    StrataPrintDataItem(out, edges, f->h5, "/edges/", StrataAxes[a]);
  }
  if (dim == 1) fprintf(out, "        <DataItem Dimensions=\"2\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">0 1</DataItem>\n");
  fprintf(out, "      </Geometry>\n");
  for (PetscInt i = 0; i < nfields; i++) {
    fprintf(out, "      <Attribute Name=\"");
    StrataPrintXML(out, names[i]);
    fprintf(out, "\" AttributeType=\"Scalar\" Center=\"Cell\">\n");
    StrataPrintDataItem(out, cells, f->h5, "/", names[i]);
    fprintf(out, "      </Attribute>\n");
  }
  fprintf(out, "    </Grid>\n  </Domain>\n</Xdmf>\n");
  bad = ferror(out);
  if (fclose(out) || bad) StrataProblemSet(problem, PETSC_ERR_FILE_WRITE, "Cannot write file %s: is the disk full?", f->xdmfpart);
}

/* Gives a file its name; a device or a folder of that name is left alone */
static void StrataRename(const char from[], const char to[], StrataProblem *problem)
{
  struct stat st;

  if (problem->code) return;
  if (!stat(to, &st) && !S_ISREG(st.st_mode))
    StrataProblemSet(problem, PETSC_ERR_FILE_WRITE, "Cannot write file %s: it is there and no plain file", to);
  else if (rename(from, to))
    StrataProblemSet(problem, PETSC_ERR_FILE_WRITE, "Cannot name file %s %s: %s", from, to, strerror(errno));
}

/* Writes the HDF5 file under its preliminary name */
static PetscErrorCode StrataWriteHDF5(DM dm, const char file[], PetscInt nfields, const Vec fields[], const char *const names[],
                                      const PetscReal *const coordinates[], PetscInt64 bytes, StrataProblem *problem)
{
  const MPI_Comm     comm = PetscObjectComm((PetscObject)dm);
  const PetscScalar *v;
  PetscViewer        viewer;
  PetscMPIInt        rank;
  PetscInt           dim, N[3], lo[3], n[3];
  hsize_t            size[3], start[3], count[3];
  hid_t              f;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(DMDAGetInfo(dm, &dim, &N[0], &N[1], &N[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(dm, &lo[0], &lo[1], &lo[2], &n[0], &n[1], &n[2]));
  for (PetscInt a = 0; a < dim; a++) {
    size[dim - 1 - a] = (hsize_t)N[a];
    start[dim - 1 - a] = (hsize_t)lo[a];
    count[dim - 1 - a] = (hsize_t)n[a];
  }
  PetscCall(PetscViewerHDF5Open(comm, file, FILE_MODE_WRITE, &viewer));
  PetscCall(PetscViewerHDF5GetFileId(viewer, &f));
  if (rank == 0) StrataReserve(file, bytes, problem); /* again, since opening has emptied the file */
  PetscCall(StrataWriteEdges(f, rank, dim, N, coordinates, file, problem));
  for (PetscInt i = 0; i < nfields; i++) {
    PetscCall(VecGetArrayRead(fields[i], &v));
    StrataWriteDataset(f, names[i], (int)dim, size, start, count, v, file, problem);
    PetscCall(VecRestoreArrayRead(fields[i], &v));
  }
  if (H5Fflush(f, H5F_SCOPE_GLOBAL) < 0) StrataProblemSet(problem, PETSC_ERR_FILE_WRITE, "Cannot write file %s: is the disk full?", file);
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses what cannot be written, in words */
static PetscErrorCode StrataCheckFields(DM dm, const char file[], PetscInt nfields, const Vec fields[], const char *const names[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)dm);
  PetscInt       dof, n[3], size;
  PetscBool      isda;
  PetscMPIInt    bad = 0;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &isda));
  PetscCheck(isda, comm, PETSC_ERR_ARG_WRONG, "The fields of file %s lie on a DM of type %s, only DMDA can be written", file,
             ((PetscObject)dm)->type_name);
  PetscCall(DMDAGetDof(dm, &dof));
  PetscCheck(dof == 1, comm, PETSC_ERR_ARG_WRONG, "The DMDA of the fields of file %s has %" PetscInt_FMT " degrees of freedom, needed is one", file,
             dof);
  PetscCall(DMDAGetCorners(dm, NULL, NULL, NULL, &n[0], &n[1], &n[2]));
  for (PetscInt i = 0; i < nfields; i++) {
    PetscCheck(names[i] && names[i][0] && !strchr(names[i], '/') && strcmp(names[i], "edges"), comm, PETSC_ERR_ARG_WRONG,
               "A field cannot be named '%s' in file %s: not nothing, not 'edges', no slash", names[i] ? names[i] : "", file);
    for (PetscInt j = 0; j < i; j++)
      PetscCheck(strcmp(names[i], names[j]), comm, PETSC_ERR_ARG_WRONG, "Two fields of file %s are named %s", file, names[i]);
    PetscCall(VecGetLocalSize(fields[i], &size));
    if (size != n[0] * n[1] * n[2]) bad = 1;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, comm));
    PetscCheck(!bad, comm, PETSC_ERR_ARG_SIZ, "Field %s of file %s is no vector of its DMDA: create it with DMCreateGlobalVector()", names[i], file);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/*@C
  StrataWriteFields - Writes fields on a grid into an HDF5 file, with an XDMF file beside it that ParaView opens

  Collective

  Input Parameters:
+ dm          - the grid, a `DMDA` of one, two or three dimensions with one degree of freedom
. file        - the name of the HDF5 file, such as result.h5; the XDMF file is then result.xdmf
. nfields     - the number of fields
. fields      - the fields, vectors of the `DMDA`, one value for each cell, in host or device memory
. names       - their names
- coordinates - for each dimension the edges of the cells along it, one more than there are cells; `NULL` for cells of size one, in one
                dimension or in all

  Level: beginner

  Notes:
  The file holds a dataset of each field by its name, with the shape (nz, ny, nx), (ny, nx) or (nx), in the natural order of the grid whatever
  the number of ranks, and the edges of the cells in the datasets edges/x, edges/y and edges/z.

  The files are written with the suffix .part and get their names when they are whole. When something fails, the disk is full for
  instance, it is an error on every rank, and what had those names before stays.

.seealso: `StrataReadArray()`
@*/
PetscErrorCode StrataWriteFields(DM dm, const char file[], PetscInt nfields, const Vec fields[], const char *const names[],
                                 const PetscReal *const coordinates[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)dm);
#if defined(PETSC_HAVE_HDF5)
  StrataProblem  problem = {0};
  StrataQuiet    quiet;
  StrataFiles    f;
  PetscErrorCode err;
  PetscMPIInt    rank;
  PetscInt       dim, N[3];
  PetscInt64     bytes;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(dm, DM_CLASSID, 1);
  PetscCall(StrataCheckFields(dm, file, nfields, fields, names));
  PetscCall(StrataFileNames(comm, file, &f));
  PetscCall(DMDAGetInfo(dm, &dim, &N[0], &N[1], &N[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  bytes = (PetscInt64)sizeof(PetscReal) * ((PetscInt64)N[0] * N[1] * N[2] * nfields + N[0] + N[1] + N[2]) + 65536;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank == 0) StrataReserve(f.h5part, bytes, &problem);
  err = StrataProblemRaise(comm, &problem);
  StrataQuietBegin(&quiet);
  if (!err) err = StrataWriteHDF5(dm, f.h5part, nfields, fields, names, coordinates, bytes, &problem);
  StrataQuietEnd(&quiet);
  if (!err && rank == 0) StrataWriteXDMF(&f, dim, N, nfields, names, &problem);
  if (!err) err = StrataProblemRaise(comm, &problem);
  if (!err && rank == 0) {
    StrataRename(f.h5part, f.h5, &problem);
    StrataRename(f.xdmfpart, f.xdmf, &problem);
  }
  if (!err) err = StrataProblemRaise(comm, &problem);
  if (err && rank == 0) {
    unlink(f.h5part);
    unlink(f.xdmfpart);
  }
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  PetscFunctionBegin;
  SETERRQ(comm, PETSC_ERR_SUP, STRATA_NO_HDF5);
#endif
}
