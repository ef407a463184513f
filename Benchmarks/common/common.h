// What the load generator, the game and the floor programs share: clocks, sockets, and an end with a reason.
#pragma once
#include <openssl/ssl.h>
#include <stddef.h>
#include <stdint.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

// Says what is wrong, with errno's or OpenSSL's words when there are any, and ends with status 1.
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

uint64_t monotonic_ns(void);
// Processor time of this process, all threads.
uint64_t processor_ns(void);

// A listener on 127.0.0.1, non-blocking; `*port` 0 picks one and says which.
int listen_on(uint16_t *port);
// A call to 127.0.0.1:`port` that may still be under way; `source` (host order, 0 for any) is the address
// called from.
int begin_connect(uint16_t port, uint32_t source);
void without_delay(int descriptor);

// A server's TLS as the gate has it: 1.2 and 1.3, one ticket, read-ahead, buffers released when idle.
SSL_CTX *server_tls(const char *certificate, const char *key);
// No error of OpenSSL's lets the program go on, except that it wants to read or write more.
int tls_wants(SSL *tls, int result);
