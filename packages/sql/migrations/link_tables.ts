/** The tables of accounts, keys, links, and the verifications that made them, as the first release has them. */
import { changeSchema } from "./change_schema.ts";

export const accounts = changeSchema(`
  CREATE TABLE accounts (
    name TEXT NOT NULL PRIMARY KEY, chat_id TEXT, tier TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'active',
    operator INTEGER NOT NULL DEFAULT 0, display_name TEXT
  );
  CREATE INDEX accounts_by_chat_user ON accounts (chat_id) WHERE chat_id IS NOT NULL;
  CREATE UNIQUE INDEX accounts_by_display_name ON accounts (display_name);

  -- The owners whose suspension outlives their erasure.
  CREATE TABLE suspended_owners (hash TEXT NOT NULL PRIMARY KEY);

  -- chosen_at is when the user last chose the account at the dashboard.
  CREATE TABLE members (
    account TEXT NOT NULL REFERENCES accounts (name), chat_id TEXT NOT NULL, role TEXT NOT NULL,
    since INTEGER NOT NULL, chosen_at INTEGER, invited_by TEXT, PRIMARY KEY (account, chat_id)
  );
  CREATE INDEX members_by_chat_user ON members (chat_id);
  CREATE INDEX members_by_inviter ON members (invited_by);

  -- The global scope has no guild. has_blocks is 1 once the scope has had a block: otherwise, a write of a link need not
  -- look for one.
  CREATE TABLE scopes (
    pid TEXT NOT NULL PRIMARY KEY, account TEXT NOT NULL REFERENCES accounts (name), guild_id TEXT,
    display_name TEXT, support_url TEXT, done_text TEXT, min_game_age_days INTEGER, min_chat_age_days INTEGER,
    has_blocks INTEGER NOT NULL DEFAULT 0
  );
  CREATE UNIQUE INDEX scopes_by_target ON scopes (account, COALESCE(guild_id, ''));

  -- counts: whether the key counts towards the maximum of its account. suspended: whether its account is suspended, so
  -- that authentication reads no other table.
  CREATE TABLE keys (
    id TEXT NOT NULL PRIMARY KEY, pid TEXT NOT NULL REFERENCES scopes (pid), name TEXT NOT NULL, tier TEXT NOT NULL,
    kind TEXT NOT NULL, status TEXT NOT NULL, expires_at INTEGER, limits TEXT NOT NULL, allow_ips TEXT NOT NULL,
    deny_ips TEXT NOT NULL, redirect_origins TEXT NOT NULL, created_at INTEGER NOT NULL,
    counts INTEGER NOT NULL DEFAULT 1, access TEXT NOT NULL DEFAULT 'full', last_used_at INTEGER,
    revoked_at INTEGER, suspended INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX keys_by_scope ON keys (pid);
  CREATE INDEX keys_by_revocation ON keys (revoked_at) WHERE revoked_at IS NOT NULL;

  CREATE TABLE key_secrets (
    hash TEXT NOT NULL PRIMARY KEY, key_id TEXT NOT NULL REFERENCES keys (id), ends_at INTEGER
  );
  CREATE INDEX key_secrets_by_key ON key_secrets (key_id);

  -- This table has one row.
  CREATE TABLE root_key (id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1), wrapped TEXT NOT NULL)
`);

export const links = changeSchema(`
  -- previous_game_id: the game user that the last write replaced, because RETURNING sees only the new values of a row.
  CREATE TABLE links (
    pid TEXT NOT NULL REFERENCES scopes (pid), chat_id TEXT NOT NULL, game_id TEXT, previous_game_id TEXT,
    link_version INTEGER NOT NULL, linked_at INTEGER NOT NULL, last_verified_at INTEGER NOT NULL,
    proof TEXT, PRIMARY KEY (pid, chat_id)
  );
  CREATE INDEX links_by_game ON links (pid, game_id, linked_at DESC, chat_id) WHERE game_id IS NOT NULL;
  -- The index contains game_id so that SQLite can count links without reading the table.
  CREATE INDEX links_by_verification ON links (pid, last_verified_at DESC, chat_id, game_id)
    WHERE game_id IS NOT NULL;

  CREATE TABLE import_progress (source TEXT NOT NULL PRIMARY KEY, position INTEGER NOT NULL, saved_at INTEGER);
  CREATE INDEX import_progress_by_age ON import_progress (saved_at);

  -- What each import did, for its audit entry and its undo.
  CREATE TABLE link_imports (
    id TEXT NOT NULL PRIMARY KEY, pid TEXT NOT NULL, name TEXT NOT NULL,
    imported_at INTEGER NOT NULL, ends_at INTEGER NOT NULL,
    inserted INTEGER NOT NULL, replaced INTEGER NOT NULL, unchanged INTEGER NOT NULL, kept INTEGER NOT NULL,
    entry INTEGER, undo_entry INTEGER, removed INTEGER NOT NULL, restored INTEGER NOT NULL
  );
  CREATE INDEX link_imports_by_scope ON link_imports (pid);
  CREATE TABLE import_links (
    import_id TEXT NOT NULL, chat_id TEXT NOT NULL, game_id TEXT NOT NULL, link_version INTEGER NOT NULL,
    verified_at INTEGER NOT NULL, previous_game_id TEXT, previous_verified_at INTEGER, previous_proof TEXT,
    PRIMARY KEY (import_id, chat_id)
  );

  -- Uploaded imports, and their files in Base64.
  CREATE TABLE imports (
    id TEXT NOT NULL PRIMARY KEY, account TEXT NOT NULL UNIQUE, pid TEXT, phase TEXT NOT NULL, details TEXT NOT NULL,
    inserted INTEGER NOT NULL, replaced INTEGER NOT NULL, unchanged INTEGER NOT NULL, kept INTEGER NOT NULL,
    holder TEXT NOT NULL, held_until INTEGER NOT NULL, begun_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
    size INTEGER NOT NULL
  );
  CREATE TABLE import_parts (
    import_id TEXT NOT NULL REFERENCES imports (id) ON DELETE CASCADE, file TEXT NOT NULL, part INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (import_id, file, part)
  );

  -- user_hash is a keyed hash of the user. After an erasure of a chat user, only the hash is left of the user.
  CREATE TABLE blocks (
    pid TEXT NOT NULL REFERENCES scopes (pid), user_hash TEXT NOT NULL, chat_id TEXT, game_id TEXT, reason TEXT,
    blocked_at INTEGER NOT NULL, member TEXT, PRIMARY KEY (pid, user_hash)
  );
  CREATE INDEX blocks_by_chat ON blocks (pid, chat_id) WHERE chat_id IS NOT NULL;
  CREATE INDEX blocks_by_game ON blocks (pid, game_id) WHERE game_id IS NOT NULL;
  CREATE INDEX blocks_by_time ON blocks (pid, blocked_at)
`);

export const auditAndEvents = changeSchema(`
  CREATE TABLE audit_log (
    sequence SEQUENCE, at INTEGER NOT NULL, account TEXT NOT NULL, pid TEXT, actor_type TEXT NOT NULL,
    actor_id TEXT NOT NULL, request_id TEXT, action TEXT NOT NULL, details TEXT NOT NULL, chat_id TEXT,
    other_chat_id TEXT, member TEXT
  );
  CREATE INDEX audit_log_by_action ON audit_log (account, action, sequence);
  CREATE INDEX audit_log_by_key ON audit_log (actor_id, account, sequence) WHERE actor_type = 'key';
  CREATE INDEX audit_log_by_chat_id ON audit_log (chat_id, account, sequence) WHERE chat_id IS NOT NULL;
  CREATE INDEX audit_log_by_other_chat_id ON audit_log (other_chat_id, account, sequence)
    WHERE other_chat_id IS NOT NULL;
  CREATE INDEX audit_log_by_member ON audit_log (member) WHERE member IS NOT NULL;

  -- position is null until the event is numbered in the feed of its scope.
  CREATE TABLE events (
    sequence SEQUENCE, pid TEXT NOT NULL, position INTEGER, id TEXT NOT NULL, type TEXT NOT NULL, at INTEGER NOT NULL,
    data TEXT NOT NULL
  );
  CREATE INDEX events_by_position ON events (pid, position) WHERE position IS NOT NULL;
  CREATE INDEX events_unnumbered ON events (pid, sequence) WHERE position IS NULL;
  CREATE INDEX events_of_erasures ON events (at) WHERE type = 'user.erased';

  -- The last position that was deleted from each feed.
  CREATE TABLE feed_starts (pid TEXT NOT NULL PRIMARY KEY, position INTEGER NOT NULL)
`);

export const verification = changeSchema(`
  -- sid holds a SessionId, which is a keyed hash of the sid that clients use. changed_at is null until the first change
  -- after the creation.
  CREATE TABLE verification_sessions (
    sid TEXT NOT NULL PRIMARY KEY, key_id TEXT NOT NULL REFERENCES keys (id), pid TEXT NOT NULL REFERENCES scopes (pid),
    client_id TEXT NOT NULL, guild_id TEXT, chat_id TEXT, game_id TEXT, redirect TEXT, state TEXT NOT NULL,
    link_changed INTEGER NOT NULL, previous_game_id TEXT, error TEXT, created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL, completed_at INTEGER, change INTEGER NOT NULL, changed_at INTEGER, code_hash TEXT,
    sealed_sid TEXT, proof TEXT
  );
  CREATE UNIQUE INDEX verification_sessions_by_code ON verification_sessions (code_hash)
    WHERE state IN ('pending', 'opened');
  CREATE INDEX verification_sessions_by_user ON verification_sessions (pid, chat_id)
    WHERE state IN ('pending', 'opened');
  CREATE INDEX verification_sessions_by_deadline ON verification_sessions (expires_at)
    WHERE state IN ('pending', 'opened');
  CREATE INDEX verification_sessions_by_any_code ON verification_sessions (code_hash) WHERE code_hash IS NOT NULL;
  CREATE INDEX verification_sessions_by_key ON verification_sessions (key_id);
  CREATE INDEX verification_sessions_by_age ON verification_sessions (expires_at);
  CREATE INDEX verification_sessions_by_change ON verification_sessions (changed_at) WHERE changed_at IS NOT NULL;

  -- full_at is when the key can create a full burst of sessions again.
  CREATE TABLE session_bursts (key_id TEXT NOT NULL PRIMARY KEY REFERENCES keys (id), full_at INTEGER NOT NULL);

  -- connections and named_game_id are what the flow knows of game accounts before one is proven. word_seed is the random
  -- text from which the words for an account derive.
  CREATE TABLE verification_flows (
    id TEXT NOT NULL PRIMARY KEY, sid TEXT, pid TEXT NOT NULL REFERENCES scopes (pid), guild_id TEXT, redirect TEXT,
    chat_id TEXT, game_id TEXT, game_proof TEXT, connections TEXT, named_game_id TEXT, word_seed TEXT,
    seen_version INTEGER, expires_at INTEGER NOT NULL
  );
  CREATE INDEX verification_flows_by_user ON verification_flows (pid, chat_id) WHERE chat_id IS NOT NULL;
  CREATE INDEX verification_flows_by_deadline ON verification_flows (expires_at);

  -- The secrets of a sign-in, such as its code verifier, are not stored. They are derived from the state that the
  -- browser returns.
  CREATE TABLE sign_ins (
    state_hash TEXT NOT NULL PRIMARY KEY,
    flow_id TEXT NOT NULL REFERENCES verification_flows (id) ON DELETE CASCADE ON UPDATE CASCADE,
    step TEXT NOT NULL, expires_at INTEGER NOT NULL
  );
  CREATE INDEX sign_ins_by_flow ON sign_ins (flow_id)
`);

export const sightings = changeSchema(`
  -- A place is an address or a browser. Browsers have no sealed_address and no address_key_id.
  CREATE TABLE sightings (
    pid TEXT NOT NULL REFERENCES scopes (pid), chat_id TEXT NOT NULL, place_hash TEXT NOT NULL, sealed_address TEXT,
    address_key_id TEXT, seen_at INTEGER NOT NULL, first_seen_at INTEGER,
    PRIMARY KEY (pid, chat_id, place_hash)
  );
  CREATE INDEX sightings_by_age ON sightings (seen_at);
  CREATE INDEX sightings_by_place ON sightings (pid, place_hash, seen_at DESC, chat_id);

  -- The number of users per place. Triggers update it, so that reading the number is fast even if 100,000 people share
  -- an address.
  CREATE TABLE place_users (
    pid TEXT NOT NULL, place_hash TEXT NOT NULL, users INTEGER NOT NULL, PRIMARY KEY (pid, place_hash)
  );

  -- Pairs are unordered. The smaller chat ID comes first.
  CREATE TABLE alt_reviews (
    pid TEXT NOT NULL REFERENCES scopes (pid), chat_id TEXT NOT NULL, other_chat_id TEXT NOT NULL,
    verdict TEXT NOT NULL, note TEXT, reviewed_at INTEGER NOT NULL, key_id TEXT,
    PRIMARY KEY (pid, chat_id, other_chat_id)
  );
  CREATE INDEX alt_reviews_by_other ON alt_reviews (pid, other_chat_id);

  -- The users whom new links were found to resemble.
  CREATE TABLE suspects (
    pid TEXT NOT NULL REFERENCES scopes (pid), chat_id TEXT NOT NULL, other_chat_id TEXT NOT NULL,
    game_id TEXT NOT NULL, linked_at INTEGER NOT NULL, score INTEGER NOT NULL, evidence TEXT NOT NULL,
    PRIMARY KEY (pid, chat_id, other_chat_id)
  );
  CREATE INDEX suspects_by_other ON suspects (pid, other_chat_id);
  CREATE INDEX suspects_by_scope ON suspects (pid, linked_at);
  CREATE INDEX suspects_by_time ON suspects (linked_at)
`);
