/** Adds who may link in a scope: the least ages of accounts, and blocked users. */
import { changeSchema } from "./change_schema.ts";

export const blocks = changeSchema(`
  ALTER TABLE scopes ADD COLUMN min_game_age_days INTEGER;
  ALTER TABLE scopes ADD COLUMN min_chat_age_days INTEGER;
  -- 1 once the scope has had a block. Otherwise, a write of a link need not look for one.
  ALTER TABLE scopes ADD COLUMN has_blocks INTEGER NOT NULL DEFAULT 0;
  -- user_hash is a keyed hash of the user. After an erasure of a chat user, only the hash is left of the user.
  CREATE TABLE blocks (
    pid TEXT NOT NULL REFERENCES scopes (pid), user_hash TEXT NOT NULL, chat_id TEXT, game_id TEXT, reason TEXT,
    blocked_at INTEGER NOT NULL, member TEXT, PRIMARY KEY (pid, user_hash)
  );
  CREATE INDEX blocks_by_chat ON blocks (pid, chat_id) WHERE chat_id IS NOT NULL;
  CREATE INDEX blocks_by_game ON blocks (pid, game_id) WHERE game_id IS NOT NULL;
  CREATE INDEX blocks_by_time ON blocks (pid, blocked_at)
`);
