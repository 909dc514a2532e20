/** An index of undone imports, which each node looks through every few seconds; no previews that an erasure cannot find. */
import { changeSchema } from "./change_schema.ts";

export const undoneImports = changeSchema(`
  CREATE INDEX link_imports_undone ON link_imports (ends_at) WHERE undo_entry IS NOT NULL;
  -- Earlier releases did not store the users whom previews name in preview_users.
  DELETE FROM role_previews
`);
