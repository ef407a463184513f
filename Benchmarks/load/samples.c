// Latencies: every one is kept, and percentiles are read off the sorted list.
#include <stdlib.h>

#include "load.h"

static uint64_t *samples;
static size_t count, capacity;

void samples_reset(void) { count = 0; }

void sample(uint64_t nanoseconds) {
  if (count == capacity) {
    capacity = capacity ? capacity * 2 : 1 << 20;
    samples = realloc(samples, capacity * sizeof *samples);
    if (samples == NULL) die("realloc");
  }
  samples[count++] = nanoseconds;
}

static int compare(const void *left, const void *right) {
  uint64_t first = *(const uint64_t *)left, second = *(const uint64_t *)right;
  return (first > second) - (first < second);
}

static double percentile(double share) {
  if (count == 0) return 0;
  size_t index = (size_t)(share * (double)count);
  return (double)samples[index < count ? index : count - 1] / 1000;
}

void samples_print(FILE *out) {
  qsort(samples, count, sizeof *samples, compare);
  fprintf(out, "\"count\": %zu, \"p50_us\": %.1f, \"p90_us\": %.1f, \"p99_us\": %.1f, ", count,
          percentile(0.5), percentile(0.9), percentile(0.99));
  fprintf(out, "\"p999_us\": %.1f, \"max_us\": %.1f", percentile(0.999), percentile(1));
}
