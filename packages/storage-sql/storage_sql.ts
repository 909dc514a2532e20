/** What the door opens to: the stores, what they are kept in, and what can be wrong with it. */
export { databaseFile, hasDatabase } from "./data_folder.ts";
export { DatabaseUnusable } from "./database_unusable.ts";
export { type EmbeddedError, type EmbeddedOptions, layerEmbedded, migrateEmbedded } from "./embedded.ts";
export { type EmbeddedState, inspectEmbedded } from "./inspect.ts";
export { acquireFolderLock, DataFolderInUse } from "./internal/process_lock.ts";
export { DatabaseTooNew, migrate } from "./migrations.ts";
export {
  inspectPostgres,
  layerPostgres,
  migratePostgres,
  type PostgresError,
  type PostgresOptions,
  type PostgresState,
} from "./postgres.ts";
export { layer } from "./stores.ts";
