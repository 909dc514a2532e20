/** Erases a chat user from audit entries. */
import type { Actor, AuditEntry } from "../audit/audit.ts";
import { erasedMark } from "../erased_mark.ts";
import { groupBy } from "../group_by.ts";
import type { ChatId, Pid } from "../ids.ts";
import type { UserErased } from "./user_store.ts";

/** The names of audit details that contain a chat ID. */
const chatDetails = new Set(["chatId", "newChatId", "otherChatId"]);
/** The names of audit details that contain a game ID. The ID belongs to the user whose chat ID the entry contains. */
const gameDetails = new Set(["gameId", "previousGameId", "removedGameId"]);

type Erasable = Pick<AuditEntry, "actor" | "details">;

/**
 * Returns an audit entry without the identifiers of a user. These are the user's chat ID (in the details or in the
 * actor), the user's game IDs, and the names of the user's accounts. Returns null if the entry contains none of them.
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

/** An erased record: its kind and its scope. The scope is null for an audit entry about an account. */
export interface ErasedThing {
  readonly what: keyof Counts | "events";
  readonly pid: Pid | null;
}

/**
 * Counts erased records: in total for `UserErased`, and by scope for the scope's `user.erased` audit entry. Erased
 * events are not counted. @internal
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
