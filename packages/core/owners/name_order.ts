/** The order of a community's links by the names of their users, which no store has. */
import { Clock, Effect, Option, Schema, Stream } from "effect";
import { Cache } from "../cache.ts";
import { type DataScope, guildOf } from "../data_scope.ts";
import { ChatId } from "../ids.ts";
import { LinkStore, storedLinks } from "../links/mod.ts";
import { compareNames, visibleName } from "../name_text.ts";
import { MemberLists, sortedInSteps } from "./member_lists.ts";

/** Lists with more links are not sorted by name: the order of 10,000 links takes 220 KB of the cache. @internal */
export const mostSorted = 10_000;

/** How long an order is kept, in milliseconds. @internal */
export const orderKeptFor = 300_000;

const StoredOrder = Schema.Struct({
  /** Sorted by name; users without a name are last. */
  chatIds: Schema.Array(ChatId),
  /** How many of the users have no name, because they are not members of the guild. */
  unnamed: Schema.Int,
  sortedAt: Schema.Int,
});
export type NameOrder = typeof StoredOrder.Type;

const codec = Schema.fromJsonString(StoredOrder);
const decode = Schema.decodeUnknownOption(codec);
const encode = Schema.encodeSync(codec);

/** Keeps each order in the cache, so that the next page on another node continues the same order. */
export const makeNameOrder = Effect.gen(function* () {
  const cache = yield* Cache;
  const store = yield* LinkStore;
  const lists = yield* MemberLists;

  /**
   * Returns the order of a scope's links; null if there are more than `mostSorted`, or the scope has no guild whose
   * members the platform lists at once. Fails as `MemberLists.find`.
   */
  return Effect.fnUntraced(function* (scope: DataScope) {
    const guildId = guildOf(scope);
    if (guildId === null) return null;
    const key = `links.by_name:${scope.pid}`;
    const kept = yield* cache.get(key, yield* Clock.currentTimeMillis).pipe(
      Effect.map(Option.flatMap(decode)),
      Effect.orElseSucceed(() => Option.none<NameOrder>()),
    );
    if (Option.isSome(kept)) return kept.value;
    const count = yield* store.countLinks(scope.pid, { enough: mostSorted + 1 });
    if (count > mostSorted) return null;
    const { members } = yield* lists.find(guildId);
    const names = new Map(members.map((member) => [member.chatId, visibleName(member)]));
    const linked = yield* storedLinks(scope.pid).pipe(
      Stream.map(({ chatId }) => ({ chatId, name: names.get(chatId) ?? null })),
      Stream.runCollect,
      Effect.provideService(LinkStore, store),
      Effect.flatMap((found) => sortedInSteps(found, byName)),
    );
    const sortedAt = yield* Clock.currentTimeMillis;
    const order: NameOrder = {
      chatIds: linked.map(({ chatId }) => chatId),
      unnamed: linked.filter(({ name }) => name === null).length,
      sortedAt,
    };
    // The order of no links is not kept, so that the first link shows at once.
    if (linked.length > 0)
      yield* Effect.ignore(cache.set(key, encode(order), sortedAt + orderKeptFor, sortedAt));
    return order;
  });
});

interface Named {
  readonly chatId: ChatId;
  readonly name: string | null;
}

const byName = (one: Named, other: Named): number =>
  compareNames(one.name, other.name) || compareNames(one.chatId, other.chatId);
