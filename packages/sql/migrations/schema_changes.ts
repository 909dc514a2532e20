import { Record } from "effect";
import { changeSchema } from "./change_schema.ts";

/** The steps that change the schema alone. */
export const schemaChanges = Record.map(
  {
    /** Lets a community ask for a proof of its own. */
    "0023_fresh_proof": "ALTER TABLE scopes ADD COLUMN fresh_proof INTEGER NOT NULL DEFAULT 0",
    /** Adds the blocked game users whose links are being removed in steps. */
    "0024_block_removals": `
      -- entry is the sequence number of the audit entry of the block.
      CREATE TABLE block_removals (
        pid TEXT NOT NULL REFERENCES scopes (pid), game_id TEXT NOT NULL, entry INTEGER NOT NULL,
        PRIMARY KEY (pid, game_id)
      )
    `,
    "0025_bypass_roles": `
      -- JSON lists of role IDs. bypass_role_ids is null in rows that only bypass_role_id describes.
      ALTER TABLE role_plans ADD COLUMN bypass_role_ids TEXT;
      ALTER TABLE role_plans ADD COLUMN nickname_bypass_role_ids TEXT
    `,
    "0027_member_scopes": `
      -- A JSON list of the scopes of which the member sees something; null for all.
      ALTER TABLE members ADD COLUMN scopes TEXT
    `,
    "0028_replaced_nicknames": `
      -- The nickname that the plan replaced, null for none, and when. replaced_at is null if the plan replaced nothing lately.
      ALTER TABLE role_members ADD COLUMN replaced_nickname TEXT;
      ALTER TABLE role_members ADD COLUMN replaced_at INTEGER;
      CREATE INDEX role_members_by_replaced_at ON role_members (replaced_at) WHERE replaced_at IS NOT NULL
    `,
    "0029_reminders": `
      -- hash is a keyed hash of the member, so that an erasure leaves it.
      CREATE TABLE reminders (
        pid TEXT NOT NULL, guild_id TEXT NOT NULL, hash TEXT NOT NULL, at INTEGER NOT NULL,
        PRIMARY KEY (pid, guild_id, hash)
      );
      CREATE INDEX reminders_by_time ON reminders (pid, guild_id, at)
    `,
    "0030_proven_at": `
      -- When the account of a link was proven, if a write without a proof has confirmed the link since; else null.
      ALTER TABLE links ADD COLUMN proven_at INTEGER;
      ALTER TABLE import_links ADD COLUMN previous_proven_at INTEGER
    `,
    /** Adds the erasures that steps have begun, and the order in which the steps find the records that name a user. */
    "0031_erasures": `
      -- step_at is the time of the last step.
      CREATE TABLE erasures (
        chat_id TEXT NOT NULL PRIMARY KEY, pseudonym TEXT NOT NULL, actor_type TEXT NOT NULL, actor_id TEXT NOT NULL,
        member TEXT, request_id TEXT, step_at INTEGER NOT NULL
      );
      CREATE INDEX journal_of_member ON journal (member, sequence) WHERE member IS NOT NULL;
      CREATE INDEX journal_of_account ON journal (actor_id, sequence) WHERE actor_type = 'account';
      DROP INDEX journal_by_member
    `,
    "0032_plan_work": `
      -- What the plan changed on each of the last days, a JSON array; null until it has changed a member.
      ALTER TABLE role_plans ADD COLUMN changed_days TEXT;
      -- When somebody asked to put nicknames back; null if nobody did.
      ALTER TABLE role_plans ADD COLUMN putting_back_since INTEGER;
      CREATE INDEX role_plans_by_putting_back ON role_plans (putting_back_since) WHERE putting_back_since IS NOT NULL
    `,
    /** Indexes by chat user, for what a user asks of all scopes: without them, each scope of the service costs a lookup. */
    "0033_by_chat_user": `
      CREATE INDEX links_by_user ON links (chat_id);
      CREATE INDEX sightings_by_user ON sightings (chat_id);
      CREATE INDEX verification_flows_by_chat_user ON verification_flows (chat_id) WHERE chat_id IS NOT NULL;
      CREATE INDEX verification_sessions_by_chat_user ON verification_sessions (chat_id) WHERE chat_id IS NOT NULL;
      CREATE INDEX alt_reviews_by_user ON alt_reviews (chat_id);
      CREATE INDEX alt_reviews_by_other_user ON alt_reviews (other_chat_id, pid);
      DROP INDEX alt_reviews_by_other;
      CREATE INDEX suspects_by_user ON suspects (chat_id);
      CREATE INDEX suspects_by_other_user ON suspects (other_chat_id, pid);
      DROP INDEX suspects_by_other;
      CREATE INDEX blocks_by_chat_user ON blocks (chat_id, pid) WHERE chat_id IS NOT NULL;
      DROP INDEX blocks_by_chat;
      CREATE INDEX blocks_by_member ON blocks (member) WHERE member IS NOT NULL
    `,
    "0034_undo": `
      -- When the link that an import replaced was made; null in imports of earlier releases.
      ALTER TABLE import_links ADD COLUMN previous_linked_at INTEGER;
      -- When the link was made that the last write removed; null after any other write.
      ALTER TABLE links ADD COLUMN removed_linked_at INTEGER
    `,
    /** A member of a guild is reminded once, whichever scope of the guild reminds. */
    "0038_guild_reminders": `
      CREATE INDEX reminders_by_member ON reminders (guild_id, hash);
      CREATE INDEX reminders_of_guild ON reminders (guild_id, at);
      DROP INDEX reminders_by_time
    `,
    /** Lets a community allow one chat user for each game account. */
    "0039_one_chat_user": "ALTER TABLE scopes ADD COLUMN one_chat_user INTEGER NOT NULL DEFAULT 0",
    /** Which roles the rules gave members and took from them, and what of it is being reversed. */
    "0040_role_history": `
      CREATE TABLE role_changes (
        pid TEXT NOT NULL,
        guild_id TEXT NOT NULL,
        number INTEGER NOT NULL,
        chat_id TEXT NOT NULL,
        role_id TEXT NOT NULL,
        change TEXT NOT NULL,
        at INTEGER NOT NULL,
        because TEXT NOT NULL,
        outcome TEXT NOT NULL,
        last TEXT,
        kept_until INTEGER,
        PRIMARY KEY (pid, guild_id, number)
      );
      CREATE INDEX role_changes_by_last ON role_changes (pid, guild_id, last, role_id, at, number) WHERE last IS NOT NULL;
      CREATE INDEX role_changes_by_user ON role_changes (chat_id, pid, guild_id, role_id, number);
      CREATE INDEX role_changes_by_end ON role_changes (kept_until) WHERE kept_until IS NOT NULL;
      CREATE TABLE role_reversals (
        pid TEXT NOT NULL,
        guild_id TEXT NOT NULL,
        role_id TEXT NOT NULL,
        change TEXT NOT NULL,
        at INTEGER NOT NULL,
        number INTEGER NOT NULL,
        PRIMARY KEY (pid, guild_id, role_id, change)
      )
    `,
    /** Remembers which changes of stored data a release has made in the background. */
    "0041_upgrades":
      "CREATE TABLE upgrades (name TEXT NOT NULL PRIMARY KEY, rounds INTEGER NOT NULL, at INTEGER NOT NULL)",
    /** The members who gain or lose a role by the preview of rules. */
    "0042_preview_members": `
      CREATE TABLE preview_members (
        pid TEXT NOT NULL,
        guild_id TEXT NOT NULL,
        preview TEXT NOT NULL,
        role_id TEXT NOT NULL,
        chat_id TEXT NOT NULL,
        change TEXT NOT NULL,
        kind TEXT NOT NULL,
        kept_until INTEGER NOT NULL,
        PRIMARY KEY (pid, guild_id, preview, role_id, chat_id)
      );
      CREATE INDEX preview_members_by_role ON preview_members (pid, guild_id, preview, change, role_id, chat_id);
      CREATE INDEX preview_members_by_user ON preview_members (chat_id);
      CREATE INDEX preview_members_by_end ON preview_members (kept_until)
    `,
    /** Who turned the rules of a community on, and is told when they stop without them. */
    "0043_plan_notices": `
      CREATE TABLE plan_notices (
        pid TEXT NOT NULL,
        guild_id TEXT NOT NULL,
        chat_id TEXT,
        key_id TEXT,
        told_at INTEGER,
        due_at INTEGER,
        problem_at INTEGER,
        problems TEXT NOT NULL,
        PRIMARY KEY (pid, guild_id)
      );
      CREATE INDEX plan_notices_by_user ON plan_notices (chat_id, pid, guild_id) WHERE chat_id IS NOT NULL;
      CREATE INDEX plan_notices_by_due ON plan_notices (due_at, pid, guild_id) WHERE due_at IS NOT NULL
    `,
    /** Which changes of a plan's problems were not looked at yet. */
    "0044_unseen_problems": `
      ALTER TABLE plan_notices ADD COLUMN unseen_at INTEGER;
      CREATE INDEX plan_notices_unseen ON plan_notices (unseen_at, pid, guild_id) WHERE unseen_at IS NOT NULL
    `,
    /** An index of the communities that remind their members, which one node looks for every few seconds. */
    "0045_reminding":
      "CREATE INDEX communities_reminding ON communities (pid, guild_id) WHERE settings ->> 'remindAfterDays' IS NOT NULL",
    /** The users named by previews of rules, one row each, so that the erasure of a user finds the previews. */
    "0046_preview_users": `
      CREATE TABLE preview_users (
        pid TEXT NOT NULL,
        guild_id TEXT NOT NULL,
        chat_id TEXT NOT NULL,
        kept_until INTEGER NOT NULL,
        PRIMARY KEY (pid, guild_id, chat_id)
      );
      CREATE INDEX preview_users_by_user ON preview_users (chat_id, pid, guild_id);
      CREATE INDEX preview_users_by_end ON preview_users (kept_until)
    `,
    /** An index of undone imports, which each node looks through every few seconds; no previews that an erasure cannot find. */
    "0047_undone_imports": `
      CREATE INDEX link_imports_undone ON link_imports (ends_at) WHERE undo_entry IS NOT NULL;
      -- Earlier releases did not store the users whom previews name in preview_users.
      DELETE FROM role_previews
    `,
    /** An index of problems by cause, which lists each cause of a plan once. */
    "0048_problems_by_cause": `
      CREATE INDEX role_problems_by_cause ON role_problems (pid, guild_id, reason, role_id, at DESC, chat_id)
    `,
    /** Links that users made in the flow, until a node has counted their alts. */
    "0050_new_links": `
      CREATE TABLE new_links (
        pid TEXT NOT NULL,
        chat_id TEXT NOT NULL,
        game_id TEXT NOT NULL,
        linked_at INTEGER NOT NULL,
        due_at INTEGER NOT NULL,
        PRIMARY KEY (pid, chat_id)
      );
      CREATE INDEX new_links_by_user ON new_links (chat_id, pid);
      CREATE INDEX new_links_by_due ON new_links (due_at, pid, chat_id)
    `,
    /** When the undo of an import changed links last. */
    "0051_undone_at": "ALTER TABLE link_imports ADD COLUMN undone_at INTEGER",
    /** Indexes by the node that works on rows, which each node looks for every second. */
    "0053_by_holder": `
      CREATE INDEX webhooks_by_holder ON webhooks (holder, id);
      CREATE INDEX role_plans_by_holder ON role_plans (holder, pid, guild_id) WHERE state = 'on';
      CREATE INDEX guild_logs_by_holder ON guild_logs (holder, id)
    `,
    /** An index of the imports that an erasure looks through, beside those of the scopes in which the user has links. */
    "0054_deleted_imports":
      "CREATE INDEX link_imports_deleted ON link_imports (ends_at, id) WHERE ends_at = 0",
    /** Accounts for entries that earlier builds moved to a pseudonym before it had one. A move refuses entries of none. */
    "0055_accounts_of_entries": `
      INSERT INTO accounts (name, tier)
      SELECT DISTINCT SUBSTR(place, 9), 'free' FROM journal WHERE place > 'account ' AND place < 'account!'
      ON CONFLICT (name) DO NOTHING
    `,
  },
  changeSchema,
);
