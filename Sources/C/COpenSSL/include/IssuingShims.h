// What issuing certificates needs of OpenSSL's macros.
#pragma once
#include <openssl/x509.h>

// Gives back the stack and one reference to each certificate in it.
static inline void portcullis_x509_stack_pop_free(STACK_OF(X509) * stack) { sk_X509_pop_free(stack, X509_free); }
