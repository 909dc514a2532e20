export { DatabaseUnusable } from "./database_unusable.ts";
export { upgradeThrough } from "./migrations/0021_initial.ts";
export { DatabaseTooNew } from "./migrations.ts";
export { openRows } from "./move/rows.ts";
export { releaseTables } from "./release_tables.ts";
export {
  CopyRefused,
  type CopyState,
  checkCopy,
  copyEmbedded,
  newerCopy,
  refuseUnreadable,
  restoreEmbedded,
} from "./sqlite/backup.ts";
export {
  type EmbeddedError,
  type EmbeddedOptions,
  layerEmbedded,
  migrateEmbedded,
  openEmbedded,
} from "./sqlite/embedded.ts";
export {
  databaseFile,
  type EmbeddedState,
  filesOf,
  hasDatabase,
  holdsNothing,
  inspectEmbedded,
  inspectRootKey,
} from "./sqlite/inspect.ts";
export { acquireFolderLock, DataFolderInUse, giveToOwnerOf } from "./sqlite/process_lock.ts";
export { restDatabase } from "./storage_place.ts";
