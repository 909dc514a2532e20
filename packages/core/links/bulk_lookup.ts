import { Context, Effect, Layer, Result } from "effect";
import type { DataScope } from "../data_scope.ts";
import {
  BulkLimitExceeded,
  Forbidden,
  InvalidParameter,
  LinkNotFound,
  type ParameterProblem,
  type PlatformUnavailable,
} from "../errors.ts";
import { type ChatId, type GameId, idRules, isChatId, isGameId } from "../ids.ts";
import { forEachLimited } from "../limited_loops.ts";
import { GuildGuard } from "../platforms/guild_guard.ts";
import { Profiles } from "../platforms/profiles.ts";
import type { LookupOptions } from "./link_lookup.ts";
import { LinkStore } from "./link_store.ts";
import { type Members, newestMembers } from "./newest_members.ts";

/** @internal */
export const maxBulkInputs = 50;

/** The failure of one input. Other inputs are not affected. */
export type BulkItemError = InvalidParameter | Forbidden | LinkNotFound | PlatformUnavailable;

/** The result of one input. `input` is the text as given, even if it is not an ID. */
export interface BulkItem<Data> {
  readonly input: string;
  readonly result: Result.Result<Data, BulkItemError>;
}

/**
 * Looks up many links of one scope with one query. Results are in the order of the inputs, including duplicates.
 *
 * @example
 * ```ts
 * import { aFixture, memoryWorld } from "@accountlink/testing";
 * import { Scope } from "accountlink";
 * import { Effect, Result } from "effect";
 *
 * const world = await memoryWorld(aFixture({ links: [{ chatId: "100001", gameId: "1" }] }));
 * const program = Effect.gen(function* () {
 *   const bulk = yield* BulkLookup;
 *   const found = yield* bulk.byChats(yield* Scope, ["100001", "100002"]);
 *   return found.map(({ result }) =>
 *     Result.match(result, { onSuccess: ({ gameId }) => gameId, onFailure: ({ code }) => code }),
 *   );
 * });
 * await world.run(program); // ["1", "LINK_NOT_FOUND"]
 * await world.close();
 * ```
 */
export class BulkLookup extends Context.Service<BulkLookup>()("@accountlink/core/BulkLookup", {
  make: Effect.gen(function* () {
    const links = yield* LinkStore;
    const guard = yield* GuildGuard;
    const profiles = yield* Profiles;

    const membersOfEach = newestMembers(guard, links);

    return {
      /** Returns the game users of up to 50 chat users. */
      byChats: Effect.fnUntraced(function* (
        scope: DataScope,
        inputs: ReadonlyArray<string>,
        { guildId = null, resolved = false }: LookupOptions = {},
      ) {
        yield* checkBulkLimit(inputs);
        yield* guard.enter(scope, guildId);
        const chatIds = distinct(inputs, isChatId);
        const find = links.findGamesByChatIds(scope.pid, [...chatIds]);
        const [linked, members] =
          guildId === null
            ? [yield* find, null]
            : yield* Effect.all([find, guard.memberships(guildId, chatIds)], { concurrency: "unbounded" });
        const membershipOf = (chatId: ChatId) =>
          members === null ? anyone : (members.get(chatId) ?? Result.succeed(false));
        const found = resolved
          ? [...linked].filter(([chatId]) => Result.getOrElse(membershipOf(chatId), () => false))
          : [];
        const games = yield* profiles.gameProfiles(found.map(([, gameId]) => gameId));
        const chats = yield* profiles.chatProfiles(
          found.map(([chatId]) => chatId),
          guildId,
        );
        return eachInput(inputs, chatIds, chatIdProblem, (chatId) => {
          const member = membershipOf(chatId);
          if (Result.isFailure(member)) return Result.fail(member.failure);
          if (!member.success) return Result.fail(new Forbidden({ reason: "user_not_in_guild" }));
          const gameId = linked.get(chatId);
          if (gameId === undefined) return Result.fail(new LinkNotFound());
          const pair = { game: games.get(gameId) ?? null, chat: chats.get(chatId) ?? null };
          return Result.succeed({ chatId, gameId, resolved: pair });
        });
      }),

      /** Returns the chat users of up to 50 game users: for each game user as many as `LinkLookup.byGame` returns. */
      byGames: Effect.fnUntraced(function* (
        scope: DataScope,
        inputs: ReadonlyArray<string>,
        { guildId = null, resolved = false }: LookupOptions = {},
      ) {
        yield* checkBulkLimit(inputs);
        yield* guard.enter(scope, guildId);
        const gameIds = distinct(inputs, isGameId);
        const members: ReadonlyMap<GameId, Members> =
          guildId === null
            ? new Map(
                Array.from(yield* links.findByGameIds(scope.pid, [...gameIds]), ([gameId, chatIds]) => [
                  gameId,
                  Result.succeed(chatIds),
                ]),
              )
            : yield* membersOfEach(scope.pid, guildId, [...gameIds]);
        const membersOf = (gameId: GameId) => members.get(gameId) ?? Result.succeed([]);
        const shown = resolved ? [...members.keys()] : [];
        const games = yield* profiles.gameProfiles(shown);
        const lists = new Map(shown.map((gameId) => [gameId, Result.getOrElse(membersOf(gameId), () => [])]));
        const chats = yield* profiles.chatLists(lists, guildId);
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
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(BulkLookup, BulkLookup.make);
}

/** Fails if there are more inputs than the limit. Duplicate inputs count too. @internal */
export const checkBulkLimit = (
  inputs: ReadonlyArray<unknown>,
  limit: number = maxBulkInputs,
): Effect.Effect<void, BulkLimitExceeded> =>
  inputs.length > limit ? new BulkLimitExceeded({ limit, received: inputs.length }) : Effect.void;

/** Looks up each distinct game ID once, all of them concurrently, and returns one result per input. @internal */
export const bulkGameResults = Effect.fnUntraced(function* <Data, E>(
  inputs: ReadonlyArray<string>,
  lookup: (gameId: GameId) => Effect.Effect<Result.Result<Data, BulkItemError>, E>,
) {
  const gameIds = distinct(inputs, isGameId);
  const found = yield* forEachLimited(gameIds, "unbounded", (gameId) =>
    Effect.map(lookup(gameId), (result) => [gameId, result] as const),
  );
  const byGame = new Map(found);
  return eachInput(
    inputs,
    gameIds,
    gameIdProblem,
    (gameId) => byGame.get(gameId) ?? Result.fail(new LinkNotFound()),
  );
});

type Membership = Result.Result<boolean, PlatformUnavailable>;

const anyone: Membership = Result.succeed(true);

const chatIdProblem = { name: "chatId", reason: `expected ${idRules.chatId}` };
const gameIdProblem = { name: "gameId", reason: `expected ${idRules.gameId}` };

const distinct = <Id extends string>(
  inputs: ReadonlyArray<string>,
  is: (input: unknown) => input is Id,
): ReadonlySet<Id> => new Set(inputs.filter(is));

/**
 * Returns one result per input: the result of `resultOf` for a valid ID, and an error with the `problem` for any other
 * input.
 *
 * @param ids the inputs that are valid IDs
 */
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
