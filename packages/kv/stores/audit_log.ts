import { AuditLog, type Pid } from "@accountlink/core";
import {
  type AuditEntry,
  type AuditFilter,
  signedBy,
  usersOf,
  type WriteContext,
} from "@accountlink/core/audit";
import type { ChatId } from "@accountlink/core/ids";
import { Clock, Effect } from "effect";
import { inSteps, stepSize } from "../steps.ts";
import { table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { nextNumber } from "./counts.ts";
import { accountAt, accountNamed, type StoredAccount, scopeAt } from "./scopes.ts";
import { storeLayer } from "./store_layer.ts";

/** The content of an audit entry. */
export type Change = Omit<WriteContext, "pid"> & Pick<AuditEntry, "action" | "details">;

export interface StoredEntry extends Omit<AuditEntry, "account"> {
  readonly account: number;
}

const keysOf = ({ actor, details }: StoredEntry) =>
  [details["keyId"], actor.type === "key" ? actor.id : null].filter((id) => typeof id === "string");

/** Every user that an entry names, in any way. */
const namesOf = ({ actor, details }: StoredEntry): ReadonlyArray<string> => {
  const users = ["chatId", "newChatId", "otherChatId"].map((name) => details[name]);
  const members = actor.type === "account" ? [actor.member] : [actor.type === "user" ? actor.id : null];
  return [...new Set([...users, ...members].filter((id) => typeof id === "string"))];
};

export const entries = table<StoredEntry>()("audit", ({ account, sequence }) => [account, sequence], {
  byTime: { keys: ({ at, account, sequence }) => [[at, account, sequence]] },
  byUser: {
    keys: (entry) => namesOf(entry).map((id) => [id, entry.account, entry.sequence]),
    group: 1,
  },
  /** The entries whose actor is an account, by the name of the account. */
  byActor: {
    keys: ({ actor, account, sequence }) => (actor.type === "account" ? [[actor.id, account, sequence]] : []),
    group: 1,
  },
  /** What the filters of a list select. */
  selected: {
    keys: (entry) =>
      [
        ...new Set([
          `action:${entry.action}`,
          ...usersOf(entry).map((id) => `user:${id}`),
          ...keysOf(entry).map((id) => `key:${id}`),
        ]),
      ].map((about) => [entry.account, about, entry.sequence]),
  },
});

/** Logs a change of a scope, and returns the sequence number of the entry. */
export const record = Effect.fnUntraced(function* (tx: Transaction, change: Change & { readonly pid: Pid }) {
  const { account } = yield* scopeAt(tx, change.pid);
  return yield* recordOfAccount(tx, change, account, change.pid);
});

export const recordOfAccount = Effect.fnUntraced(function* (
  tx: Transaction,
  { actor, requestId, at, action, details }: Change,
  account: number,
  pid: Pid | null = null,
) {
  const sequence = yield* nextNumber(tx, `audit ${account}`, tx.timedNumber(yield* Clock.currentTimeMillis));
  tx.insert(entries, { sequence, actor, requestId, at, account, pid, action, details });
  return sequence;
});

/** Changes the details of an entry, unless its time was over. */
export const amend = Effect.fnUntraced(function* (
  tx: Transaction,
  account: number,
  sequence: number,
  details: AuditEntry["details"],
) {
  const entry = yield* tx.get(entries, account, sequence);
  if (entry !== undefined) yield* tx.put(entries, { ...entry, details });
});

const entryOf = ({ account: _, ...entry }: StoredEntry, { name }: StoredAccount): AuditEntry => ({
  ...entry,
  account: name,
});

const page = 200;

export const layer = storeLayer(AuditLog, (db) => ({
  list: (name, before, limit, filter) =>
    db.read(function* (tx) {
      const account = yield* accountNamed(tx, name);
      if (account === undefined) return [];
      const found: Array<AuditEntry> = [];
      const about = selectionOf(filter);
      let end = before ?? Number.MAX_SAFE_INTEGER;
      for (;;) {
        const options = { before: [end], limit: page, reverse: true };
        const read: ReadonlyArray<StoredEntry> =
          about === null
            ? yield* tx.scan(entries, [account.id], options)
            : yield* tx.list(entries.selected, [account.id, about], options);
        for (const entry of read) if (passesFilter(entry, filter)) found.push(entryOf(entry, account));
        const last = read.at(-1);
        if (found.length >= limit || last === undefined || read.length < page) return found.slice(0, limit);
        end = last.sequence;
      }
    }),

  forget: (before) =>
    inSteps(
      db,
      (tx) => tx.list(entries.byTime, [], { before: [before], limit: stepSize }),
      Effect.fnUntraced(function* (tx, { account, sequence }) {
        return (yield* tx.remove(entries, account, sequence)) !== undefined;
      }),
    ),
}));

/** The most selective part of a filter that has entries of its own in the index. */
const selectionOf = ({ keyId, chatId = null, action }: AuditFilter = { action: null, keyId: null }) => {
  if (chatId !== null) return `user:${chatId}`;
  if (keyId !== null) return `key:${keyId}`;
  return action === null ? null : `action:${action}`;
};

const passesFilter = (entry: StoredEntry, filter: AuditFilter = { action: null, keyId: null }): boolean => {
  const { action, keyId, chatId, pid = null, readable = null, member, during } = filter;
  if (action !== null && entry.action !== action) return false;
  if (readable !== null && !readable.includes(entry.action)) return false;
  if (pid !== null && entry.pid !== pid) return false;
  if (!isAbout(entry, chatId) || !isBy(entry, member) || !isIn(entry, during)) return false;
  return keyId === null || keysOf(entry).includes(keyId);
};

const isAbout = (entry: StoredEntry, chatId: AuditFilter["chatId"] = null): boolean =>
  chatId === null || usersOf(entry).includes(chatId);

const isBy = (entry: StoredEntry, member: AuditFilter["member"] = null): boolean =>
  member === null || signedBy(entry).member === member;

const isIn = ({ at }: StoredEntry, during: AuditFilter["during"] = null): boolean =>
  during === null || (at >= during.from && at < during.before);

/** The entries that name a chat user or one of the accounts, in the order of `AuditEntry.sequence` of each account. */
export const entriesNaming = Effect.fnUntraced(function* (
  tx: Transaction,
  chatId: ChatId,
  names: ReadonlyArray<string>,
  limit?: number,
) {
  const options = limit === undefined ? {} : { limit };
  const found = [...(yield* tx.list(entries.byUser, [chatId], options))];
  for (const name of names) found.push(...(yield* tx.list(entries.byActor, [name], options)));
  const unique = new Map(found.map((entry) => [`${entry.account} ${entry.sequence}`, entry]));
  return [...unique.values()];
});

/** Finds the entries with the names of their accounts. */
export const namedEntries = Effect.fnUntraced(function* (tx: Transaction, found: ReadonlyArray<StoredEntry>) {
  const named: Array<AuditEntry> = [];
  for (const entry of found) named.push(entryOf(entry, yield* accountAt(tx, entry.account)));
  return named.toSorted((one, other) => one.sequence - other.sequence);
});
