/** Imports of links: files and their formats, the port, and the import of a file. */

export { csvRow } from "../csv.ts";
export type { ChangedLinks } from "./changed_links.ts";
export { isGameColumn } from "./formats/columns.ts";
export {
  type DateOrder,
  type FileLink,
  type LeftOutLine,
  type LeftOutReason,
  type LinkLine,
  leftOutReasons,
  type OddWord,
  type ReadOptions,
  type UnclearTime,
  type UnclearTimeChoice,
  UnreadableLinkFile,
  type WordChoice,
} from "./formats/link_format.ts";
export * from "./formats/link_formats.ts";
export { tableReader } from "./formats/row.ts";
export { endedStates, holdingStates, stateFillers } from "./formats/state_columns.ts";
export { readRows } from "./formats/text_rows.ts";
export * from "./formats/written_forms.ts";
export {
  type ChatHash,
  type ConflictChoice,
  ImportEnded,
  type LinkChange,
  WrongLines,
} from "./import_batch.ts";
export { type ImportFile, ImportRefused } from "./import_files.ts";
export * from "./import_history.ts";
export type { ImportJob, NewImport } from "./import_job.ts";
export { makeImportJobs } from "./import_jobs.ts";
export {
  boundedLeftOut,
  type ImportOutcome,
  type LeftOutRows,
  leftOutHeader,
  leftOutRow,
} from "./import_outcome.ts";
export * from "./import_parts.ts";
export type { ImportFailure } from "./import_state.ts";
export * from "./import_store.ts";
export * from "./imported_record.ts";
export * from "./link_file.ts";
export * from "./link_import.ts";
export * from "./link_imports.ts";
export * from "./rounded_ids.ts";
export * from "./stored_imports.ts";
export * from "./upload_store.ts";
