// Keys that App Attest might have made: a key store of them for the gate, and assertions by their private
// halves (Apple, "Validating apps that connect to your server"; WebAuthn, section 6.1).
#define _GNU_SOURCE
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"

static struct {
  int count, first;
  unsigned char app_hash[SHA256_DIGEST_LENGTH];
  EVP_PKEY **keys;
  uint32_t *counters;
  char (*identifiers)[48];
} devices;

static FILE *open_file(const char *folder, const char *name, const char *mode) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, mode);
  if (file == NULL) die("%s", path);
  return file;
}

// `keyId`: SHA-256 of the point, in base64.
static void identify(EVP_PKEY *key, char *text) {
  unsigned char point[65], digest[SHA256_DIGEST_LENGTH];
  size_t length;
  if (EVP_PKEY_get_octet_string_param(key, "encoded-pub-key", point, sizeof point, &length) != 1 ||
      length != sizeof point)
    die("a key without its point");
  SHA256(point, sizeof point, digest);
  EVP_EncodeBlock((unsigned char *)text, digest, sizeof digest);
}

static void write_record(FILE *out, EVP_PKEY *key, const char *app, bool is_first) {
  char identifier[48];
  identify(key, identifier);
  fprintf(out, "%s\"%s\":{\"publicKey\":\"", is_first ? "" : ",\n", identifier);
  BIO *memory = BIO_new(BIO_s_mem());
  PEM_write_bio_PUBKEY(memory, key);
  char *pem;
  long length = BIO_get_mem_data(memory, &pem);
  for (long index = 0; index < length; index++)
    if (pem[index] == '\n') fputs("\\n", out);
    else fputc(pem[index], out);
  BIO_free(memory);
  fprintf(out,
          "\",\"signCount\":0,\"registeredAt\":\"2026-02-17T00:00:00.000Z\",\"appId\":\"%s\","
          "\"environment\":\"production\"}",
          app);
}

void make_keys(const char *folder, int count, const char *app) {
  FILE *store = open_file(folder, "attested-keys.json", "w");
  FILE *secrets = open_file(folder, "device-keys", "w");
  fprintf(secrets, "%d %s\n", count, app);
  fputs("{\n", store);
  for (int index = 0; index < count; index++) {
    EVP_PKEY *key = EVP_EC_gen("P-256");
    if (key == NULL || i2d_PrivateKey_fp(secrets, key) != 1) die("making a key");
    write_record(store, key, app, index == 0);
    EVP_PKEY_free(key);
  }
  fputs("\n}\n", store);
  if (fclose(store) != 0 || fclose(secrets) != 0) die("%s", folder);
}

void load_keys(const char *folder, int first) {
  devices.first = first;
  FILE *secrets = open_file(folder, "device-keys", "r");
  char app[256];
  if (fscanf(secrets, "%d %255s", &devices.count, app) != 2 || fgetc(secrets) != '\n') die("device-keys");
  SHA256((unsigned char *)app, strlen(app), devices.app_hash);
  devices.keys = calloc((size_t)devices.count, sizeof *devices.keys);
  devices.counters = calloc((size_t)devices.count, sizeof *devices.counters);
  devices.identifiers = calloc((size_t)devices.count, sizeof *devices.identifiers);
  if (!devices.keys || !devices.counters || !devices.identifiers) die("calloc");
  // One BIO for all: each takes exactly its own bytes.
  BIO *input = BIO_new_fp(secrets, BIO_CLOSE);
  for (int index = 0; index < devices.count; index++) {
    devices.keys[index] = d2i_PrivateKey_bio(input, NULL);
    if (devices.keys[index] == NULL) die("key %d", index);
    identify(devices.keys[index], devices.identifiers[index]);
  }
  BIO_free(input);
}

static void nonce_bytes(const char *digits, unsigned char *bytes) {
  for (int index = 0; index < 32; index++) {
    unsigned value;
    if (sscanf(digits + 2 * index, "%2x", &value) != 1) die("not a nonce: %.64s", digits);
    bytes[index] = (unsigned char)value;
  }
}

// SHA-256 over the data and the hash of the challenge; the signature hashes it once more.
static size_t sign(
    EVP_PKEY *key, const unsigned char *data, const unsigned char *challenge, unsigned char *out) {
  unsigned char joined[37 + 32], nonce[32];
  memcpy(joined, data, 37);
  SHA256(challenge, 32, joined + 37);
  SHA256(joined, sizeof joined, nonce);
  static EVP_MD *digest;
  if (digest == NULL) digest = EVP_MD_fetch(NULL, "SHA256", NULL);
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  size_t length = 72;
  if (EVP_DigestSignInit(context, NULL, digest, NULL, key) != 1 ||
      EVP_DigestSign(context, out, &length, nonce, sizeof nonce) != 1)
    die("signing");
  EVP_MD_CTX_free(context);
  return length;
}

char *assertion_fields(int number, const char *digits) {
  int index = (devices.first + number) % devices.count;
  uint32_t counter = ++devices.counters[index];
  unsigned char challenge[32], data[37], signature[72], object[256], text[400];
  nonce_bytes(digits, challenge);
  memcpy(data, devices.app_hash, 32);
  data[32] = 0x40;
  for (int byte = 0; byte < 4; byte++) data[33 + byte] = (unsigned char)(counter >> (24 - 8 * byte));
  size_t length = sign(devices.keys[index], data, challenge, signature), used = 0;
  // A map of two: byte strings called "signature" and "authenticatorData" (RFC 8949, section 3).
  object[used++] = 0xA2;
  object[used++] = 0x69;
  memcpy(object + used, "signature", 9);
  used += 9;
  object[used++] = 0x58;
  object[used++] = (unsigned char)length;
  memcpy(object + used, signature, length);
  used += length;
  object[used++] = 0x71;
  memcpy(object + used, "authenticatorData", 17);
  used += 17;
  object[used++] = 0x58;
  object[used++] = sizeof data;
  memcpy(object + used, data, sizeof data);
  used += sizeof data;
  EVP_EncodeBlock(text, object, (int)used);
  char *fields;
  if (asprintf(&fields, "X-App-Assert-KeyId: %s\r\nX-App-Assert-Data: %s\r\nX-App-Assert-Nonce: %.64s\r\n",
               devices.identifiers[index], text, digits) < 0)
    die("asprintf");
  return fields;
}
