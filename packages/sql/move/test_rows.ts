/** For tests: rows that have a value in every column of every table. */
import type { DatabaseSync } from "node:sqlite";
import type { Row, RowValue } from "@accountlink/core";

const one = "pid_0000000000000001";
const two = "pid_0000000000000002";
const [ada, bob] = ["100001", "100002"];
const guild = "900001";
const community = { pid: one, guild_id: guild };
const log = `${one} ${guild}`;
const key = "key_0000000000000001";
const event = "evt_01K00000000000000000000000";
const preview = {
  id: "prv_1",
  state: "done",
  names: [{ chatId: ada, before: null, after: "Ada" }],
  examples: { linked: [], unlinked: [] },
};
const lists = { allow_ips: '["10.0.0.0/8"]', deny_ips: "[]", redirect_origins: '["https://example.org"]' };

/** Columns that no release reads any more. */
const unread = new Set(["role_plans.paused_at", "role_plans.log_channel_id", "links.previous_game_id"]);

/**
 * The tables after those that they refer to. Columns that a row leaves out get a text or a number of their own, so that
 * every column has a value.
 */
export const sampleRows: Readonly<Record<string, ReadonlyArray<Row>>> = {
  accounts: [{ name: "acme", chat_id: ada, status: "active", operator: 1 }],
  suspended_owners: [{}],
  members: [{ account: "acme", chat_id: bob, invited_by: ada, scopes: JSON.stringify([one]) }],
  scopes: [{ pid: one, account: "acme", guild_id: null, has_blocks: 1, fresh_proof: 1, one_chat_user: 1 }],
  keys: [{ id: key, pid: one, limits: '{"daily":5}', ...lists, counts: 1, revoked_at: null, suspended: 0 }],
  key_secrets: [{ hash: "newest", key_id: key, ends_at: null }, { key_id: key }],
  root_key: [{ id: 1 }],
  links: [{ pid: one, chat_id: ada }],
  blocks: [{ pid: one }],
  block_removals: [{ pid: one }],
  import_progress: [{}],
  link_imports: [{ id: "imp_1", pid: one }],
  import_links: [{ import_id: "imp_1" }],
  imports: [{ id: "imp_3", account: "acme", pid: one, phase: "running", size: 3 }],
  import_parts: [
    { import_id: "imp_3", file: "lines", part: 0, content: "YQ==" },
    { import_id: "imp_3", file: "lines", part: 1, content: "YmM=" },
  ],
  sightings: [{ pid: one, chat_id: ada }],
  alt_reviews: [{ pid: one, chat_id: ada, other_chat_id: bob }],
  suspects: [{ pid: one, chat_id: ada, other_chat_id: bob, evidence: "[]" }],
  new_links: [{ pid: one, chat_id: ada }],
  journal: [
    {
      place: one,
      event_id: event,
      action: "link.set",
      actor_type: "account",
      actor_id: "acme",
      details: JSON.stringify({ chatId: bob, newChatId: ada, gameId: "11" }),
      fields: '{"linkVersion":2}',
      chat_id: bob,
      other_chat_id: ada,
    },
  ],
  feed_starts: [{ pid: one }],
  webhooks: [
    { id: "whk_1", pid: one, types: '["link.set"]', secrets: '[{"sealed":"secret","endsAt":null}]' },
  ],
  webhook_deliveries: [{ webhook_id: "whk_1", event_id: event }],
  webhook_nodes: [{ lives_until: -30 }],
  role_plan_nodes: [{ lives_until: -31 }],
  guild_log_nodes: [{ lives_until: -32 }],
  verification_sessions: [{ key_id: key, pid: one, link_changed: 1 }],
  session_bursts: [{ key_id: key }],
  verification_flows: [{ id: "flow 1", pid: one, connections: '["11","12"]' }],
  sign_ins: [{ flow_id: "flow 1" }],
  idempotency_keys: [{ chat_ids: `["${ada}"]` }],
  day_counts: [{}],
  usage_days: [{ key_id: key }],
  usage_meters: [{}],
  begun_sign_ins: [{}],
  site_sign_ins: [{ guilds: "[]", account: "acme" }],
  communities: [
    {
      ...community,
      paused_by_type: "account",
      settings: '{"logChannelId":"800001"}',
      panels: '[{"channelId":"800002","messageId":"1","text":null}]',
    },
  ],
  role_plans: [
    {
      ...community,
      rules: JSON.stringify([{ roleId: "700001", when: "linked", nickname: null }]),
      state: "on",
      bypass_role_ids: '["700002"]',
      nickname_bypass_role_ids: '["700003"]',
      changed_days: '[{"day":20000,"rolesGiven":1,"rolesTaken":2,"nicknamesSet":3}]',
    },
  ],
  role_members: [community],
  role_problems: [
    { ...community, chat_id: ada, role_id: "" },
    { ...community, chat_id: ada, role_id: "700001" },
    { ...community, chat_id: "", role_id: "700001" },
  ],
  role_changes: [
    { ...community, chat_id: ada, change: "took", because: "link", outcome: "made", last: "took" },
  ],
  role_reversals: [{ ...community, change: "took" }],
  preview_members: [{ ...community, chat_id: ada, change: "took", kind: "linked" }],
  preview_users: [{ ...community, chat_id: ada }],
  plan_notices: [{ ...community, chat_id: ada, problems: '["no_permission 700001"]' }],
  role_previews: [{ ...community, id: "prv_1", preview: JSON.stringify(preview) }],
  guild_logs: [{ ...community, id: log, problems: '["role_missing"]' }],
  guild_log_entries: [{ log_id: log, chat_id: ada, entry: JSON.stringify({ chatId: ada }) }],
  guild_log_messages: [
    { log_id: log, message_id: "1", lines: JSON.stringify([{ text: "linked", chatIds: [ada, bob] }]) },
  ],
  guild_log_users: [ada, bob].map((chatId) => ({ log_id: log, message_id: "1", chat_id: chatId })),
  reminders: [community],
  upgrades: [{ name: "vouched_links" }],
};

/** Further rows, in which optional columns that are left out are null. */
const sparseRows: typeof sampleRows = {
  accounts: [{ name: "zeta", status: "suspended", operator: 0 }],
  members: [{ account: "acme", chat_id: ada, role: "owner" }],
  scopes: [{ pid: two, account: "zeta", guild_id: guild, has_blocks: 0, fresh_proof: 0, one_chat_user: 0 }],
  keys: [{ pid: two, limits: '"none"', ...lists, counts: 0, revoked_at: 5, suspended: 0 }],
  links: [{ pid: two, chat_id: ada }],
  blocks: [{ pid: one, game_id: "13" }],
  import_progress: [{}],
  link_imports: [{ id: "imp_2", pid: two, ends_at: 0, removed: 0, restored: 0 }],
  import_links: [{ import_id: "imp_2" }],
  sightings: [{ pid: one, chat_id: bob }],
  journal: [
    {
      place: "account acme",
      action: "account.updated",
      actor_type: "operator",
      actor_id: "cli",
      details: '{"tier":"premium"}',
    },
  ],
  idempotency_keys: [{ chat_ids: "[]" }],
};

export const sampleTables: ReadonlyArray<string> = Object.keys(sampleRows);

interface Column {
  readonly name: string;
  readonly type: string;
  readonly isOptional: boolean;
}

const columnsOf = (db: DatabaseSync, table: string): ReadonlyArray<Column> =>
  db
    .prepare(`SELECT name, type, "notnull", pk FROM pragma_table_info(?)`)
    .all(table)
    .map(({ name, type, notnull, pk }) => ({
      name: String(name),
      type: String(type),
      isOptional: notnull === 0 && pk === 0,
    }))
    .filter(({ name }) => !unread.has(`${table}.${name}`));

/** Inserts all rows into a new database. */
export const fill = (db: DatabaseSync): void => {
  let values = 0;
  const valueOf = ({ name, type }: Column): RowValue => {
    values++;
    return type === "INTEGER" ? values : `${name} ${values}`;
  };
  for (const [rows, isFull] of [
    [sampleRows, true],
    [sparseRows, false],
  ] as const) {
    for (const [table, row] of Object.entries(rows).flatMap(([name, all]) =>
      all.map((each) => [name, each] as const),
    )) {
      const columns = columnsOf(db, table);
      const places = columns.map(() => "?").join(", ");
      const inserted = columns.map((column) =>
        column.name in row
          ? (row[column.name] ?? null)
          : isFull || !column.isOptional
            ? valueOf(column)
            : null,
      );
      db.prepare(
        `INSERT INTO ${table} (${columns.map(({ name }) => name).join(", ")}) VALUES (${places})`,
      ).run(...inserted);
    }
  }
};
