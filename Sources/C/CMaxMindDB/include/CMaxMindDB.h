// libmaxminddb (maxminddb.h), as far as it finds the record of an address.
#pragma once
#include <maxminddb.h>
#include <stdint.h>

// Opens the database, and puts a copy in memory of our own in the place of the mapped file: whoever writes over that file
// would otherwise stop the process (SIGBUS), or have the library read what it has not looked at. MMDB_SUCCESS or why not;
// then there is nothing to close.
int portcullis_maxminddb_open(const char *path, MMDB_s *database);

// Where in the data section the record of an address lies, of 4 or 16 bytes in network order; -1 where there is none.
int64_t portcullis_maxminddb_find(const MMDB_s *database, const uint8_t *address, int32_t count);
