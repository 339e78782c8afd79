/*
   Exchange of the cells around the owned boxes. Faces, edges and corners are each a message of their own, packed x fastest. Where a
   periodic grid is not cut, the neighbour is the rank itself and the ghosts are a view of the vector: no copy, no message.
*/
#include "haloimpl.h"

static const char *const StrataHaloTransports[] = {"auto", "mpi", "staged", "peer", "StrataHaloTransport", "STRATA_HALO_", NULL};

/* Steps of direction d along the axes */
static void StrataSteps(int d, int step[3])
{
  step[0] = d % 3 - 1;
  step[1] = d / 3 % 3 - 1;
  step[2] = d / 9 - 1;
}

/* The cells of the owned box that the neighbour in direction d wants (or, for a view, has) */
static void StrataHaloBox(StrataHalo h, int d, PetscBool theirs, StrataBox *box)
{
  int step[3], a;

  StrataSteps(d, step);
  for (a = 0; a < 3; a++) {
    const int n = (int)h->grid->n[a], depth = (int)h->depth[a], high = theirs ? step[a] < 0 : step[a] > 0;

    box->lo[a] = step[a] && high ? n - depth : 0;
    box->hi[a] = step[a] && !high ? depth : n;
  }
}

/*
   StrataHaloCreate - Plans an exchange of ghost cells `depth` deep along each axis; with edges and corners, or of the faces only
*/
PetscErrorCode StrataHaloCreate(StrataGrid g, const PetscInt depth[3], PetscBool corners, StrataHalo *halo)
{
  StrataHalo h;
  PetscInt   width[3];
  int        a, d;

  PetscFunctionBegin;
  for (a = 0; a < 3; a++) width[a] = g->size_local && (g->procs[a] > 1 || g->periodic[a]) ? g->n[a] : PETSC_MAX_INT;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, width, 3, MPIU_INT, MPI_MIN, g->comm));
  for (a = 0; a < 3; a++)
    PetscCheck(depth[a] >= 0 && depth[a] <= width[a], g->comm, PETSC_ERR_ARG_OUTOFRANGE,
               "Ghost cells %" PetscInt_FMT " deep along axis %c, but the narrowest rank owns %" PetscInt_FMT
               " cells there: use fewer ranks along the axis, or a smaller depth",
               depth[a], (char)('x' + a), width[a]);
  PetscCall(PetscNew(&h));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-strata_halo", StrataHaloTransports, (PetscEnum *)&h->transport, NULL));
  PetscCall(StrataGridReference(g));
  h->grid = g;
  h->corners = corners;
  for (a = 0; a < 3; a++) h->depth[a] = depth[a];
  for (d = 0; d < STRATA_DIRECTIONS; d++) {
    StrataMessage *m = &h->message[h->count];
    int            step[3], axes = 0;

    StrataSteps(d, step);
    for (a = 0; a < 3; a++) axes += step[a] ? 1 : 0;
    if (!axes || (axes > 1 && !corners) || g->neighbor[d].rank < 0 || g->neighbor[d].rank == g->rank) continue;
    m->direction = d;
    m->to = &g->neighbor[d];
    StrataHaloBox(h, d, PETSC_FALSE, &m->send);
    for (a = 0; a < 3; a++) m->extent[a] = m->send.hi[a] - m->send.lo[a];
    m->cells = strata_box_size(&m->send);
    m->offset = h->cells;
    if (!m->cells) continue;
    h->cells += m->cells;
    h->count++;
  }
  *halo = h;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataHaloDestroy(StrataHalo *halo)
{
  StrataHalo h = *halo;

  PetscFunctionBegin;
  if (!h) PetscFunctionReturn(PETSC_SUCCESS);
#if STRATA_HAVE_CUDA
  PetscCall(StrataHaloDeviceDestroy(h));
#endif
  PetscCall(PetscFree(h->send));
  PetscCall(PetscFree(h->recv));
  PetscCall(StrataGridDestroy(&h->grid));
  PetscCall(PetscFree(*halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataHaloPost(StrataHalo h, char *send, char *recv)
{
  const MPI_Datatype type = h->bytes == 8 ? MPI_DOUBLE : h->bytes == 4 ? MPI_FLOAT : MPI_BYTE;
  int                i;

  PetscFunctionBegin;
  for (i = 0; i < h->count; i++) {
    const StrataMessage *m = &h->message[i];
    PetscMPIInt          count;

    PetscCall(PetscMPIIntCast((PetscInt)(h->nv * m->cells), &count));
    /* the sender counts directions from itself: what comes from direction d was sent in direction 26 - d */
    PetscCallMPI(MPI_Irecv(recv + StrataHaloStart(h, m), count, type, m->to->rank, h->grid->tag[STRATA_DIRECTIONS - 1 - m->direction], h->grid->comm,
                           &h->request[2 * i]));
    PetscCallMPI(
        MPI_Isend(send + StrataHaloStart(h, m), count, type, m->to->rank, h->grid->tag[m->direction], h->grid->comm, &h->request[2 * i + 1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataHaloPack(StrataHalo h, void *const to[], void *stream)
{
  StrataPackList list;
  int            n[3], i;

  PetscFunctionBegin;
  PetscCall(StrataGridGetBox(h->grid, n));
  list.count = h->count;
  for (i = 0; i < h->count; i++) {
    list.box[i] = h->message[i].send;
    list.to[i] = to[i];
  }
  StrataDispatch(h->type, StrataPackHost(&list, n, h->bytes, h->nv, h->x, h->ld), StrataPackCUDA(&list, n, h->bytes, h->nv, h->x, h->ld, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StrataHaloHostBegin(StrataHalo h)
{
  const size_t need = StrataHaloBytes(h);
  void        *to[STRATA_DIRECTIONS];
  int          i;

  PetscFunctionBegin;
  if (h->capacity < need) {
    PetscCall(PetscFree(h->send));
    PetscCall(PetscFree(h->recv));
    PetscCall(PetscMalloc1(need, &h->send));
    PetscCall(PetscMalloc1(need, &h->recv));
    h->capacity = need;
  }
  for (i = 0; i < h->count; i++) to[i] = h->send + StrataHaloStart(h, &h->message[i]);
  PetscCall(StrataHaloPack(h, to, NULL));
  PetscCall(StrataHaloPost(h, h->send, h->recv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   StrataHaloBegin - Starts an exchange of the ghosts of nv vectors x with leading dimension ld, numbers of 1, 4 or 8 bytes. x must
   stay as it is until StrataHaloEnd() and the work on the ghosts are done.
*/
PetscErrorCode StrataHaloBegin(StrataHalo h, const void *x, int bytes, int nv, PetscInt ld, PetscMemType type)
{
  PetscFunctionBegin;
  PetscCheck(!h->active, PETSC_COMM_SELF, PETSC_ERR_PLIB, "An exchange is under way");
  h->active = PETSC_TRUE;
  h->x = x;
  h->bytes = bytes;
  h->nv = nv;
  h->ld = ld;
  h->type = type;
  if (!h->count) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(STRATA_Halo, 0, 0, 0, 0));
  if (PetscMemTypeHost(type)) PetscCall(StrataHaloHostBegin(h));
#if STRATA_HAVE_CUDA
  else
    PetscCall(StrataHaloDeviceBegin(h));
#endif
  PetscCall(PetscLogEventEnd(STRATA_Halo, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ghosts that need no message: parts of x itself */
static void StrataHaloViews(StrataHalo h, StrataGhost ghosts[])
{
  StrataGrid      g = h->grid;
  const ptrdiff_t s[3] = {1, (ptrdiff_t)g->n[0], (ptrdiff_t)g->n[0] * g->n[1]};

  for (int d = 0; d < STRATA_DIRECTIONS; d++) {
    StrataGhost *q = &ghosts[d];
    StrataBox    box;
    int          step[3], a, axes = 0;

    q->p = NULL;
    StrataSteps(d, step);
    for (a = 0; a < 3; a++) axes += step[a] ? 1 : 0;
    if (!axes || (axes > 1 && !h->corners) || g->neighbor[d].rank != g->rank) continue;
    StrataHaloBox(h, d, PETSC_TRUE, &box);
    if (!strata_box_size(&box)) continue;
    q->p = (const char *)h->x + h->bytes * (box.lo[0] + box.lo[1] * s[1] + box.lo[2] * s[2]);
    q->sv = h->ld;
    for (a = 0; a < 3; a++) q->s[a] = s[a];
  }
}

/*
   StrataHaloEnd - Waits for the ghosts and says where they are: ghosts[d] for direction d, NULL where the grid ends or where none
   were asked for. Work on the device is ordered by PETSc's stream.
*/
PetscErrorCode StrataHaloEnd(StrataHalo h, StrataGhost ghosts[])
{
  char *recv = h->recv;
  int   i;

  PetscFunctionBegin;
  PetscCheck(h->active, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No exchange is under way");
  h->active = PETSC_FALSE;
  if (h->count) {
    PetscCall(PetscLogEventBegin(STRATA_Halo, 0, 0, 0, 0));
    if (PetscMemTypeHost(h->type)) PetscCallMPI(MPI_Waitall(2 * h->count, h->request, MPI_STATUSES_IGNORE));
#if STRATA_HAVE_CUDA
    else
      PetscCall(StrataHaloDeviceEnd(h, &recv));
#endif
    PetscCall(PetscLogEventEnd(STRATA_Halo, 0, 0, 0, 0));
  }
  StrataHaloViews(h, ghosts);
  for (i = 0; i < h->count; i++) {
    const StrataMessage *m = &h->message[i];
    StrataGhost         *q = &ghosts[m->direction];

    q->p = recv + StrataHaloStart(h, m);
    q->s[0] = 1;
    q->s[1] = m->extent[0];
    q->s[2] = m->extent[0] * m->extent[1];
    q->sv = m->cells;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The faces among all ghosts, in the order of the legs */
static void StrataGhostLegs(const StrataGhost all[], StrataGhost ghosts[])
{
  for (int l = 0; l < STRATA_LEGS; l++) ghosts[l] = all[STRATA_LEG_DIRECTION(l)];
}

PetscErrorCode StrataHaloEndLegs(StrataHalo h, StrataGhost ghosts[])
{
  StrataGhost all[STRATA_DIRECTIONS];

  PetscFunctionBegin;
  PetscCall(StrataHaloEnd(h, all));
  StrataGhostLegs(all, ghosts);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   StrataHaloViewLegs - The faces that are there before the exchange has ended, the others NULL: enough for the interior
*/
PetscErrorCode StrataHaloViewLegs(StrataHalo h, StrataGhost ghosts[])
{
  StrataGhost all[STRATA_DIRECTIONS];

  PetscFunctionBegin;
  StrataHaloViews(h, all);
  StrataGhostLegs(all, ghosts);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cells of a box of an array, packed x fastest; with how = 1 added to the array instead */
static void StrataHaloMove(const int n[3], const StrataBox *box, int how, PetscScalar *array, PetscScalar *packed)
{
  for (ptrdiff_t k = box->lo[2]; k < box->hi[2]; k++)
    for (ptrdiff_t j = box->lo[1]; j < box->hi[1]; j++)
      for (ptrdiff_t i = box->lo[0]; i < box->hi[0]; i++, packed++) {
        PetscScalar *a = array + i + n[0] * (j + n[1] * k);

        if (how)
          *a += *packed;
        else
          *packed = *a;
      }
}

PetscErrorCode StrataHaloReturn(StrataHalo h, const int n[3], const StrataBox *own, const PetscScalar *array, PetscScalar *x)
{
  const size_t need = (size_t)h->cells * sizeof(PetscScalar);
  PetscScalar *send, *recv, *packed;
  int          box[3];

  PetscFunctionBegin;
  PetscCheck(!h->active, PETSC_COMM_SELF, PETSC_ERR_PLIB, "An exchange is under way");
  PetscCall(StrataGridGetBox(h->grid, box));
  PetscCall(PetscMalloc2(h->cells, &send, h->cells, &recv));
  h->bytes = sizeof(PetscScalar);
  h->nv = 1;
  for (int d = 0; d < STRATA_DIRECTIONS; d++) {
    StrataBox frame, theirs;
    int       step[3], axes = 0;

    StrataSteps(d, step);
    for (int a = 0; a < 3; a++) {
      axes += step[a] ? 1 : 0;
      frame.lo[a] = step[a] < 0 ? 0 : step[a] ? own->hi[a] : own->lo[a];
      frame.hi[a] = step[a] < 0 ? own->lo[a] : step[a] ? n[a] : own->hi[a];
    }
    if (!axes || (axes > 1 && !h->corners) || h->grid->neighbor[d].rank < 0 || !strata_box_size(&frame)) continue;
    if (h->grid->neighbor[d].rank == h->grid->rank) {
      StrataHaloBox(h, d, PETSC_TRUE, &theirs);
      PetscCall(PetscMalloc1(strata_box_size(&frame), &packed));
      StrataHaloMove(n, &frame, 0, (PetscScalar *)array, packed);
      StrataHaloMove(box, &theirs, 1, x, packed);
      PetscCall(PetscFree(packed));
    } else
      for (int i = 0; i < h->count; i++)
        if (h->message[i].direction == d) StrataHaloMove(n, &frame, 0, (PetscScalar *)array, send + h->message[i].offset);
  }
  if (need) {
    PetscCall(StrataHaloPost(h, (char *)send, (char *)recv));
    PetscCallMPI(MPI_Waitall(2 * h->count, h->request, MPI_STATUSES_IGNORE));
  }
  for (int i = 0; i < h->count; i++) StrataHaloMove(box, &h->message[i].send, 1, x, recv + h->message[i].offset);
  PetscCall(PetscFree2(send, recv));
  PetscFunctionReturn(PETSC_SUCCESS);
}
