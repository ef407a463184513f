// Inline functions for the X.509 and key macros that Swift's importer cannot see.
#pragma once
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <string.h>

static inline void portcullis_openssl_free(void *memory) { OPENSSL_free(memory); }
static inline void *portcullis_openssl_allocate(size_t count) { return OPENSSL_malloc(count); }
static inline void portcullis_openssl_clear_free(void *memory, size_t count) { OPENSSL_clear_free(memory, count); }
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

// Writes the subject by RFC 2253 into `text`, cut at `size` bytes; how many were written, 0 on failure.
static inline int portcullis_x509_subject(X509 *certificate, uint8_t *text, int size) {
  BIO *memory = BIO_new(BIO_s_mem());
  if (memory == NULL) return 0;
  X509_NAME_print_ex(memory, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
  int written = BIO_read(memory, text, size);
  BIO_free(memory);
  return written < 0 ? 0 : written;
}

// Writes the DNS name at `index` of the names that the certificate is for (RFC 5280 §4.2.1.6): how many bytes, 0 for a name
// of another kind or of more than `size` bytes, -1 behind the last one.
static inline int portcullis_x509_dns_name(const X509 *certificate, int index, uint8_t *text, int size) {
  GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
  int written = -1;
  if (index < sk_GENERAL_NAME_num(names)) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    int length = name->type == GEN_DNS ? ASN1_STRING_length(name->d.dNSName) : 0;
    written = length <= size ? length : 0;
    if (written > 0) memcpy(text, ASN1_STRING_get0_data(name->d.dNSName), (size_t)written);
  }
  GENERAL_NAMES_free(names);
  return written;
}

// A key on a curve that has no point yet, for EVP_PKEY_set1_encoded_public_key; NULL when memory is short.
static inline EVP_PKEY *portcullis_ec_without_point(const char *curve) {
  EVP_PKEY *key = NULL;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)curve, 0),
      OSSL_PARAM_construct_end(),
  };
  if (!context || EVP_PKEY_fromdata_init(context) != 1 ||
      EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEY_PARAMETERS, parameters) != 1) {
    EVP_PKEY_free(key);
    key = NULL;
  }
  EVP_PKEY_CTX_free(context);
  return key;
}

static inline EVP_PKEY *portcullis_p256_without_point(void) { return portcullis_ec_without_point("prime256v1"); }
static inline EVP_PKEY *portcullis_p384_without_point(void) { return portcullis_ec_without_point("secp384r1"); }

// An RSA key of its two numbers, most significant byte first; NULL when memory is short, or OpenSSL wants none of it.
static inline EVP_PKEY *portcullis_rsa_public(const uint8_t *modulus, size_t modulus_count, const uint8_t *exponent,
                                              size_t exponent_count) {
  EVP_PKEY *key = NULL;
  OSSL_PARAM *parameters = NULL;
  BIGNUM *n = BN_bin2bn(modulus, (int)modulus_count, NULL), *e = BN_bin2bn(exponent, (int)exponent_count, NULL);
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
  if (!n || !e || !builder || !context || OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) != 1 ||
      !(parameters = OSSL_PARAM_BLD_to_param(builder)) || EVP_PKEY_fromdata_init(context) != 1 ||
      EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1) {
    EVP_PKEY_free(key);
    key = NULL;
  }
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(builder);
  EVP_PKEY_CTX_free(context);
  BN_free(n);
  BN_free(e);
  return key;
}

// A MAC context for HMAC-SHA-256 that has its key and waits for data; NULL when memory is short.
static inline EVP_MAC_CTX *portcullis_hmac_sha256_new(const uint8_t *key, size_t count) {
  EVP_MAC *algorithm = EVP_MAC_fetch(NULL, "HMAC", NULL);
  EVP_MAC_CTX *context = algorithm ? EVP_MAC_CTX_new(algorithm) : NULL;
  EVP_MAC_free(algorithm);
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
      OSSL_PARAM_construct_end(),
  };
  if (context && EVP_MAC_init(context, key, count, parameters) != 1) {
    EVP_MAC_CTX_free(context);
    context = NULL;
  }
  return context;
}
