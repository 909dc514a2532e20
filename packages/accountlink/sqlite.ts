/**
 * Stores links in an SQLite database in a local folder, for one process. Requires `node:sqlite`: Node 22.13 or newer,
 * Deno or Bun.
 */

import type { StoreUnavailable } from "@accountlink/core";
import { CacheMemory } from "@accountlink/memory";
import { StorageSql } from "@accountlink/sql";
import { Layer, Predicate } from "effect";
import * as AccountLink from "./account_link.ts";
import { InvalidOptions, type Secret, type Settings } from "./options.ts";
import type { Storage } from "./storage.ts";

/** Why a data folder cannot be opened. */
export type SqliteError = InvalidOptions | StorageSql.EmbeddedError | StoreUnavailable;

/**
 * An SQLite database in a folder, which the accountlink server can open too. Only one process at a time can open it;
 * another fails with `DataFolderInUse`. Acknowledged writes survive `kill -9` and a power loss.
 *
 * @param folder the path; created if it does not exist
 * @example
 * ```ts
 * import { createAccountLink } from "accountlink";
 *
 * const secret = crypto.getRandomValues(new Uint8Array(32));
 * const storage = sqlite("example-links");
 * const al = await createAccountLink({ storage, secret, gameUserExists: () => true });
 * await al.close();
 * ```
 */
export const sqlite = (folder: string): Storage<SqliteError> =>
  // Plain JavaScript may leave the folder out.
  Predicate.isString(folder) && folder !== ""
    ? Layer.provideMerge(CacheMemory.layerSaved, StorageSql.layerEmbedded({ folder }))
    : Layer.unwrap(new InvalidOptions({ problems: ["storage has no folder, expected its path"] }));

/**
 * Provides every service. The links are stored in an SQLite database in a folder.
 *
 * @example
 * ```ts
 * import { Links, SecretRejected } from "accountlink";
 * import { Effect } from "effect";
 *
 * const serviceWith = (byte: number) =>
 *   layerSqlite("example-data", { secret: new Uint8Array(32).fill(byte), gameUserExists: () => true });
 * const link = Effect.flatMap(Links, (links) => links.set("100001", "1"));
 * (await Effect.runPromise(Effect.provide(link, serviceWith(1)))).gameId; // "1"
 * const refused = await Effect.runPromise(Effect.flip(Effect.provide(link, serviceWith(2))));
 * refused instanceof SecretRejected; // true
 * ```
 */
export const layerSqlite = (folder: string, settings: Settings & { readonly secret: Secret }) =>
  AccountLink.layer({ ...settings, storage: sqlite(folder) });
