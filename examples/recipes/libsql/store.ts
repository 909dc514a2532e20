/** Storage on libSQL: a file, a server, or Turso, with its client. */
import { layerSqliteDatabase, type SqliteDatabase } from "@accountlink/storage-sql/sqlite_database";
import { createClient, type InValue, type ResultSet } from "@libsql/client";

type Params = Parameters<SqliteDatabase["execute"]>[1];

/**
 * How long a call waits while another process writes, in milliseconds. libSQL blocks the process meanwhile, but to
 * repeat what failed with SQLITE_BUSY is worse: a later COMMIT fails for "SQL statements in progress".
 */
const timeout = 5_000;

/** libSQL binds numbers as REAL, and only a bigint as INTEGER. */
const argsOf = (params: Params): Array<InValue> =>
  params.map((value) =>
    typeof value === "boolean" || Number.isSafeInteger(value) ? BigInt(value as number) : value,
  );

const resultOf = ({ rows, rowsAffected }: ResultSet) => ({ rows, changes: rowsAffected });

/**
 * The client has connections of its own for transactions, and enforces foreign keys on all of them.
 *
 * @param url such as `file:links.db` or `libsql://…`
 */
export const openLibsql = async (url: string): Promise<SqliteDatabase> => {
  const client = createClient({ url, timeout });
  try {
    if (url.startsWith("file:")) await client.execute("PRAGMA journal_mode = WAL");
  } catch (error) {
    client.close();
    throw error;
  }
  return {
    execute: async (sql, params) => resultOf(await client.execute({ sql, args: argsOf(params) })),
    begin: async () => {
      const transaction = await client.transaction("write");
      return {
        execute: async (sql, params) => resultOf(await transaction.execute({ sql, args: argsOf(params) })),
        commit: () => transaction.commit(),
        rollback: async () => transaction.close(),
      };
    },
    close: async () => client.close(),
  };
};

export const layerLibsql = (url: string) => layerSqliteDatabase(url, () => openLibsql(url));
