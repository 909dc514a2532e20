/** Adds columns for the answer to the latest attempt of a delivery, and an index to find ended sessions by code. */
import { changeSchema } from "./change_schema.ts";

export const answers = changeSchema(`
  ALTER TABLE webhook_deliveries ADD COLUMN attempted_at INTEGER;
  ALTER TABLE webhook_deliveries ADD COLUMN answered_at INTEGER;
  ALTER TABLE webhook_deliveries ADD COLUMN response_type TEXT;
  CREATE INDEX verification_sessions_by_any_code ON verification_sessions (code_hash) WHERE code_hash IS NOT NULL
`);
