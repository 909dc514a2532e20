/**
 * All storage ports over an engine of four operations: get, list, count, commit.
 *
 * @example
 * ```ts
 * // The room that an engine needs: checks and changes of a commit, characters of a key, bytes of a value.
 * [maxChecks, minChanges, maxKeyLength, maxValueBytes]; // [100, 100, 1_900, 65_536]
 * ```
 */
export { type DenoKv, denoKv } from "./deno_kv.ts";
export type { Change, Check, Entry, Found, Kv, Range } from "./kv.ts";
export { maxChanges, maxChecks, maxKeyLength, maxValueBytes, minChanges } from "./kv.ts";
export { memoryKv } from "./memory_kv.ts";
export { isHalfMoved, openRows } from "./move/rows.ts";
export { readRootKey } from "./root_key.ts";
export { claimSchema, newestSchema, readSchema } from "./schema.ts";
export { layer } from "./storage_kv.ts";
