/** Adds how links, sessions and flows had their game account proven. */
import { changeSchema } from "./change_schema.ts";

export const proofs = changeSchema(`
  ALTER TABLE links ADD COLUMN proof TEXT;
  ALTER TABLE verification_sessions ADD COLUMN proof TEXT;
  ALTER TABLE verification_flows ADD COLUMN game_proof TEXT;
  UPDATE verification_flows SET game_proof = 'oauth' WHERE game_id IS NOT NULL
`);
