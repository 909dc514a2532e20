/** Records of which storages know the fields, keys and indexes, so that a store is written once for all of them. */
export * from "./left_leases.ts";
export * from "./record_type.ts";
export * from "./records.ts";
