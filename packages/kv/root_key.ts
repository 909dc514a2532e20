import { rootKeys } from "@accountlink/core/storage";
import { Effect } from "effect";
import { Database } from "./database.ts";
import type { Kv } from "./kv.ts";
import { kvTable } from "./records.ts";

/** Reads the wrapped root key; null before its creation. @internal */
export const readRootKey = (kv: Kv) =>
  new Database(kv).read((tx) => Effect.map(tx.get(kvTable(rootKeys)), (stored) => stored?.wrapped ?? null));
