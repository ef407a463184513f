// Inline functions for the X.509 and key macros that Swift's importer cannot see.
#pragma once
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <openssl/evp.h>
#include <openssl/ec.h>

static inline void portcullis_openssl_free(void *memory) { OPENSSL_free(memory); }
static inline EVP_PKEY *portcullis_p256_generate(void) { return EVP_EC_gen("P-256"); }
static inline EVP_PKEY *portcullis_p384_generate(void) { return EVP_EC_gen("P-384"); }
static inline STACK_OF(X509) * portcullis_x509_stack_new(void) { return sk_X509_new_null(); }
static inline int portcullis_x509_stack_push(STACK_OF(X509) * stack, X509 *certificate) {
  return sk_X509_push(stack, certificate);
}
static inline int portcullis_x509_stack_count(const STACK_OF(X509) * stack) { return sk_X509_num(stack); }
static inline X509 *portcullis_x509_stack_value(const STACK_OF(X509) * stack, int index) {
  return sk_X509_value(stack, index);
}
static inline void portcullis_x509_stack_free(STACK_OF(X509) * stack) { sk_X509_free(stack); }
static inline long portcullis_bio_memory(BIO *bio, const char **bytes) {
  return BIO_get_mem_data(bio, (char **)bytes);
}
