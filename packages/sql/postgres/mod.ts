/** The storage ports on Postgres, which nodes share. Needs `pg`. */
export { DatabaseUnusable } from "../database_unusable.ts";
export { DatabaseTooNew } from "../migrations.ts";
export {
  inspectPostgres,
  layerPostgres,
  migratePostgres,
  type PostgresError,
  type PostgresOptions,
  type PostgresState,
} from "./postgres.ts";
