export type { KeyRange, KeyValueCommit, KeyValueEntry, KeyValueStore } from "./key_value_store.ts";
export { layer, StoreTooNew } from "./layer.ts";
export { type SingleKeyStore, singleProcess } from "./single_process.ts";
