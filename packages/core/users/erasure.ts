/**
 * The erasure of a chat user from the audit log.
 */
import type { Actor, AuditEntry } from "../audit/audit.ts";
import type { ChatId, Pid } from "../ids.ts";
import type { UserErased } from "./user_store.ts";

/** Replaces identifiers of an erased user. */
export const erasedMark = "[erased]";

/** Details that contain chat IDs, and those that contain their game IDs. */
const chatDetails = new Set(["chatId", "newChatId", "otherChatId"]);
const gameDetails = new Set(["gameId", "previousGameId", "removedGameId"]);

type Erasable = Pick<AuditEntry, "actor" | "details">;

/**
 * An entry without the identifiers of a user: their chat ID, the game IDs beside it, and the names
 * of their accounts. Null if it contains none of these.
 *
 * @example
 * ```ts
 * import { ChatId, Pid } from "@accountlink/core";
 *
 * const chatId = ChatId.make("100001");
 * const entry = {
 *   actor: { type: "account", id: "ada" },
 *   details: { chatId, gameId: "1", previousGameId: null },
 * } as const;
 * const erased = withoutUser(entry, chatId, ["ada"]);
 * erased?.actor.id === erasedMark; // true
 * erased?.details; // { chatId: "[erased]", gameId: "[erased]", previousGameId: null }
 *
 * const pid = Pid.make("pid_0123456789abcdefghij");
 * const found = { records: [pid], sightings: [pid, pid], browsers: [pid], reviews: [], entries: [null] };
 * erasedByScope(found).get(pid); // { records: 1, sightings: 2, browsers: 1, reviews: 0, entries: 0 }
 * ```
 */
export const withoutUser = (
  { actor, details }: Erasable,
  chatId: ChatId,
  accountNames: ReadonlyArray<string>,
): Erasable | null => {
  const isActor =
    (actor.type === "user" && actor.id === chatId) ||
    (actor.type === "account" && accountNames.includes(actor.id));
  const isOf = (name: string, value: unknown): boolean => chatDetails.has(name) && value === chatId;
  const isNamed = Object.entries(details).some(([name, value]) => isOf(name, value));
  if (!isActor && !isNamed) return null;
  const erased = Object.entries(details).map(([name, value]) => {
    const isTheirs = isOf(name, value) || (isNamed && gameDetails.has(name) && value !== null);
    return [name, isTheirs ? erasedMark : value];
  });
  return {
    actor: isActor ? ({ ...actor, id: erasedMark } as Actor) : actor,
    details: Object.fromEntries(erased),
  };
};

type Counted = Pick<UserErased, "records" | "sightings" | "browsers" | "reviews" | "entries">;

/**
 * The details of the `user.erased` entry of each affected scope.
 *
 * @param found the scope of each thing that was erased; null for an entry about an account
 */
export const erasedByScope = (
  found: Readonly<Record<keyof Counted, ReadonlyArray<Pid | null>>>,
): ReadonlyMap<Pid, Counted> => {
  const pids = new Set(Object.values(found).flat());
  return new Map(
    [...pids].flatMap((pid) => {
      if (pid === null) return [];
      const countIn = (all: ReadonlyArray<Pid | null>) => all.filter((other) => other === pid).length;
      const counts = {
        records: countIn(found.records),
        sightings: countIn(found.sightings),
        browsers: countIn(found.browsers),
        reviews: countIn(found.reviews),
        entries: countIn(found.entries),
      };
      return [[pid, counts]];
    }),
  );
};
