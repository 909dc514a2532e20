/** Lets a community ask for a proof of its own. */
import { changeSchema } from "./change_schema.ts";

export const freshProof = changeSchema(
  "ALTER TABLE scopes ADD COLUMN fresh_proof INTEGER NOT NULL DEFAULT 0",
);
