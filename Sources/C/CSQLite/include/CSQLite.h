// SQLite as the system has it. Swift sees neither functions of variable arguments nor macros that are casts.
#pragma once
#include <sqlite3.h>
#include <stdint.h>

// What holds for the whole process, before the first connection: mutexes around what connections share and none within
// a connection, no statistics, and SQLite's own words to `log`. SQLITE_OK or why not.
int portcullis_sqlite_configure(void (*log)(void *context, int code, const char *message));

// A schema cannot be written to by hand, double quotes are names alone, and functions of side effects run in no trigger
// or view.
int portcullis_sqlite_defend(sqlite3 *database);

// SQLite keeps a copy of the bytes. No bytes are a value of length zero and not NULL.
int portcullis_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *bytes, int64_t count);
int portcullis_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int64_t count);
