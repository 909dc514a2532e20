/** The storage ports in SQL: on embedded SQLite for one server, or on a Postgres that nodes share. */
export * as StorageSql from "./storage_sql.ts";
