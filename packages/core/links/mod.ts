/** Links: record, port, lookups and writes. */
export * from "./bulk_lookup.ts";
export * from "./link.ts";
export { LinkCap, type LinkRoom } from "./link_cap.ts";
export * from "./link_changes.ts";
export * from "./link_events.ts";
export * from "./link_export.ts";
export * from "./link_lookup.ts";
export * from "./link_outcomes.ts";
export * from "./link_proof.ts";
export * from "./link_store.ts";
export * from "./link_writer.ts";
export { newestMembers } from "./newest_members.ts";
