/*
   Exchange between GPUs: by an MPI that knows device memory, through pinned host buffers, or by kernels that write into the memory of the
   other rank's GPU
*/
#include "haloimpl.h"

#if STRATA_HAVE_CUDA
#include <setjmp.h>
#include <signal.h>

/* A rank whose memory this rank writes into */
typedef struct {
  PetscMPIInt rank;
  char       *base; /* its receive buffer, as this rank sees it */
} StrataPeer;

struct _n_StrataHaloDevice {
  size_t     capacity; /* of the device buffers and of the pinned ones, in bytes */
  char      *send, *recv, *pinnedsend, *pinnedrecv;
  void      *stream, *packed, *arrived; /* a stream for copies, and events */
  int        peers, slot;               /* peer transport: the halves of the receive buffer take turns */
  StrataPeer peer[STRATA_DIRECTIONS];
  size_t     theirstart[STRATA_DIRECTIONS]; /* of each message in the buffer of its receiver, in cells of one vector */
  size_t     theirhalf[STRATA_DIRECTIONS];  /* length of half of that buffer in bytes */
};

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
  static int known = -1;

  PetscFunctionBegin;
  if (known < 0) {
    const double     sent = 0.0625;
    double           received = 0;
    struct sigaction action, segv, bus;
    volatile int     works = 0;
    double          *buffer;
    void            *stream, *p;

    PetscCall(StrataGetStream(PETSC_MEMTYPE_DEVICE, &stream));
    StrataCallCUDA(StrataCUDAMalloc(&p, 2 * sizeof(double)));
    buffer = (double *)p;
    StrataCallCUDA(StrataCUDAMemcpy(buffer, &sent, sizeof(double), stream));
    StrataCallCUDA(StrataCUDAMemcpy(buffer + 1, &received, sizeof(double), stream));
    PetscCall(PetscMemzero(&action, sizeof(action)));
    action.sa_handler = StrataJumpBack;
    sigaction(SIGSEGV, &action, &segv);
    sigaction(SIGBUS, &action, &bus);
    if (!sigsetjmp(StrataJump, 1))
      works = MPI_Sendrecv(buffer, 1, MPI_DOUBLE, 0, 0, buffer + 1, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    sigaction(SIGSEGV, &segv, NULL);
    sigaction(SIGBUS, &bus, NULL);
    if (works) StrataCallCUDA(StrataCUDAMemcpy(&received, buffer + 1, sizeof(double), stream));
    StrataCallCUDA(StrataCUDAFree(buffer));
    known = works && received == sent;
    PetscCall(PetscInfo(NULL, "Ghost cells on GPUs travel through %s\n", known ? "GPU-aware MPI" : "pinned host buffers"));
  }
  *knows = known ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exchanges a few bytes with every receiver of a message: mine[m] for message m, theirs[m] from its receiver */
static PetscErrorCode StrataHaloShake(StrataHalo h, const void *mine, void *theirs, size_t size)
{
  int i;

  PetscFunctionBegin;
  for (i = 0; i < h->count; i++) {
    const StrataMessage *m = &h->message[i];

    PetscCallMPI(MPI_Irecv((char *)theirs + i * size, (PetscMPIInt)size, MPI_BYTE, m->to->rank, h->grid->tag[STRATA_DIRECTIONS - 1 - m->direction],
                           h->grid->comm, &h->request[2 * i]));
    PetscCallMPI(MPI_Isend((const char *)mine + i * size, (PetscMPIInt)size, MPI_BYTE, m->to->rank, h->grid->tag[m->direction], h->grid->comm,
                           &h->request[2 * i + 1]));
  }
  PetscCallMPI(MPI_Waitall(2 * h->count, h->request, MPI_STATUSES_IGNORE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Forgets the memory of the others, and waits until they have forgotten this rank's */
static PetscErrorCode StrataHaloClosePeers(StrataHalo h)
{
  StrataHaloDevice d = h->device;
  char             mine[STRATA_DIRECTIONS] = {0}, theirs[STRATA_DIRECTIONS];
  int              p;

  PetscFunctionBegin;
  if (!d->peers) PetscFunctionReturn(PETSC_SUCCESS);
  for (p = 0; p < d->peers; p++) StrataCallCUDA(StrataCUDAIpcClose(d->peer[p].base));
  d->peers = 0;
  PetscCall(StrataHaloShake(h, mine, theirs, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Maps the receive buffers of the receivers of all messages */
static PetscErrorCode StrataHaloOpenPeers(StrataHalo h)
{
  typedef struct {
    char   handle[STRATA_CUDA_IPC_BYTES];
    size_t start, half; /* of the message that comes back in this direction */
  } Card;
  StrataHaloDevice d = h->device;
  Card             mine[STRATA_DIRECTIONS], theirs[STRATA_DIRECTIONS];
  int              i, p;

  PetscFunctionBegin;
  for (i = 0; i < h->count; i++) {
    PetscCall(PetscMemzero(&mine[i], sizeof(mine[i])));
    StrataCallCUDA(StrataCUDAIpcGet(mine[i].handle, d->recv));
    mine[i].start = (size_t)h->message[i].offset;
    mine[i].half = d->capacity;
  }
  PetscCall(StrataHaloShake(h, mine, theirs, sizeof(Card)));
  for (i = 0; i < h->count; i++) {
    const PetscMPIInt rank = h->message[i].to->rank;

    d->theirstart[i] = theirs[i].start;
    d->theirhalf[i] = theirs[i].half;
    for (p = 0; p < d->peers && d->peer[p].rank != rank; p++) {}
    if (p < d->peers) continue;
    {
      void     *base;
      const int err = StrataCUDAIpcOpen(&base, theirs[i].handle);

      PetscCheck(!err, PETSC_COMM_SELF, PETSC_ERR_GPU,
                 "The GPU memory of rank %d cannot be reached from this rank (%s): peer exchange needs ranks on one host whose GPUs reach each "
                 "other, use -strata_halo staged or mpi",
                 rank, StrataCUDAErrorString(err));
      d->peer[d->peers].rank = rank;
      d->peer[d->peers++].base = (char *)base;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StrataHaloFreeDevice(StrataHalo h)
{
  StrataHaloDevice d = h->device;

  PetscFunctionBegin;
  PetscCall(StrataHaloClosePeers(h));
  if (d->send) StrataCallCUDA(StrataCUDAFree(d->send));
  if (d->recv) StrataCallCUDA(StrataCUDAFree(d->recv));
  if (d->pinnedsend) StrataCallCUDA(StrataCUDAFreeHost(d->pinnedsend));
  if (d->pinnedrecv) StrataCallCUDA(StrataCUDAFreeHost(d->pinnedrecv));
  d->send = d->recv = d->pinnedsend = d->pinnedrecv = NULL;
  d->capacity = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataHaloDeviceDestroy(StrataHalo h)
{
  PetscFunctionBegin;
  if (!h->device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataHaloFreeDevice(h));
  StrataCallCUDA(StrataCUDAEventDestroy(h->device->packed));
  StrataCallCUDA(StrataCUDAEventDestroy(h->device->arrived));
  StrataCallCUDA(StrataCUDAStreamDestroy(h->device->stream));
  PetscCall(PetscFree(h->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stream, events and buffers that are long enough. All ranks come here with the same number of bytes a cell. */
static PetscErrorCode StrataHaloReserve(StrataHalo h)
{
  const size_t     need = StrataHaloBytes(h);
  StrataHaloDevice d = h->device;
  void            *p;

  PetscFunctionBegin;
  if (!d) {
    PetscCall(PetscNew(&d));
    h->device = d;
    StrataCallCUDA(StrataCUDAStreamCreate(&d->stream));
    StrataCallCUDA(StrataCUDAEventCreate(&d->packed));
    StrataCallCUDA(StrataCUDAEventCreate(&d->arrived));
    if (h->transport == STRATA_HALO_AUTO) {
      PetscBool knows;

      PetscCall(StrataMPIKnowsDevice(&knows));
      h->transport = knows ? STRATA_HALO_MPI : STRATA_HALO_STAGED;
    }
  }
  if (d->capacity >= need) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataHaloFreeDevice(h));
  if (h->transport != STRATA_HALO_PEER) {
    StrataCallCUDA(StrataCUDAMalloc(&p, need));
    d->send = (char *)p;
  }
  StrataCallCUDA(StrataCUDAMalloc(&p, (h->transport == STRATA_HALO_PEER ? 2 : 1) * need));
  d->recv = (char *)p;
  if (h->transport == STRATA_HALO_STAGED) {
    StrataCallCUDA(StrataCUDAMallocHost(&p, need));
    d->pinnedsend = (char *)p;
    StrataCallCUDA(StrataCUDAMallocHost(&p, need));
    d->pinnedrecv = (char *)p;
  }
  d->capacity = need;
  if (h->transport == STRATA_HALO_PEER) PetscCall(StrataHaloOpenPeers(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataHaloDeviceBegin(StrataHalo h)
{
  StrataHaloDevice d;
  void            *to[STRATA_DIRECTIONS], *stream;
  int              i, p;

  PetscFunctionBegin;
  PetscCall(StrataHaloReserve(h));
  d = h->device;
  d->slot = !d->slot;
  for (i = 0; i < h->count; i++) {
    const StrataMessage *m = &h->message[i];

    if (h->transport == STRATA_HALO_PEER) {
      for (p = 0; d->peer[p].rank != m->to->rank; p++) {}
      /* The half that the receiver read two exchanges ago. It is done with it: its word that the last exchange was packed, which came
         after that work in its stream, has been waited for. */
      to[i] = d->peer[p].base + d->slot * d->theirhalf[i] + (size_t)h->bytes * h->nv * d->theirstart[i];
    } else
      to[i] = d->send + StrataHaloStart(h, m);
  }
  PetscCall(StrataGetStream(PETSC_MEMTYPE_DEVICE, &stream));
  PetscCall(StrataHaloPack(h, to, stream));
  StrataCallCUDA(StrataCUDAEventRecord(d->packed, stream));
  if (h->transport == STRATA_HALO_STAGED) {
    StrataCallCUDA(StrataCUDAStreamWaitEvent(d->stream, d->packed));
    StrataCallCUDA(StrataCUDAMemcpyAsync(d->pinnedsend, d->send, StrataHaloBytes(h), d->stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataHaloDeviceEnd(StrataHalo h, char **recv)
{
  StrataHaloDevice d = h->device;
  void            *stream;

  PetscFunctionBegin;
  *recv = d->recv;
  if (h->transport == STRATA_HALO_STAGED) {
    PetscCall(StrataGetStream(PETSC_MEMTYPE_DEVICE, &stream));
    StrataCallCUDA(StrataCUDAStreamSynchronize(d->stream));
    PetscCall(StrataHaloPost(h, d->pinnedsend, d->pinnedrecv));
    PetscCallMPI(MPI_Waitall(2 * h->count, h->request, MPI_STATUSES_IGNORE));
    StrataCallCUDA(StrataCUDAMemcpyAsync(d->recv, d->pinnedrecv, StrataHaloBytes(h), d->stream));
    StrataCallCUDA(StrataCUDAEventRecord(d->arrived, d->stream));
    StrataCallCUDA(StrataCUDAStreamWaitEvent(stream, d->arrived));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* Nothing is received before this: the last user of the ghosts, earlier in the same stream, must be done with the buffer */
  StrataCallCUDA(StrataCUDAEventSynchronize(d->packed));
  if (h->transport == STRATA_HALO_PEER) {
    char mine[STRATA_DIRECTIONS] = {0}, theirs[STRATA_DIRECTIONS];

    PetscCall(StrataHaloShake(h, mine, theirs, 1));
    *recv += d->slot * d->capacity;
  } else {
    PetscCall(StrataHaloPost(h, d->send, d->recv));
    PetscCallMPI(MPI_Waitall(2 * h->count, h->request, MPI_STATUSES_IGNORE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
