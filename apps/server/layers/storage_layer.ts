import { StorageMemory } from "@accountlink/memory";
import { StorageSql } from "@accountlink/sql";
import * as StoragePostgres from "@accountlink/sql/postgres";
import type { Duration } from "effect";
import type { Storage } from "../config/resolved_config.ts";

interface Opening {
  /** Whether to refuse a second server on an embedded storage. */
  readonly exclusive: boolean;
  /** How long to wait for a database server that is not up yet. No wait by default. */
  readonly startTimeout?: Duration.Input;
  /** How long to wait for a connection to a database server; 1 second by default. */
  readonly connectTimeout?: Duration.Input;
}

export const storageLayer = (storage: Storage, { exclusive, ...opening }: Opening) => {
  switch (storage.kind) {
    case "memory":
      return StorageMemory.layer;
    case "embedded":
      return StorageSql.layerEmbedded({ ...storage, exclusive });
    case "postgres":
      return StoragePostgres.layerPostgres({ ...storage, ...opening });
  }
};
