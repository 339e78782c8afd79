/*
   To be preloaded: a disk that becomes full, for files that are still called .part. FULLDISK=reserve: no space can be reserved;
   FULLDISK=write: the file system does not know how to reserve space, and writes of data fail.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static int full(int fd, const char *when)
{
  const char *mode = getenv("FULLDISK");
  char        link[64], name[4096];
  ssize_t     n;

  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  n = readlink(link, name, sizeof(name) - 1);
  return mode && !strcmp(mode, when) && n > 5 && !strncmp(name + n - 5, ".part", 5);
}

int posix_fallocate(int fd, off_t offset, off_t length)
{
  int (*next)(int, off_t, off_t) = (int (*)(int, off_t, off_t))dlsym(RTLD_NEXT, "posix_fallocate");

  return full(fd, "reserve") ? ENOSPC : full(fd, "write") ? EOPNOTSUPP : next(fd, offset, length);
}

#define FAIL                                                                                                                                         \
  do {                                                                                                                                               \
    if (bytes > 1024 && full(fd, "write")) {                                                                                                         \
      errno = ENOSPC;                                                                                                                                \
      return -1;                                                                                                                                     \
    }                                                                                                                                                \
  } while (0)

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
  ssize_t (*next)(int, const void *, size_t, off_t) = (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");

  FAIL;
  return next(fd, data, bytes, offset);
}

ssize_t pwritev(int fd, const struct iovec *data, int count, off_t offset)
{
  ssize_t (*next)(int, const struct iovec *, int, off_t) = (ssize_t(*)(int, const struct iovec *, int, off_t))dlsym(RTLD_NEXT, "pwritev");
  size_t bytes = 0;

  for (int i = 0; i < count; i++) bytes += data[i].iov_len;
  FAIL;
  return next(fd, data, count, offset);
}

ssize_t write(int fd, const void *data, size_t bytes)
{
  ssize_t (*next)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");

  FAIL;
  return next(fd, data, bytes);
}
