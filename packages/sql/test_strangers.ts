/** For tests: the data of other accounts, as many as wanted. */
import { Array as Arr, Effect } from "effect";
import { SqlClient } from "effect/sql";
import { sampleRows } from "./move/test_rows.ts";

/** Tables whose rows are nodes, one root key, upgrades of the whole storage, or what a block has not removed yet. */
export const unshared = /_nodes$|^usage_meters$|^root_key$|^upgrades$|^block_removals$/;

/** Values of columns that have few, which the sample rows do not name. */
const usual: Readonly<Record<string, string | number>> = {
  role: "admin",
  tier: "free",
  kind: "normal",
  access: "full",
  proof: "hand",
  previous_proof: "hand",
  verdict: "same",
  disabled_reason: "gone",
};

const usualOfTable: Readonly<Record<string, Readonly<Record<string, string | number | null>>>> = {
  keys: { status: "active" },
  webhooks: { status: "active", disabled_reason: null, holder: "node" },
  webhook_deliveries: { status: "delivered", next_attempt_at: null, type: "link.set", error: null },
  // They changed before the time from which commands ask for changes.
  verification_sessions: { state: "completed", error: null, changed_at: -1 },
  journal: { position: 1, sequence: 1 },
  // Keys of the operator.
  sightings: { address_key_id: "key" },
  communities: { paused_why: null },
  role_plans: { holder: "node", putting_back_since: null, unlinked: "keep" },
  guild_logs: { holder: "node" },
  sign_ins: { step: "chat" },
  site_sign_ins: { site: "dashboard" },
  begun_sign_ins: { site: "dashboard" },
  usage_days: { route_group: "lookup" },
};

/** What of a sample row is a stranger's own: an ID, or a name. */
const names =
  /pid_0000000000000001|pid_0000000000000002|evt_\w+|key_\w+|\b(?:whk|imp|prv)_\d|flow 1|acme|newest|\b[1-9]0000[1-9]\b/g;

type Names = Readonly<Record<string, string>>;

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** SQL of a text for stranger `i`: `own` replaces the names that it has, and IDs of the stranger replace all others. */
const textOf = (text: string, own: Names): string => {
  const parts: Array<string> = [];
  let end = 0;
  for (const { 0: name, index } of text.matchAll(names)) {
    const known = own[name];
    parts.push(quoted(text.slice(end, index) + (known ?? name)));
    if (known === undefined) parts.push("CAST(10000000 + i AS TEXT)");
    end = index + name.length;
  }
  return [...parts, quoted(text.slice(end))].join(" || ");
};

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
}

/** The columns of each table. */
const findColumns = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const columns = yield* sql.onDialectOrElse({
    pg: () => sql<Column>`
      SELECT relname AS "table", attname AS name, format_type(atttypid, NULL) AS type
      FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped
        AND (relname, attname) <> ('journal', 'sequence') ORDER BY relname, attnum`,
    orElse: () => sql<Column>`
      SELECT tables.name AS "table", columns.name, columns.type
      FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'`,
  });
  return Arr.groupBy(columns, ({ table }) => table);
});

/** Later than everything that tests let pass. */
export const timeOfStrangers = 9_000_000_000_000;

/**
 * Adds the data of strangers, numbered from `first` to `last`: a row of every table and kind for each.
 *
 * @param own names of the sample rows that stand for existing scopes, webhooks and so on, to which the rows then belong
 */
export const addStrangers = Effect.fnUntraced(function* (
  first: number,
  last: number,
  own: Names = {},
  isMeant: (table: string) => boolean = () => true,
) {
  const sql = yield* SqlClient.SqlClient;
  const allColumns = yield* findColumns(sql);
  for (const [table, rows] of Object.entries(sampleRows)) {
    if (unshared.test(table) || !isMeant(table)) continue;
    const columns = allColumns[table] ?? [];
    for (const [number, row] of rows.entries()) {
      const valueOf = ({ name, type }: Column) => {
        // Records of one journal have positions of their own.
        if (table === "journal" && name === "position" && Object.keys(own).length > 0) return "i";
        const value = usualOfTable[table]?.[name] ?? row[name] ?? usual[name];
        const isNull = value === undefined && (usualOfTable[table]?.[name] === null || row[name] === null);
        if (isNull) return "NULL";
        if (typeof value === "string") return textOf(value, own);
        if (value !== undefined && value !== null) return String(value);
        return /int/i.test(type)
          ? `${timeOfStrangers} + i`
          : `${quoted(`${name} ${number} `)} || CAST(10000000 + i AS TEXT)`;
      };
      yield* sql.unsafe(`
        WITH RECURSIVE strangers (i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM strangers WHERE i < ${last})
        INSERT INTO ${table} (${columns.map(({ name }) => name).join(", ")})
        SELECT ${columns.map(valueOf).join(", ")} FROM strangers WHERE true ON CONFLICT DO NOTHING`);
    }
  }
  // Half of the sessions, all of which end late, are unfinished.
  yield* sql`UPDATE verification_sessions SET state = 'pending', changed_at = NULL WHERE expires_at > ${timeOfStrangers} AND expires_at % 2 = 0`;
  for (const table of ["webhook_nodes", "role_plan_nodes", "guild_log_nodes"]) {
    yield* sql.unsafe(`
      INSERT INTO ${table} (id, lives_until) VALUES ('node', ${timeOfStrangers}) ON CONFLICT (id) DO NOTHING`);
  }
}, SqlClientTransaction);

function SqlClientTransaction<A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) {
  return Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(effect));
}
