/*
   Timing on the device, and the report: one line a quantity on the terminal, the same numbers as JSON in a file
*/
#ifndef STRATA_BENCH_H
#define STRATA_BENCH_H

#include <cuda_runtime.h>
#include <petscversion.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#define BENCH_TEXT_(x) #x
#define BENCH_TEXT(x)  BENCH_TEXT_(x)

#define CUDA(...)                                                                                                                                    \
  do {                                                                                                                                               \
    const cudaError_t bench_err_ = (cudaError_t)(__VA_ARGS__);                                                                                       \
    if (bench_err_ != cudaSuccess) {                                                                                                                 \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(bench_err_));                                                            \
      exit(1);                                                                                                                                       \
    }                                                                                                                                                \
  } while (0)

/* Time of one call: the median, and the range, of samples of several calls */
struct Timing {
  double median, least, most; /* microseconds */
};

template <class F> static Timing time_calls(F call, int samples = 11, int calls = 12)
{
  std::vector<double> us;
  cudaEvent_t         start, stop;

  CUDA(cudaEventCreate(&start));
  CUDA(cudaEventCreate(&stop));
  for (int i = 0; i < calls; i++) call(i);
  for (int s = 0; s < samples; s++) {
    float ms;

    CUDA(cudaEventRecord(start));
    for (int i = 0; i < calls; i++) call(i);
    CUDA(cudaEventRecord(stop));
    CUDA(cudaEventSynchronize(stop));
    CUDA(cudaEventElapsedTime(&ms, start, stop));
    us.push_back(1e3 * ms / calls);
  }
  CUDA(cudaGetLastError());
  CUDA(cudaEventDestroy(start));
  CUDA(cudaEventDestroy(stop));
  std::sort(us.begin(), us.end());
  return {us[us.size() / 2], us.front(), us.back()};
}

/* Device arrays of random numbers in [low, high) */
template <class T> static __global__ void randomize(size_t n, double low, double high, unsigned seed, T *v)
{
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    unsigned long long h = (i + 1) * 0x9e3779b97f4a7c15ULL + seed * 0xbf58476d1ce4e5b9ULL;

    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9ULL;
    h = (h ^ h >> 27) * 0x94d049bb133111ebULL;
    h ^= h >> 31;
    v[i] = (T)(low + (high - low) * (h >> 11) / 9007199254740992.0);
  }
}

template <class T> static T *random_array(size_t n, double low, double high, unsigned seed)
{
  T *device;

  CUDA(cudaMalloc(&device, n * sizeof(T)));
  randomize<<<1024, 256>>>(n, low, high, seed, device);
  CUDA(cudaGetLastError());
  return device;
}

/* What a launch takes, be there nothing to do */
static __global__ void nothing()
{
}

static inline Timing time_launch()
{
  return time_calls([](int) { nothing<<<1, 32>>>(); });
}

/* The lines of a report. A quantity is a ratio to a yardstick timed in the same run; goal 0 means that there is none. bytes: what must move, by
   count. */
class Report
{
public:
  explicit Report(const char *file) : file_(file ? file : "")
  {
    cudaDeviceProp prop;
    int            driver, runtime;
    char           date[32];
    const char     versions[] = "PETSc " BENCH_TEXT(PETSC_VERSION_MAJOR) "." BENCH_TEXT(PETSC_VERSION_MINOR) "." BENCH_TEXT(PETSC_VERSION_SUBMINOR);
    const time_t   now = time(NULL);

    CUDA(cudaGetDeviceProperties(&prop, 0));
    CUDA(cudaDriverGetVersion(&driver));
    CUDA(cudaRuntimeGetVersion(&runtime));
    strftime(date, sizeof(date), "%Y-%m-%d", gmtime(&now));
    json_ = std::string("{\n  \"gpu\": \"") + prop.name + "\",\n  \"date\": \"" + date + "\",\n  \"versions\": \"" + versions + ", CUDA runtime " +
            std::to_string(runtime / 1000) + "." + std::to_string(runtime % 1000 / 10) + ", driver for CUDA " + std::to_string(driver / 1000) + "." +
            std::to_string(driver % 1000 / 10) + "\",\n  \"quantities\": [";
    printf("%s, %s, %s\n", prop.name, date, versions);
  }

  void line(const std::string &name, Timing t, double ratio, const char *unit, double goal, double bytes = 0)
  {
    const double spread = 100 * (t.most - t.least) / t.median;
    char         text[512], target[64] = "", moved[64] = "";

    if (goal) snprintf(target, sizeof(target), "  goal %g: %s", goal, ratio >= goal ? "reached" : "MISSED");
    if (bytes) snprintf(moved, sizeof(moved), ", \"bytes\": %.0f", bytes);
    printf("%-58s %9.2f us  %7.3f %-12s spread %4.1f%%%s\n", name.c_str(), t.median, ratio, unit, spread, target);
    fflush(stdout);
    snprintf(text, sizeof(text),
             "%s\n    {\"name\": \"%s\", \"us\": %.3f, \"ratio\": %.4f, \"unit\": \"%s\", \"spread_percent\": %.1f, \"goal\": %g%s}",
             first_ ? "" : ",", name.c_str(), t.median, ratio, unit, spread, goal, moved);
    json_ += text;
    first_ = false;
  }

  int write()
  {
    if (file_.empty()) return 0;
    FILE *f = fopen(file_.c_str(), "w");

    if (!f || fprintf(f, "%s\n  ]\n}\n", json_.c_str()) < 0 || fclose(f)) {
      fprintf(stderr, "cannot write %s\n", file_.c_str());
      return 1;
    }
    return 0;
  }

private:
  std::string file_, json_;
  bool        first_ = true;
};

#endif
