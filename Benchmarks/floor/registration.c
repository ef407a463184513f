// The floor of a registration: both certificates by d2i_X509, the public keys, and one X509_verify of the
// leaf.
//
//   registration LEAF INTERMEDIATE SECONDS    DER files; prints how many a second
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/common.h"

struct file {
  unsigned char bytes[8192];
  long count;
};

static void read_file(const char *path, struct file *file) {
  FILE *stream = fopen(path, "rb");
  if (stream == NULL) die("%s", path);
  file->count = (long)fread(file->bytes, 1, sizeof file->bytes, stream);
  fclose(stream);
}

static X509 *parse(const struct file *file) {
  const unsigned char *bytes = file->bytes;
  X509 *certificate = d2i_X509(NULL, &bytes, file->count);
  if (certificate == NULL) die("d2i_X509");
  return certificate;
}

int main(int count, char **arguments) {
  if (count != 4) die("usage: registration LEAF INTERMEDIATE SECONDS");
  static struct file leaf, intermediate;
  read_file(arguments[1], &leaf);
  read_file(arguments[2], &intermediate);
  uint64_t done = 0, started = processor_ns(), until = started + (uint64_t)(atof(arguments[3]) * 1e9);
  while (processor_ns() < until) {
    X509 *device = parse(&leaf), *issuer = parse(&intermediate);
    if (X509_get0_pubkey(device) == NULL) die("the leaf's key");
    if (X509_verify(device, X509_get0_pubkey(issuer)) != 1) die("X509_verify");
    X509_free(device);
    X509_free(issuer);
    done++;
  }
  printf("{\"per_second\": %.1f}\n", (double)done * 1e9 / (double)(processor_ns() - started));
}
