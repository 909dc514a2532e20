import { Context } from "effect";
import type { StoreEffect } from "../errors.ts";
import { type ChatId, isChatId, type KeyId, type Pid } from "../ids.ts";
import { toStorable } from "../storable_text.ts";
import type { Millis } from "../timestamp.ts";

/**
 * Who made a change: a key over HTTP, an operator on the command line, a member of an account on the dashboard, or a
 * chat user who signed in.
 */
export type Actor =
  | { readonly type: "key"; readonly id: KeyId }
  | { readonly type: "operator"; readonly id: string }
  | {
      readonly type: "account";
      readonly id: string;
      /** The chat ID of the member. */
      readonly member: string;
    }
  | { readonly type: "user"; readonly id: ChatId };

/** @internal */
export const auditActions = [
  "link.set",
  "link.moved",
  "link.removed",
  "links.imported",
  "links.import_undone",
  "scope.deleted",
  "review.set",
  "review.deleted",
  "block.set",
  "block.removed",
  "key.created",
  "key.updated",
  "key.rotated",
  "key.status_changed",
  "key.reported",
  "account.updated",
  "user.erased",
  "webhook.created",
  "webhook.updated",
  "webhook.deleted",
  "webhook.rotated",
  "webhook.disabled",
  "member.added",
  "member.accepted",
  "member.declined",
  "member.role_changed",
  "member.removed",
  "roles.updated",
  "roles.deleted",
  "roles.put_back",
  "nicknames.put_back",
  "panel.posted",
] as const;

/** @internal */
export const linkActions = [
  "link.set",
  "link.moved",
  "link.removed",
  "review.set",
  "review.deleted",
  "block.set",
  "block.removed",
] as const satisfies ReadonlyArray<AuditAction>;

export type AuditAction = (typeof auditActions)[number];

/** The actor and the request of a write. Stores do not check these texts, because the service makes them. */
export interface WriteOrigin {
  readonly actor: Actor;
  /** The request that made the change; null for changes without a request. */
  readonly requestId: string | null;
}

/**
 * Replaces the parts of the name that cannot be stored, because no change should fail on the name of its author.
 * @internal
 */
export const originOfOperator = (name: string): WriteOrigin => ({
  actor: { type: "operator", id: toStorable(name) },
  requestId: null,
});

/** The scope, time and origin of a write, for its audit entry. */
export interface WriteContext extends WriteOrigin {
  readonly pid: Pid;
  readonly at: Millis;
}

export interface AuditEntry extends WriteOrigin {
  /** Increases with every entry of a store, and has up to 15 digits. */
  readonly sequence: number;
  readonly at: Millis;
  readonly account: string;
  /** The changed scope; null for a change of the account itself. */
  readonly pid: Pid | null;
  readonly action: AuditAction;
  /** What changed, such as the chat ID and the previous game ID. No secrets or addresses. */
  readonly details: Readonly<Record<string, string | number | null>>;
}

/**
 * Returns the chat users that an entry is about: the users in the changed link or review, or the changed member. If
 * there are none, returns the chat user who made the change. @internal
 */
export const usersOf = ({ actor, details }: Pick<AuditEntry, "actor" | "details">): ReadonlyArray<ChatId> => {
  const named = [details["chatId"], details["newChatId"] ?? details["otherChatId"]].filter(isChatId);
  return named.length === 0 && actor.type === "user" && isChatId(actor.id) ? [actor.id] : named;
};

/**
 * Returns who made a change, in the format of API responses: the actor, and the member who acted for an account.
 * @internal
 */
export const signedBy = ({ actor }: Pick<AuditEntry, "actor">) => ({
  actor: { type: actor.type, id: actor.id },
  member: actor.type === "account" ? actor.member : null,
});

/**
 * Returns the key that an entry is about: the changed key, else the key that made the change; null if there is no key.
 * @internal
 */
export const keyOf = ({ actor, details }: Pick<AuditEntry, "actor" | "details">): KeyId | null => {
  const { keyId } = details;
  if (typeof keyId === "string") return keyId as KeyId;
  return actor.type === "key" ? actor.id : null;
};

/** The most characters of the reason that a member gives for a change. @internal */
export const longestReason = 500;

/** Adds the reason for a change to the details of its entry, if there is one. @internal */
export const withReason = (
  details: AuditEntry["details"],
  { reason = null }: { readonly reason?: string | null },
): AuditEntry["details"] => (reason === null ? details : { ...details, reason });

/** The name of the detail with the value that a setting had before a change. @internal */
export const previousOf = (name: string): string => `previous${name.charAt(0).toUpperCase()}${name.slice(1)}`;

/** Returns the names of those fields that an update changes. @internal */
export const changedFields = <Name extends string>(
  names: ReadonlyArray<Name>,
  before: { readonly [Field in Name]?: unknown },
  update: { readonly [Field in Name]?: unknown },
): ReadonlyArray<Name> =>
  names.filter(
    (name) => update[name] !== undefined && JSON.stringify(update[name]) !== JSON.stringify(before[name]),
  );

/** Returns the details of changed settings: for each name its new and its previous value. @internal */
export const changeDetails = <Name extends string>(
  before: Readonly<Record<NoInfer<Name>, string | number | boolean | null>>,
  after: Readonly<Record<NoInfer<Name>, string | number | boolean | null>>,
  names: ReadonlyArray<Name>,
): AuditEntry["details"] =>
  Object.fromEntries(
    names.flatMap((name) => [
      [name, detailOf(after[name])],
      [previousOf(name), detailOf(before[name])],
    ]),
  );

const detailOf = (value: string | number | boolean | null) =>
  typeof value === "boolean" ? String(value) : value;

/** A part of the audit log. */
export interface AuditPage {
  /** Newest first. */
  readonly entries: ReadonlyArray<AuditEntry>;
  /** The sequence before which the next page begins; null if there are no older entries. */
  readonly next: number | null;
}

export interface AuditFilter {
  /** Selects entries with this action; null selects all entries. */
  readonly action: AuditAction | null;
  /** Selects entries in which this key was changed or made the change; null selects all entries. */
  readonly keyId: KeyId | null;
  /** Selects entries about this chat user; null or omitted selects all entries. */
  readonly chatId?: ChatId | null;
  /** Selects entries about changes of this data scope; null or omitted selects all entries. */
  readonly pid?: Pid | null;
  /** Selects entries about changes of these data scopes; null or omitted selects all entries. */
  readonly pids?: ReadonlyArray<Pid> | null;
  /** Selects entries with these actions, such as those that the reader may see; null or omitted selects all entries. */
  readonly readable?: ReadonlyArray<AuditAction> | null;
  /** Selects entries of changes that this member of the account made; null or omitted selects all entries. */
  readonly member?: ChatId | null;
  /** Selects entries of a time, without its end; null or omitted selects all entries. */
  readonly during?: { readonly from: Millis; readonly before: Millis } | null;
}

const isOf = <Value>(wanted: Value | null | undefined, holds: (value: Value) => boolean): boolean =>
  wanted === null || wanted === undefined || holds(wanted);

/** Returns whether a filter selects an entry. @internal */
export const isSelected = (
  entry: AuditEntry,
  { action, keyId, chatId, pid, pids, readable, member, during }: AuditFilter = { action: null, keyId: null },
): boolean => {
  const { actor, details, at } = entry;
  const isOfKey = (id: KeyId) => details["keyId"] === id || (actor.type === "key" && actor.id === id);
  return [
    isOf(action, (one) => entry.action === one),
    isOf(readable, (some) => some.includes(entry.action)),
    isOf(pid, (scope) => entry.pid === scope),
    isOf(pids, (some) => entry.pid !== null && some.includes(entry.pid)),
    isOf(chatId, (user) => usersOf(entry).includes(user)),
    isOf(member, (user) => signedBy(entry).member === user),
    isOf(during, ({ from, before }) => at >= from && at < before),
    isOf(keyId, isOfKey),
  ].every(Boolean);
};

/**
 * Reads the audit log. Each entry is stored in the transaction of the change that it records.
 *
 * @example
 * ```ts
 * import { auditActions } from "@accountlink/core/audit";
 * import { aFixture, memoryWorld } from "@accountlink/testing";
 * import { Effect } from "effect";
 *
 * const world = await memoryWorld(aFixture({ links: [{ chatId: "100001", gameId: "1" }] }));
 * await world.links.delete("100001");
 * const filter = { action: "link.removed", keyId: null } as const;
 * const list = Effect.flatMap(AuditLog, (log) => log.list("acme", null, 10, filter));
 * const { entries } = await world.run(list);
 * entries[0]?.details; // { chatId: "100001", removedGameId: "1" }
 * entries.every(({ action }) => auditActions.includes(action)); // true
 * await world.close();
 * ```
 */
export class AuditLog extends Context.Service<
  AuditLog,
  {
    /**
     * Returns up to `limit` entries of an account before sequence `before`. A filter that selects few of many entries may
     * get fewer, even none, with the place where the search goes on.
     */
    readonly list: (
      account: string,
      before: number | null,
      limit: number,
      filter?: AuditFilter,
    ) => StoreEffect<AuditPage>;

    /**
     * Deletes the entries of all accounts from before a time, and returns the number of deleted entries. It deletes the
     * oldest entries first, in small atomic steps, until a step finds no more entries.
     */
    readonly forget: (before: Millis) => StoreEffect<number>;
  }
>()("@accountlink/core/AuditLog") {}
