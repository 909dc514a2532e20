/** Links: record, port, lookups and writes. */
export {
  type BulkItem,
  type BulkItemError,
  BulkLookup,
  checkBulkLimit,
  maxBulkInputs,
} from "./bulk_lookup.ts";
export * from "./link.ts";
export * from "./link_changes.ts";
export * from "./link_events.ts";
export * from "./link_lookup.ts";
export * from "./link_store.ts";
export * from "./link_writer.ts";
