/*
   Exchange of the cells around the owned boxes. Faces, edges and corners are each a message of their own, packed x fastest. Where a
   periodic grid is not cut, the neighbour is the rank itself and the ghosts are a view of the vector: no copy, no message.
*/
#include "gridimpl.h"

#if STRATA_HAVE_CUDA
#include <setjmp.h>
#include <signal.h>
#endif

typedef enum { STRATA_HALO_AUTO, STRATA_HALO_MPI, STRATA_HALO_STAGED } StrataHaloTransport;
static const char *const StrataHaloTransports[] = {"auto", "mpi", "staged", "StrataHaloTransport", "STRATA_HALO_", NULL};

typedef struct {
  int             direction;
  StrataNeighbor *to;
  ptrdiff_t       extent[3], cells, offset; /* offset: in the buffers, in cells of one vector */
  StrataBox       send;
} StrataMessage;

struct _n_StrataHalo {
  StrataGrid    grid;
  PetscInt      depth[3];
  PetscBool     corners;
  int           count;
  ptrdiff_t     cells;
  StrataMessage message[STRATA_DIRECTIONS];
  /* buffers, in host memory (pinned for a device exchange) and on the device */
  size_t    capacity, devicecapacity;
  PetscBool pinned;
  char     *send, *recv, *devicesend, *devicerecv;
  void     *stream, *packed, *arrived; /* device exchange: a stream of its own, and events */
  /* the exchange under way */
  PetscBool           active;
  const void         *x;
  int                 bytes, nv;
  PetscInt            ld;
  PetscMemType        type;
  StrataHaloTransport transport;
  MPI_Request         request[2 * STRATA_DIRECTIONS];
};

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

static PetscErrorCode StrataHaloFreeBuffers(StrataHalo h)
{
  PetscFunctionBegin;
#if STRATA_HAVE_CUDA
  if (h->pinned) {
    if (h->send) StrataCallCUDA(StrataCUDAFreeHost(h->send));
    if (h->recv) StrataCallCUDA(StrataCUDAFreeHost(h->recv));
    h->send = h->recv = NULL;
  }
#endif
  PetscCall(PetscFree(h->send));
  PetscCall(PetscFree(h->recv));
  h->capacity = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataHaloDestroy(StrataHalo *halo)
{
  StrataHalo h = *halo;

  PetscFunctionBegin;
  if (!h) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataHaloFreeBuffers(h));
#if STRATA_HAVE_CUDA
  if (h->devicesend) StrataCallCUDA(StrataCUDAFree(h->devicesend));
  if (h->devicerecv) StrataCallCUDA(StrataCUDAFree(h->devicerecv));
  if (h->packed) StrataCallCUDA(StrataCUDAEventDestroy(h->packed));
  if (h->arrived) StrataCallCUDA(StrataCUDAEventDestroy(h->arrived));
  if (h->stream) StrataCallCUDA(StrataCUDAStreamDestroy(h->stream));
#endif
  PetscCall(StrataGridDestroy(&h->grid));
  PetscCall(PetscFree(*halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if STRATA_HAVE_CUDA
static sigjmp_buf StrataJump;

static void StrataJumpBack(int signal)
{
  (void)signal;
  siglongjmp(StrataJump, 1);
}

/* Can MPI send from and receive into device memory? One small message to oneself tells; where MPI does not know of the device it
   reads the address as host memory and faults, which is caught. */
static PetscErrorCode StrataMPIKnowsDevice(PetscBool *knows)
{
  static int       known = -1;
  double           value = 0;
  double          *buffer;
  struct sigaction action, segv, bus;

  PetscFunctionBegin;
  if (known < 0) {
    void *stream, *p;

    PetscCall(StrataGetStream(PETSC_MEMTYPE_DEVICE, &stream));
    StrataCallCUDA(StrataCUDAMalloc(&p, 2 * sizeof(double)));
    buffer = (double *)p;
    value = 0.0625;
    StrataCallCUDA(StrataCUDAMemcpy(buffer, &value, sizeof(double), stream));
    value = 0;
    StrataCallCUDA(StrataCUDAMemcpy(buffer + 1, &value, sizeof(double), stream));
    PetscCall(PetscMemzero(&action, sizeof(action)));
    action.sa_handler = StrataJumpBack;
    sigaction(SIGSEGV, &action, &segv);
    sigaction(SIGBUS, &action, &bus);
    known = 0;
    if (!sigsetjmp(StrataJump, 1)) {
      if (MPI_Sendrecv(buffer, 1, MPI_DOUBLE, 0, 0, buffer + 1, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE) == MPI_SUCCESS) known = 1;
    }
    sigaction(SIGSEGV, &segv, NULL);
    sigaction(SIGBUS, &bus, NULL);
    if (known) {
      StrataCallCUDA(StrataCUDAMemcpy(&value, buffer + 1, sizeof(double), stream));
      known = value == 0.0625;
    }
    StrataCallCUDA(StrataCUDAFree(buffer));
  }
  *knows = known ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StrataHaloGetTransport(StrataHaloTransport *transport)
{
  PetscBool knows;
  PetscEnum choice = (PetscEnum)STRATA_HALO_AUTO;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-strata_halo", StrataHaloTransports, &choice, NULL));
  *transport = (StrataHaloTransport)choice;
  if (*transport == STRATA_HALO_AUTO) {
    PetscCall(StrataMPIKnowsDevice(&knows));
    *transport = knows ? STRATA_HALO_MPI : STRATA_HALO_STAGED;
    PetscCall(PetscInfo(NULL, "Ghost cells on GPUs travel through %s\n", knows ? "GPU-aware MPI" : "pinned host buffers"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* Makes the buffers long enough for the exchange */
static PetscErrorCode StrataHaloReserve(StrataHalo h)
{
  const size_t    need = (size_t)h->bytes * h->nv * h->cells;
  const PetscBool pinned = PetscMemTypeDevice(h->type) ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
#if STRATA_HAVE_CUDA
  if (pinned) {
    if (!h->stream) {
      StrataCallCUDA(StrataCUDAStreamCreate(&h->stream));
      StrataCallCUDA(StrataCUDAEventCreate(&h->packed));
      StrataCallCUDA(StrataCUDAEventCreate(&h->arrived));
    }
    if (h->devicecapacity < need) {
      void *p;

      if (h->devicesend) StrataCallCUDA(StrataCUDAFree(h->devicesend));
      if (h->devicerecv) StrataCallCUDA(StrataCUDAFree(h->devicerecv));
      h->devicesend = h->devicerecv = NULL;
      StrataCallCUDA(StrataCUDAMalloc(&p, need));
      h->devicesend = (char *)p;
      StrataCallCUDA(StrataCUDAMalloc(&p, need));
      h->devicerecv = (char *)p;
      h->devicecapacity = need;
    }
    if (h->transport != STRATA_HALO_STAGED) PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  if (h->capacity >= need && (h->pinned || !pinned)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataHaloFreeBuffers(h));
  h->pinned = pinned;
#if STRATA_HAVE_CUDA
  if (pinned) {
    void *p;

    StrataCallCUDA(StrataCUDAMallocHost(&p, need));
    h->send = (char *)p;
    StrataCallCUDA(StrataCUDAMallocHost(&p, need));
    h->recv = (char *)p;
    h->capacity = need;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(PetscMalloc1(need, &h->send));
  PetscCall(PetscMalloc1(need, &h->recv));
  h->capacity = need;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Posts all messages from and to the given buffers */
static PetscErrorCode StrataHaloPost(StrataHalo h, char *send, char *recv)
{
  const MPI_Datatype type = h->bytes == 8 ? MPI_DOUBLE : h->bytes == 4 ? MPI_FLOAT : MPI_BYTE;
  int                i;

  PetscFunctionBegin;
  for (i = 0; i < h->count; i++) {
    const StrataMessage *m = &h->message[i];
    const size_t         at = (size_t)h->bytes * h->nv * m->offset;
    PetscMPIInt          count;

    PetscCall(PetscMPIIntCast((PetscInt)(h->nv * m->cells), &count));
    /* the sender counts directions from itself: what comes from direction d was sent in direction 26 - d */
    PetscCallMPI(
        MPI_Irecv(recv + at, count, type, m->to->rank, h->grid->tag[STRATA_DIRECTIONS - 1 - m->direction], h->grid->comm, &h->request[2 * i]));
    PetscCallMPI(MPI_Isend(send + at, count, type, m->to->rank, h->grid->tag[m->direction], h->grid->comm, &h->request[2 * i + 1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   StrataHaloBegin - Starts an exchange of the ghosts of nv vectors x with leading dimension ld, numbers of 1, 4 or 8 bytes. x must
   stay as it is until StrataHaloEnd() and the work on the ghosts are done.
*/
PetscErrorCode StrataHaloBegin(StrataHalo h, const void *x, int bytes, int nv, PetscInt ld, PetscMemType type)
{
  StrataPackList list;
  char          *send;
  void          *stream;
  int            n[3], i;

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
#if STRATA_HAVE_CUDA
  if (PetscMemTypeDevice(type) && h->transport == STRATA_HALO_AUTO) PetscCall(StrataHaloGetTransport(&h->transport));
#endif
  PetscCall(StrataHaloReserve(h));
  PetscCall(StrataGridGetBox(h->grid, n));
  PetscCall(StrataGetStream(type, &stream));
  send = PetscMemTypeDevice(type) ? h->devicesend : h->send;
  list.count = h->count;
  for (i = 0; i < h->count; i++) {
    list.box[i] = h->message[i].send;
    list.to[i] = send + (size_t)bytes * nv * h->message[i].offset;
  }
  StrataDispatch(type, StrataPackHost(&list, n, bytes, nv, x, ld), StrataPackCUDA(&list, n, bytes, nv, x, ld, stream));
  if (PetscMemTypeHost(type)) PetscCall(StrataHaloPost(h, h->send, h->recv));
#if STRATA_HAVE_CUDA
  else {
    StrataCallCUDA(StrataCUDAEventRecord(h->packed, stream));
    if (h->transport == STRATA_HALO_STAGED) {
      StrataCallCUDA(StrataCUDAStreamWaitEvent(h->stream, h->packed));
      StrataCallCUDA(StrataCUDAMemcpyAsync(h->send, h->devicesend, (size_t)bytes * nv * h->cells, h->stream));
    }
  }
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
#if STRATA_HAVE_CUDA
    if (PetscMemTypeDevice(h->type)) {
      recv = h->devicerecv;
      if (h->transport == STRATA_HALO_STAGED) {
        void *stream;

        PetscCall(StrataGetStream(PETSC_MEMTYPE_DEVICE, &stream));
        StrataCallCUDA(StrataCUDAStreamSynchronize(h->stream));
        PetscCall(StrataHaloPost(h, h->send, h->recv));
        PetscCallMPI(MPI_Waitall(2 * h->count, h->request, MPI_STATUSES_IGNORE));
        StrataCallCUDA(StrataCUDAMemcpyAsync(h->devicerecv, h->recv, (size_t)h->bytes * h->nv * h->cells, h->stream));
        StrataCallCUDA(StrataCUDAEventRecord(h->arrived, h->stream));
        StrataCallCUDA(StrataCUDAStreamWaitEvent(stream, h->arrived));
      } else {
        /* not before: the last user of the ghosts, earlier in the same stream, must be done with the buffer */
        StrataCallCUDA(StrataCUDAEventSynchronize(h->packed));
        PetscCall(StrataHaloPost(h, h->devicesend, h->devicerecv));
        PetscCallMPI(MPI_Waitall(2 * h->count, h->request, MPI_STATUSES_IGNORE));
      }
    } else
#endif
      PetscCallMPI(MPI_Waitall(2 * h->count, h->request, MPI_STATUSES_IGNORE));
    PetscCall(PetscLogEventEnd(STRATA_Halo, 0, 0, 0, 0));
  }
  StrataHaloViews(h, ghosts);
  for (i = 0; i < h->count; i++) {
    const StrataMessage *m = &h->message[i];
    StrataGhost         *q = &ghosts[m->direction];

    q->p = recv + (size_t)h->bytes * h->nv * m->offset;
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
