export { DatabaseUnusable } from "./database_unusable.ts";
export { DatabaseTooNew } from "./migrations.ts";
export {
  type EmbeddedError,
  type EmbeddedOptions,
  layerEmbedded,
  migrateEmbedded,
} from "./sqlite/embedded.ts";
export { databaseFile, type EmbeddedState, hasDatabase, inspectEmbedded } from "./sqlite/inspect.ts";
export { acquireFolderLock, DataFolderInUse } from "./sqlite/process_lock.ts";
