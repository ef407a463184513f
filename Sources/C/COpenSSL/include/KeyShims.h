// P-256 private keys as their scalar: 32 bytes, most significant first (RFC 5915 §3, privateKey).
#pragma once
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/params.h>
#include <stdint.h>

enum { PORTCULLIS_P256_SCALAR_BYTES = 32, PORTCULLIS_P256_POINT_BYTES = 65 };

// The uncompressed point of a scalar; 0 when it is zero, not below the group's order, or memory is short.
static inline int portcullis_p256_point(const uint8_t *scalar, uint8_t *native, uint8_t *point) {
  EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
  BIGNUM *number = BN_bin2bn(scalar, PORTCULLIS_P256_SCALAR_BYTES, NULL);
  EC_POINT *product = group ? EC_POINT_new(group) : NULL;
  int done = 0;
  if (group && number && product && !BN_is_zero(number) && BN_cmp(number, EC_GROUP_get0_order(group)) < 0) {
    BN_set_flags(number, BN_FLG_CONSTTIME);
    done = EC_POINT_mul(group, product, number, NULL, NULL, NULL) == 1 &&
           EC_POINT_point2oct(group, product, POINT_CONVERSION_UNCOMPRESSED, point, PORTCULLIS_P256_POINT_BYTES,
                              NULL) == PORTCULLIS_P256_POINT_BYTES &&
           BN_bn2nativepad(number, native, PORTCULLIS_P256_SCALAR_BYTES) == PORTCULLIS_P256_SCALAR_BYTES;
  }
  EC_POINT_free(product);
  BN_clear_free(number);
  EC_GROUP_free(group);
  return done;
}

// The key pair of a scalar of 32 bytes; NULL when there is none, or memory is short.
static inline EVP_PKEY *portcullis_p256_from_scalar(const uint8_t *scalar) {
  uint8_t native[PORTCULLIS_P256_SCALAR_BYTES], point[PORTCULLIS_P256_POINT_BYTES];
  if (!portcullis_p256_point(scalar, native, point)) return NULL;
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)"prime256v1", 0),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point),
      OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_PRIV_KEY, native, sizeof native),
      OSSL_PARAM_construct_end(),
  };
  EVP_PKEY *key = NULL;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
  if (!context || EVP_PKEY_fromdata_init(context) != 1 ||
      EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters) != 1) {
    EVP_PKEY_free(key);
    key = NULL;
  }
  EVP_PKEY_CTX_free(context);
  OPENSSL_cleanse(native, sizeof native);
  return key;
}

// Writes the scalar's 32 bytes; 0 when `key` is not a private key on P-256.
static inline int portcullis_p256_scalar(const EVP_PKEY *key, uint8_t *scalar) {
  BIGNUM *number = NULL;
  int done = EVP_PKEY_get_bits(key) == 256 && EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &number) == 1 &&
             BN_bn2binpad(number, scalar, PORTCULLIS_P256_SCALAR_BYTES) == PORTCULLIS_P256_SCALAR_BYTES;
  BN_clear_free(number);
  return done;
}
