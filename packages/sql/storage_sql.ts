export { DatabaseUnusable } from "./database_unusable.ts";
export { DatabaseTooNew } from "./migrations.ts";
export { databaseFile, hasDatabase } from "./sqlite/data_folder.ts";
export {
  type EmbeddedError,
  type EmbeddedOptions,
  layerEmbedded,
  migrateEmbedded,
} from "./sqlite/embedded.ts";
export { type EmbeddedState, inspectEmbedded } from "./sqlite/inspect.ts";
export { acquireFolderLock, DataFolderInUse } from "./sqlite/process_lock.ts";
