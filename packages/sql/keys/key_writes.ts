/** The writes of `KeyStore`, each a transaction with its audit entry. */
import type { ApiKey, KeyId } from "@accountlink/core";
import type { AuditAction, WriteOrigin } from "@accountlink/core/audit";
import {
  type InsertKey,
  type KeyStore,
  type RotateKey,
  type UpdateKey,
  updatedKey,
} from "@accountlink/core/keys";
import type { Millis } from "@accountlink/core/timestamp";
import { Data, Effect } from "effect";
import type { SqlClient, SqlError } from "effect/sql";
import { insertEntry, ownerOf } from "../audit/audit_entry.ts";
import { dialectOf } from "../statements/dialect.ts";
import { storeOperation } from "../statements/store_operation.ts";
import {
  accountColumns,
  type KeyState,
  keyColumns,
  keyTables,
  readAccounts,
  readCounts,
  readKeys,
  readStates,
} from "./key_row.ts";

/** Makes a transaction fail, so that it is rolled back. The field `answer` is the result of the write. */
class Refused extends Data.TaggedError("Refused")<{ readonly answer: "exists" | "too_many_keys" }> {}

export const keyWrites = (
  sql: SqlClient.SqlClient,
): Pick<KeyStore["Service"], "insertKey" | "rotateKey" | "updateKey"> => {
  const insertKey = insertKeyOn(sql);
  const rotateKey = rotateKeyOn(sql);
  const updateKey = updateKeyOn(sql);
  return {
    insertKey: (write) => {
      const { name, allowIps, denyIps, redirectOrigins } = write.key;
      return insertKey(write).pipe(
        Effect.catchTag("Refused", ({ answer }) => Effect.succeed(answer)),
        storeOperation("KeyStore.insertKey", write.hash, name, ...allowIps, ...denyIps, ...redirectOrigins),
      );
    },
    rotateKey: (write) => rotateKey(write).pipe(storeOperation("KeyStore.rotateKey", write.hash)),
    updateKey: (write) => {
      const { name = "", allowIps = [], denyIps = [], redirectOrigins = [] } = write.update;
      return updateKey(write).pipe(
        storeOperation("KeyStore.updateKey", name, ...allowIps, ...denyIps, ...redirectOrigins),
      );
    },
  };
};

/** Counts the keys that count towards the maximum of an account. */
export const countKeys = (sql: SqlClient.SqlClient, account: string) => sql`
  SELECT COUNT(*) AS count FROM keys JOIN scopes ON scopes.pid = keys.pid
  WHERE scopes.account = ${account} AND keys.counts = 1 AND keys.status <> 'revoked'`;

const insertKeyOn = (sql: SqlClient.SqlClient) => {
  const { forUpdate } = dialectOf(sql);
  const { insertWithSecret } = keyStatements(sql);
  return Effect.fnUntraced(function* (write: InsertKey) {
    const { key, maxKeys } = write;
    // Lock the account, so that its keys are created one after another. Then the count of keys is exact, and a
    // suspension cannot miss a new key.
    const [account] = yield* Effect.flatMap(
      sql`SELECT ${accountColumns} FROM accounts WHERE name = ${key.scope.account} ${forUpdate}`,
      readAccounts,
    );
    const suspended = account?.status === "suspended";
    yield* Effect.catchIf(
      insertWithSecret(write, suspended),
      isTaken,
      () => new Refused({ answer: "exists" }),
    );
    if (maxKeys !== null) {
      const others = sql`${countKeys(sql, key.scope.account)} AND keys.id <> ${key.id}`;
      const [count = 0] = yield* Effect.flatMap(others, readCounts);
      if (count >= maxKeys) return yield* new Refused({ answer: "too_many_keys" });
    }
    yield* insertChange(sql, write, { id: key.id, status: key.status, pid: key.scope.pid }, "key.created");
    return "inserted" as const;
  }, sql.withTransaction);
};

const rotateKeyOn = (sql: SqlClient.SqlClient) => {
  const { forUpdate } = dialectOf(sql);
  const { insertSecret } = keyStatements(sql);
  return Effect.fnUntraced(function* (write: RotateKey) {
    const { id, hash, previousUntil } = write;
    const [key] = yield* sql`
      SELECT id, status, pid FROM keys WHERE id = ${id} AND status <> 'revoked' ${forUpdate}`.pipe(
      Effect.flatMap(readStates),
    );
    if (key === undefined) return false;
    yield* sql`
      UPDATE key_secrets SET ends_at = ${previousUntil}
      WHERE key_id = ${id} AND (ends_at IS NULL OR ends_at > ${previousUntil})`;
    yield* insertSecret(id, hash);
    yield* insertChange(sql, write, key, "key.rotated");
    return true;
  }, sql.withTransaction);
};

const updateKeyOn = (sql: SqlClient.SqlClient) => {
  const { forUpdate } = dialectOf(sql);
  return Effect.fnUntraced(function* (write: UpdateKey) {
    const { id, actor, requestId, at } = write;
    const [state] = yield* Effect.flatMap(
      sql`SELECT id, status, pid FROM keys WHERE id = ${id} ${forUpdate}`,
      readStates,
    );
    if (state?.status === "revoked") return "revoked" as const;
    const [stored] = yield* Effect.flatMap(
      sql`SELECT ${keyColumns} FROM ${keyTables} WHERE keys.id = ${id}`,
      readKeys,
    );
    if (stored === undefined) return "unknown" as const;
    const updated = updatedKey(stored, write.update, write.action);
    if (updated === null) return "unchanged" as const;
    const { key, action, details } = updated;
    const counts = key.kind === stored.kind ? {} : { counts: key.kind === "normal" ? 1 : 0 };
    yield* sql`UPDATE keys SET ${sql.update({ ...changeableColumns(key, at), ...counts })} WHERE id = ${id}`;
    const { pid, account } = key.scope;
    yield* insertEntry(sql, { actor, requestId, at, account, pid, action, details });
    return "updated" as const;
  }, sql.withTransaction);
};

const insertChange = (
  sql: SqlClient.SqlClient,
  { actor, requestId, at }: WriteOrigin & { readonly at: Millis },
  { id, status, pid }: KeyState,
  action: AuditAction,
) => {
  const details = { keyId: id, status };
  return insertEntry(sql, { actor, requestId, at, account: ownerOf(sql, pid), pid, action, details });
};

const isTaken = (error: SqlError.SqlError): boolean => error.reason._tag === "UniqueViolation";

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
});

const keyStatements = (sql: SqlClient.SqlClient) => {
  const insertSecret = (id: KeyId, hash: string) =>
    sql`INSERT INTO key_secrets (hash, key_id) VALUES (${hash}, ${id})`;
  return {
    insertSecret,

    insertWithSecret: ({ key, hash, maxKeys, at }: InsertKey, suspended: boolean) =>
      Effect.andThen(
        sql`INSERT INTO keys ${sql.insert({
          id: key.id,
          pid: key.scope.pid,
          ...changeableColumns(key, at),
          suspended: suspended ? 1 : 0,
          created_at: key.createdAt,
          counts: maxKeys === null ? 0 : 1,
        })}`,
        insertSecret(key.id, hash),
      ),
  };
};
