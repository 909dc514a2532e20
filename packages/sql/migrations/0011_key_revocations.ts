/** Adds indexes to delete keys that were revoked long ago, and have no sessions. */
import { changeSchema } from "./change_schema.ts";

export const keyRevocations = changeSchema(`
  CREATE INDEX keys_by_revocation ON keys (revoked_at) WHERE revoked_at IS NOT NULL;
  CREATE INDEX verification_sessions_by_key ON verification_sessions (key_id)
`);
