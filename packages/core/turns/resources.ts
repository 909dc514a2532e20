/** What accounts of a node take turns at. The metric has these names. @internal */
export const sharedResources = [
  "requests",
  "sqlite_writer",
  "database_connections",
  "page_reads",
  "page_writes",
  "page_visits",
  "visits_begun",
  "sign_ins_found",
  "event_pages",
  "exports",
  "user_exports",
  "previews",
  "sweeps",
  "alts",
  "new_link_alts",
  "import_files",
  "link_counts",
  "block_removals",
  "reminders",
  "logs",
  "webhooks",
] as const;

/** The clients of platforms add the name of their platform. @internal */
export type SharedResource = (typeof sharedResources)[number] | `platform_${string}`;
