/**
 * Lookups of many links in one request, one query and one result per input, in the order of the inputs.
 */
import { Context, Effect, Layer, Result, Schema } from "effect";
import type { DataScope } from "../data_scope.ts";
import {
  BulkLimitExceeded,
  Forbidden,
  InvalidParameter,
  LinkNotFound,
  type ParameterProblem,
  type PlatformUnavailable,
  type StoreUnavailable,
} from "../errors.ts";
import { ChatId, GameId, idRules } from "../ids.ts";
import { isLinked } from "../link.ts";
import { LinkStore } from "../ports/link_store.ts";
import { type GuildError, GuildGuard, questionsAtOnce, type RequestedGuild } from "./guild_guard.ts";
import { type ChatLookup, type GameLookup, type LookupOptions } from "./link_lookup.ts";
import { Profiles } from "./profiles.ts";

/** How many inputs one bulk lookup takes. */
export const maxBulkInputs = 50;

/** Why one input of a bulk lookup has no result. The others are not touched by it. */
export type BulkItemError = InvalidParameter | Forbidden | LinkNotFound | PlatformUnavailable;

/** One result. `input` is the text that was asked for, also when it is not an ID. */
export interface BulkItem<Data> {
  readonly input: string;
  readonly result: Result.Result<Data, BulkItemError>;
}

type BulkError = BulkLimitExceeded | GuildError | StoreUnavailable;

/** Looks many links up inside one scope. */
export class BulkLookup extends Context.Service<
  BulkLookup,
  {
    /** The game users of up to 50 chat users. */
    readonly byChats: (
      scope: DataScope,
      chatIds: ReadonlyArray<string>,
      options?: LookupOptions,
    ) => Effect.Effect<ReadonlyArray<BulkItem<ChatLookup>>, BulkError>;

    /** The chat users of up to 50 game users. */
    readonly byGames: (
      scope: DataScope,
      gameIds: ReadonlyArray<string>,
      options?: LookupOptions,
    ) => Effect.Effect<ReadonlyArray<BulkItem<GameLookup>>, BulkError>;
  }
>()("@accountlink/core/BulkLookup") {
  static readonly layer = Layer.effect(
    BulkLookup,
    Effect.gen(function* () {
      const links = yield* LinkStore;
      const guard = yield* GuildGuard;
      const profiles = yield* Profiles;

      // Without a guild nobody has to be asked about, and most requests have none.
      const memberships = (guildId: RequestedGuild, chatIds: Iterable<ChatId>): Effect.Effect<Memberships> =>
        guildId === null
          ? Effect.succeed(new Map(Array.from(chatIds, (chatId) => [chatId, anyone])))
          : tabulate(chatIds, (chatId) => Effect.result(guard.isMember(guildId, chatId)));

      const gameProfiles = (gameIds: Iterable<GameId>) => tabulate(gameIds, profiles.game);

      const byChats = Effect.fnUntraced(function* (
        scope: DataScope,
        inputs: ReadonlyArray<string>,
        { guildId = null, resolved = false }: LookupOptions = {},
      ) {
        yield* guard.enter(scope, guildId);
        const chatIds = distinct(inputs, isChatId);
        const [records, members] = yield* Effect.all(
          [links.findByChatIds(scope.pid, [...chatIds]), memberships(guildId, chatIds)],
          { concurrency: 2 },
        );
        const found = [...records.values()]
          .filter(isLinked)
          .filter(({ chatId }) => isMember(members.get(chatId)));
        const games = yield* gameProfiles(resolved ? found.map(({ gameId }) => gameId) : []);
        const chats = yield* tabulate(resolved ? found.map(({ chatId }) => chatId) : [], (chatId) =>
          profiles.chat(chatId, guildId),
        );
        return eachInput(inputs, chatIds, chatIdProblem, (chatId) => {
          const member = members.get(chatId) ?? Result.succeed(false);
          if (Result.isFailure(member)) return Result.fail(member.failure);
          if (!member.success) return Result.fail(new Forbidden({ reason: "user_not_in_guild" }));
          const record = records.get(chatId);
          if (record === undefined || !isLinked(record)) return Result.fail(new LinkNotFound());
          const { gameId } = record;
          const pair = { game: games.get(gameId) ?? null, chat: chats.get(chatId) ?? null };
          return Result.succeed({ chatId, gameId, resolved: pair });
        });
      });

      const byGames = Effect.fnUntraced(function* (
        scope: DataScope,
        inputs: ReadonlyArray<string>,
        { guildId = null, resolved = false }: LookupOptions = {},
      ) {
        yield* guard.enter(scope, guildId);
        const gameIds = distinct(inputs, isGameId);
        const linked = yield* links.findByGameIds(scope.pid, [...gameIds]);
        const members = yield* memberships(guildId, new Set([...linked.values()].flat()));
        const membersOf = (gameId: GameId) => keepMembers(linked.get(gameId) ?? [], members);
        const games = yield* gameProfiles(resolved ? linked.keys() : []);
        const chats = yield* tabulate(resolved ? linked.keys() : [], (gameId) =>
          profiles.chats(
            Result.getOrElse(membersOf(gameId), () => []),
            guildId,
          ),
        );
        return eachInput(inputs, gameIds, gameIdProblem, (gameId) =>
          Result.flatMap(membersOf(gameId), (chatIds) =>
            chatIds.length === 0
              ? Result.fail(new LinkNotFound())
              : Result.succeed({
                  gameId,
                  chatIds,
                  count: chatIds.length,
                  resolved: { game: games.get(gameId) ?? null, chat: chats.get(gameId) ?? null },
                }),
          ),
        );
      });

      return BulkLookup.of({
        byChats: (scope, inputs, options) =>
          Effect.andThen(checkBulkLimit(inputs), byChats(scope, inputs, options)),
        byGames: (scope, inputs, options) =>
          Effect.andThen(checkBulkLimit(inputs), byGames(scope, inputs, options)),
      });
    }),
  );
}

/** Refuses a list that is too long; duplicates count. */
export const checkBulkLimit = (inputs: ReadonlyArray<unknown>): Effect.Effect<void, BulkLimitExceeded> =>
  inputs.length > maxBulkInputs
    ? Effect.fail(new BulkLimitExceeded({ limit: maxBulkInputs, received: inputs.length }))
    : Effect.void;

type Membership = Result.Result<boolean, PlatformUnavailable>;
type Memberships = ReadonlyMap<ChatId, Membership>;

const anyone: Membership = Result.succeed(true);

const isMember = (membership: Membership | undefined): boolean =>
  membership !== undefined && Result.getOrElse(membership, () => false);

const isChatId = Schema.is(ChatId);
const isGameId = Schema.is(GameId);
const chatIdProblem = { name: "chatId", reason: `expected ${idRules.chatId}` };
const gameIdProblem = { name: "gameId", reason: `expected ${idRules.gameId}` };

const distinct = <Id extends string>(
  inputs: ReadonlyArray<string>,
  is: (input: unknown) => input is Id,
): ReadonlySet<Id> => new Set(inputs.filter(is));

/** The value of each distinct key, asked for a few at a time. */
const tabulate = <Key, Value>(keys: Iterable<Key>, valueOf: (key: Key) => Effect.Effect<Value>) =>
  Effect.forEach(new Set(keys), (key) => Effect.map(valueOf(key), (value) => [key, value] as const), {
    concurrency: questionsAtOnce,
  }).pipe(Effect.map((entries) => new Map(entries)));

/** @param ids those of the inputs that are IDs */
const eachInput = <Id extends string, Data>(
  inputs: ReadonlyArray<string>,
  ids: ReadonlySet<Id>,
  problem: ParameterProblem,
  resultOf: (id: Id) => Result.Result<Data, BulkItemError>,
): ReadonlyArray<BulkItem<Data>> =>
  inputs.map((input) => ({
    input,
    result: ids.has(input as Id)
      ? resultOf(input as Id)
      : Result.fail(new InvalidParameter({ parameters: [problem] })),
  }));

/** The members among the chat users, or the failure to ask about one of them. */
const keepMembers = (
  chatIds: ReadonlyArray<ChatId>,
  members: Memberships,
): Result.Result<ReadonlyArray<ChatId>, PlatformUnavailable> => {
  const kept: Array<ChatId> = [];
  for (const chatId of chatIds) {
    const member = members.get(chatId);
    if (member === undefined) continue;
    if (Result.isFailure(member)) return Result.fail(member.failure);
    if (member.success) kept.push(chatId);
  }
  return Result.succeed(kept);
};
