/** The stores on Postgres alone, for programs that cannot load `node:sqlite`. */
export { DatabaseUnusable } from "../database_unusable.ts";
export { DatabaseTooNew } from "../migrations.ts";
export { layerPostgres, type PostgresError, type PostgresOptions } from "./postgres.ts";
