// The floor of a key attestation: the signatures of its chain by X509_verify, certificates and keys made beforehand.
//
//   chain SECONDS LEAF … ROOT    DER files; prints how many chains a second
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/common.h"

enum { LONGEST = 10 };

static X509 *read_certificate(const char *path) {
  static unsigned char bytes[8192];
  FILE *stream = fopen(path, "rb");
  if (stream == NULL) die("%s", path);
  long count = (long)fread(bytes, 1, sizeof bytes, stream);
  fclose(stream);
  const unsigned char *next = bytes;
  X509 *certificate = d2i_X509(NULL, &next, count);
  if (certificate == NULL) die("d2i_X509 %s", path);
  return certificate;
}

int main(int count, char **arguments) {
  if (count < 4 || count > LONGEST + 2) die("usage: chain SECONDS LEAF ... ROOT");
  X509 *chain[LONGEST];
  int length = count - 2;
  for (int index = 0; index < length; index++) chain[index] = read_certificate(arguments[index + 2]);
  uint64_t done = 0, started = processor_ns(), until = started + (uint64_t)(atof(arguments[1]) * 1e9);
  while (processor_ns() < until) {
    for (int index = 0; index + 1 < length; index++) {
      if (X509_verify(chain[index], X509_get0_pubkey(chain[index + 1])) != 1) die("X509_verify");
    }
    done++;
  }
  printf("{\"per_second\": %.1f}\n", (double)done * 1e9 / (double)(processor_ns() - started));
}
