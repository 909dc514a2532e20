import { findRootKey } from "@accountlink/core/storage";
import { Database } from "./database.ts";
import type { Kv } from "./kv.ts";
import { txOf } from "./records.ts";

/** Reads the wrapped root key; null before its creation. @internal */
export const readRootKey = (kv: Kv) => new Database(kv).read((tx) => findRootKey(txOf(tx)));
