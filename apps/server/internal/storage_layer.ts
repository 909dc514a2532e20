import { StorageMemory } from "@accountlink/storage-memory";
import { StorageSql } from "@accountlink/storage-sql";
import type { Duration } from "effect";
import type { Storage } from "../plan.ts";

/** How a storage is opened. */
interface Opening {
  /** Whether this is the one server of an embedded storage. */
  readonly exclusive: boolean;
  /** How long a database server that is not there yet is waited for; not at all when left out. */
  readonly startTimeout?: Duration.Input;
}

/** The storage ports. */
export const storageLayer = (storage: Storage, { exclusive, ...opening }: Opening) => {
  switch (storage.kind) {
    case "memory":
      return StorageMemory.layer;
    case "embedded":
      return StorageSql.layerEmbedded({ ...storage, exclusive });
    case "postgres":
      return StorageSql.layerPostgres({ ...storage, ...opening });
  }
};
