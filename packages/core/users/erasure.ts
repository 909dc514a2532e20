/** Erases a chat user from audit entries. */
import type { Actor, AuditEntry } from "../audit/audit.ts";
import { erasedMark } from "../erased_mark.ts";
import { groupBy } from "../group_by.ts";
import type { ChatId, Pid } from "../ids.ts";
import type { UserErased } from "./user_store.ts";

/** The details that contain chat IDs, and the details that contain the game IDs of those users. */
const chatDetails = new Set(["chatId", "newChatId", "otherChatId"]);
const gameDetails = new Set(["gameId", "previousGameId", "removedGameId"]);

type Erasable = Pick<AuditEntry, "actor" | "details">;

/**
 * Returns an entry without a user's identifiers: their chat ID, also as a member who acted, their game IDs in the
 * entry, and the names of their accounts. Null if it contains none of these.
 *
 * @internal
 */
export const withoutUser = (
  { actor, details }: Erasable,
  chatId: ChatId,
  accountNames: ReadonlyArray<string>,
): Erasable | null => {
  const isMember = actor.type === "account" && actor.member === chatId;
  const isActor =
    (actor.type === "user" && actor.id === chatId) ||
    (actor.type === "account" && accountNames.includes(actor.id));
  const isOf = (name: string, value: unknown): boolean => chatDetails.has(name) && value === chatId;
  const isNamed = Object.entries(details).some(([name, value]) => isOf(name, value));
  if (!isActor && !isMember && !isNamed) return null;
  const erased = Object.entries(details).map(([name, value]) => {
    const isTheirs = isOf(name, value) || (isNamed && gameDetails.has(name) && value !== null);
    return [name, isTheirs ? erasedMark : value];
  });
  return {
    actor: {
      ...actor,
      ...(isActor ? { id: erasedMark } : {}),
      ...(isMember ? { member: erasedMark } : {}),
    } as Actor,
    details: Object.fromEntries(erased),
  };
};

type Counts = Pick<UserErased, "records" | "sightings" | "browsers" | "reviews" | "entries">;

/** The kind of an erased record, and the record's scope. The scope is null for an audit entry about an account. */
export interface ErasedThing {
  readonly what: keyof Counts | "events";
  readonly pid: Pid | null;
}

/**
 * Counts erased records except events: in total for `UserErased`, and per scope for the `user.erased` entries.
 *
 * @internal
 */
export const countErased = (
  things: ReadonlyArray<ErasedThing>,
): { readonly total: Counts; readonly byScope: ReadonlyMap<Pid, Counts> } => {
  const byScope = groupBy(
    things.filter(({ what }) => what !== "events"),
    ({ pid }) => pid,
  );
  return {
    total: countsOf(things),
    byScope: new Map([...byScope].flatMap(([pid, of]) => (pid === null ? [] : [[pid, countsOf(of)]]))),
  };
};

const countsOf = (things: ReadonlyArray<ErasedThing>): Counts => {
  const countOf = (kind: keyof Counts) => things.filter(({ what }) => what === kind).length;
  return {
    records: countOf("records"),
    sightings: countOf("sightings"),
    browsers: countOf("browsers"),
    reviews: countOf("reviews"),
    entries: countOf("entries"),
  };
};
