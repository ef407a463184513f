#include "CSQLite.h"

int portcullis_sqlite_configure(void (*log)(void *context, int code, const char *message)) {
  int result = sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
  if (result == SQLITE_OK) result = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  if (result == SQLITE_OK) result = sqlite3_config(SQLITE_CONFIG_LOG, log, (void *)0);
  if (result == SQLITE_OK) result = sqlite3_initialize();
  return result;
}

int portcullis_sqlite_defend(sqlite3 *database) {
  int result = sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
  if (result == SQLITE_OK) result = sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0);
  if (result == SQLITE_OK) result = sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)0);
  if (result == SQLITE_OK) result = sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
  return result;
}

int portcullis_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *bytes, int64_t count) {
  if (count < 0) return SQLITE_TOOBIG;
  return sqlite3_bind_text64(
      statement, index, count == 0 ? "" : bytes, (sqlite3_uint64)count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

int portcullis_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int64_t count) {
  if (count < 0) return SQLITE_TOOBIG;
  if (count == 0) return sqlite3_bind_zeroblob(statement, index, 0);
  return sqlite3_bind_blob64(statement, index, bytes, (sqlite3_uint64)count, SQLITE_TRANSIENT);
}
