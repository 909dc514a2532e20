import { type ApiKey, KeyId } from "@accountlink/core";
import type { AuditAction, WriteOrigin } from "@accountlink/core/audit";
import {
  earlierEnd,
  type KeyDetails,
  type KeyStatus,
  KeyStore,
  keyAccesses,
  type PresentedKey,
  updatedKey,
} from "@accountlink/core/keys";
import type { KeyKind } from "@accountlink/core/limits";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Array as Arr, Effect, Schema } from "effect";
import { type SqlError, type Statement } from "effect/sql";
import { insertEntry } from "../journal/records.ts";
import { batchedLookup } from "../statements/batching.ts";
import { batchSize, inBatches } from "../statements/in_batches.ts";
import { columnReader, literalSql, literalsOf, OptionalInt, tableOf } from "../statements/row.ts";
import { rollBack, storeLayer } from "../statements/store_operation.ts";
import { endAccountOn } from "./account_deletion.ts";
import {
  accountColumns,
  accountOperations,
  readAccounts,
  readKeyIds,
  scopeFields,
  Tiers,
  withScope,
} from "./accounts.ts";

export const layer = storeLayer(KeyStore)((parts) => {
  const {
    sql,
    connection,
    operation,
    transaction,
    elements,
    forUpdate,
    forUpdateOf,
    forUpdateUnlocked,
    isAmong,
    rowsWritten,
  } = parts;

  // Every request needs a key, so the lookups of keys are prepared once, and share a statement on Postgres.
  const byHash = (hash: Statement.Fragment) => sql`
    SELECT ${keyColumns}, key_secrets.hash, key_secrets.ends_at AS secret_ends_at
    FROM ${keyTables} JOIN key_secrets ON key_secrets.key_id = keys.id
    WHERE key_secrets.hash = ${hash}`;
  const [one] = byHash(sql`${""}`).compile();
  // The LIMIT forces index lookups; a plain join would scan small tables.
  const [several] = sql`
    SELECT found.* FROM ${elements("")} CROSS JOIN LATERAL (${byHash(sql.literal("value ->> 0"))} LIMIT 1) AS found`.compile();
  const presented = batchedLookup<[hash: string]>(parts, {
    columns: ["hash"],
    one: (hash) => connection.execute(one, [hash], undefined),
    several: (hashes) => connection.execute(several, [JSON.stringify(hashes)], undefined),
  });

  const detailsAt = (at: Millis) => sql`
    ${keyColumns}, keys.last_used_at, keys.revoked_at, (
      SELECT MAX(ends_at) FROM key_secrets
      WHERE key_id = keys.id AND ends_at > ${at} AND (keys.expires_at IS NULL OR keys.expires_at > ${at})
    ) AS previous_secret_ends_at`;

  /** Counts the keys that count towards the maximum of an account, revoked ones too. */
  const countedKeys = (account: string) => sql`
    SELECT COUNT(*) AS count FROM keys JOIN scopes ON scopes.pid = keys.pid
    WHERE scopes.account = ${account} AND keys.counts = 1`;

  const countKeys = (account: string) => sql`${countedKeys(account)} AND keys.status <> 'revoked'`;

  const forgetSome = Effect.fnUntraced(function* (before: Millis) {
    const ids = JSON.stringify(
      yield* readKeyIds(sql`
        SELECT id FROM keys
        WHERE revoked_at < ${before}
          AND NOT EXISTS (SELECT 1 FROM verification_sessions WHERE verification_sessions.key_id = keys.id)
        ORDER BY revoked_at LIMIT ${batchSize} ${forUpdateUnlocked}`),
    );
    yield* sql`DELETE FROM key_secrets WHERE key_id ${isAmong(ids)}`;
    yield* sql`DELETE FROM session_bursts WHERE key_id ${isAmong(ids)}`;
    return rowsWritten(yield* sql`DELETE FROM keys WHERE id ${isAmong(ids)}`.raw);
  }, sql.withTransaction);

  const find = (id: KeyId, lock: Statement.Fragment = sql``) =>
    readKeys(sql`SELECT ${keyColumns} FROM ${keyTables} WHERE keys.id = ${id} ${lock}`);

  const findForUpdate = (id: KeyId) => find(id, forUpdateOf("keys"));

  const insertSecret = (id: KeyId, hash: string) =>
    sql`INSERT INTO key_secrets (hash, key_id) VALUES (${hash}, ${id})`;

  const insertChange = (
    { actor, requestId, at }: WriteOrigin & { readonly at: Millis },
    { id, status, scope: { pid } }: ApiKey,
    action: AuditAction,
  ) => insertEntry(sql, { actor, requestId, at, pid, action, details: { keyId: id, status } });

  return {
    ...accountOperations(parts),

    endAccount: endAccountOn(parts),

    findByHash: operation("findByHash", (hash) => {
      assertStorable([hash]);
      return Effect.map(readPresentedKeys(presented(hash)), Arr.head);
    }),

    findById: operation("findById", (id) => Effect.map(find(id), Arr.head)),

    findDetails: operation("findDetails", (id, at) =>
      Effect.map(readDetails(sql`SELECT ${detailsAt(at)} FROM ${keyTables} WHERE keys.id = ${id}`), Arr.head),
    ),

    acceptedAmong: operation("acceptedAmong", (ids, at) =>
      readKeyIds(sql`
        SELECT id FROM keys
        WHERE id ${isAmong(JSON.stringify(ids))} AND status = 'active' AND suspended = 0
          AND (expires_at IS NULL OR expires_at > ${at})`),
    ),

    listKeys: operation("listKeys", (account, at, some = "all") => {
      assertStorable([account ?? ""]);
      const isOwn = account === null ? sql`1 = 1` : sql`scopes.account = ${account}`;
      const isMeant = some === "all" ? isOwn : sql`${isOwn} AND keys.status <> 'revoked'`;
      return readDetails(sql`
        SELECT ${detailsAt(at)} FROM ${keyTables} WHERE ${isMeant} ORDER BY keys.created_at, keys.id`);
    }),

    listAccepted: operation("listAccepted", (pid, at) =>
      readKeys(sql`
        SELECT ${keyColumns} FROM ${keyTables}
        WHERE keys.pid = ${pid} AND status = 'active' AND suspended = 0 AND (expires_at IS NULL OR expires_at > ${at})
        ORDER BY keys.id`),
    ),

    forgetRevoked: operation("forgetRevoked", function* (before) {
      yield* inBatches(forgetSome(before));
    }),

    hasKeys: operation("hasKeys", function* (account) {
      assertStorable([account]);
      const found = yield* readKeyIds(sql`
        SELECT keys.id FROM keys JOIN scopes ON scopes.pid = keys.pid WHERE scopes.account = ${account} LIMIT 1`);
      return found.length > 0;
    }),

    countKeys: operation("countKeys", function* (account) {
      assertStorable([account]);
      const [count = 0] = yield* readCounts(countKeys(account));
      return count;
    }),

    insertKey: transaction("insertKey", function* (write) {
      const { key, hash, maxKeys, rate, at } = write;
      assertStorable([hash, key.name, ...key.allowIps, ...key.denyIps, ...key.redirectOrigins]);
      // Lock the account, so that its keys are created one after another. Then the count of keys is exact, and a
      // suspension cannot miss a new key.
      const [account] = yield* readAccounts(
        sql`SELECT ${accountColumns} FROM accounts WHERE name = ${key.scope.account} ${forUpdate}`,
      );
      const row = {
        id: key.id,
        pid: key.scope.pid,
        ...changeableColumns(key, at),
        suspended: account?.status === "suspended" ? 1 : 0,
        created_at: key.createdAt,
        counts: maxKeys === null ? 0 : 1,
      };
      yield* Effect.andThen(sql`INSERT INTO keys ${sql.insert(row)}`, insertSecret(key.id, hash)).pipe(
        Effect.catchIf(isTaken, () => rollBack("exists")),
      );
      if (maxKeys !== null) {
        const others = sql`${countKeys(key.scope.account)} AND keys.id <> ${key.id}`;
        const [count = 0] = yield* readCounts(others);
        if (count >= maxKeys) return yield* rollBack("too_many_keys");
        if (rate !== undefined) {
          const made = sql`${countedKeys(key.scope.account)} AND keys.created_at >= ${rate.since} AND keys.id <> ${key.id}`;
          const [number = 0] = yield* readCounts(made);
          if (number >= rate.max) return yield* rollBack("too_many_made");
        }
      }
      yield* insertChange(write, key, "key.created");
      return "inserted";
    }),

    rotateKey: transaction("rotateKey", function* (write) {
      const { id, hash, previousUntil, madeBy = null } = write;
      assertStorable([hash]);
      const [key] = yield* findForUpdate(id);
      if (key === undefined || key.status === "revoked") return false;
      // Of the earlier secrets, only the last one stays good.
      yield* sql`DELETE FROM key_secrets WHERE key_id = ${id} AND ends_at IS NOT NULL`;
      yield* sql`UPDATE key_secrets SET ends_at = ${previousUntil} WHERE key_id = ${id}`;
      yield* insertSecret(id, hash);
      if (madeBy !== null) yield* sql`UPDATE keys SET made_by = ${madeBy} WHERE id = ${id}`;
      yield* insertChange(write, key, "key.rotated");
      return true;
    }),

    updateKey: transaction("updateKey", function* ({ id, update, action: asked, actor, requestId, at }) {
      const { name = "", allowIps = [], denyIps = [], redirectOrigins = [] } = update;
      assertStorable([name, ...allowIps, ...denyIps, ...redirectOrigins]);
      const [stored] = yield* findForUpdate(id);
      if (stored === undefined) return "unknown";
      if (stored.status === "revoked") return "revoked";
      const updated = updatedKey(stored, update, asked);
      if (updated === null) return "unchanged";
      const { key, action, details } = updated;
      const counts = key.kind === stored.kind ? {} : { counts: key.kind === "normal" ? 1 : 0 };
      yield* sql`UPDATE keys SET ${sql.update({ ...changeableColumns(key, at), ...counts })} WHERE id = ${id}`;
      const { pid } = key.scope;
      yield* insertEntry(sql, { actor, requestId, at, pid, action, details });
      return "updated";
    }),
  };
});

const isTaken = (error: SqlError.SqlError): boolean => error.reason._tag === "UniqueViolation";

const Texts = Schema.fromJsonString(Schema.Array(Schema.String));

const keyFields = {
  ...scopeFields,
  id: KeyId,
  name: Schema.String,
  tier: Tiers,
  kind: literalsOf<KeyKind>({ normal: true, partner: true, staff: true }),
  access: Schema.Literals(keyAccesses),
  status: literalsOf<KeyStatus>({ active: true, disabled: true, revoked: true }),
  suspended: Schema.BooleanFromBit,
  expiresAt: OptionalInt,
  limits: Schema.fromJsonString(
    Schema.Union([
      Schema.Literal("none"),
      Schema.Struct({
        perWindow: Schema.optionalKey(Schema.Finite),
        windowMs: Schema.optionalKey(Schema.Finite),
        daily: Schema.optionalKey(Schema.Finite),
        verifyDaily: Schema.optionalKey(Schema.Finite),
      }),
    ]),
  ),
  allowIps: Texts,
  denyIps: Texts,
  redirectOrigins: Texts,
  createdAt: Schema.Int,
  madeBy: Schema.NullOr(Schema.String),
};

const keyColumns = literalSql(`
  keys.id, keys.name, keys.tier, keys.kind, keys.access, keys.status, keys.suspended, keys.expires_at, keys.limits,
  keys.allow_ips, keys.deny_ips, keys.redirect_origins, keys.created_at, keys.made_by, scopes.pid, scopes.account, scopes.guild_id`);

const keyTables = literalSql("keys JOIN scopes ON scopes.pid = keys.pid");

const changeableColumns = (key: ApiKey, at: Millis) => ({
  name: key.name,
  tier: key.tier,
  kind: key.kind,
  access: key.access,
  status: key.status,
  revoked_at: key.status === "revoked" ? at : null,
  expires_at: key.expiresAt,
  limits: JSON.stringify(key.limits),
  allow_ips: JSON.stringify(key.allowIps),
  deny_ips: JSON.stringify(key.denyIps),
  redirect_origins: JSON.stringify(key.redirectOrigins),
  made_by: key.madeBy,
});

const readKeys = tableOf("keys", keyFields).reader((key): ApiKey => withScope(key));

const readDetails = tableOf("keys", {
  ...keyFields,
  lastUsedAt: OptionalInt,
  revokedAt: OptionalInt,
  previousSecretEndsAt: OptionalInt,
}).reader(
  ({ previousSecretEndsAt: endsAt, ...key }): KeyDetails => ({
    ...withScope(key),
    previousSecretEndsAt: endsAt === null ? null : earlierEnd(key.expiresAt, endsAt),
  }),
);

/** Reads the key of a presented secret, and when the secret expires, which is never later than the key. */
const readPresentedKeys = tableOf("keys", { ...keyFields, secretEndsAt: OptionalInt }).reader(
  ({ secretEndsAt, ...key }): PresentedKey => ({
    key: withScope(key),
    endsAt: earlierEnd(key.expiresAt, secretEndsAt),
  }),
);

const readCounts = columnReader("keys", "count", Schema.Int);
