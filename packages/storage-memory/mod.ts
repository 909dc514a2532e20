/**
 * The storage ports in memory, for tests, demos and services without persistence. They are also the
 * model with which conformance tests compare other stores.
 */
export * as StorageMemory from "./storage_memory.ts";
