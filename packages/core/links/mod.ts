/** Links: record, port, lookups, writes, and link files. */
export * from "./bulk_lookup.ts";
export {
  type FileLink,
  type LeftOutLine,
  type LeftOutReason,
  type LinkLine,
  leftOutReasons,
  type ReadOptions,
  UnreadableLinkFile,
} from "./formats/link_format.ts";
export * from "./formats/link_formats.ts";
export { tableReader } from "./formats/row.ts";
export { failAtUnreadable } from "./formats/text_rows.ts";
export * from "./formats/written_forms.ts";
export {
  type ChatHash,
  type ConflictChoice,
  ImportEnded,
  type LinkChange,
  WrongLines,
} from "./import_batch.ts";
export {
  boundedLeftOut,
  type ImportOutcome,
  type LeftOutRows,
  leftOutHeader,
  leftOutRow,
} from "./import_outcome.ts";
export * from "./import_store.ts";
export * from "./link.ts";
export { LinkCap, type LinkRoom } from "./link_cap.ts";
export * from "./link_changes.ts";
export * from "./link_events.ts";
export * from "./link_export.ts";
export * from "./link_import.ts";
export * from "./link_lookup.ts";
export * from "./link_proof.ts";
export * from "./link_store.ts";
export * from "./link_writer.ts";
