import { Context } from "effect";

/**
 * Identifies a database. Nodes keep shared limits, signals and cached answers outside the database, separately for each
 * identity. So a copy of the database, which has the same keys and sessions, does not share this data. Empty for
 * storages that only one process uses. @internal
 */
export const StorageIdentity = Context.Reference<string>("@accountlink/core/StorageIdentity", {
  defaultValue: () => "",
});
