/** The storage ports on a Postgres database, which several nodes can share. Requires the package `@effect/sql-pg`. */
export { DatabaseUnusable } from "../database_unusable.ts";
export { DatabaseTooNew } from "../migrations.ts";
export {
  asidePrefix,
  cutOff,
  inspectPostgres,
  layerPostgres,
  migratePostgres,
  openPostgres,
  type PostgresError,
  type PostgresOptions,
  type PostgresState,
} from "./postgres.ts";
export { restPostgres, setAside, usersOf } from "./restoring.ts";
export { expectedOwner } from "./sql_error.ts";
