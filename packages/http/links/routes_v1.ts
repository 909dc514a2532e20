/** The v1 handlers of lookups and writes; they call the same services as v2. */
import { type GameId, InvalidParameter, LinkLookup, LinkWriter } from "@accountlink/core";
import type { LookupOptions } from "@accountlink/core/links";
import { Profiles } from "@accountlink/core/platforms";
import { LinksV1 } from "@accountlink/http-api";
import { Effect } from "effect";
import { type GuildInput, type KeyedInput, type Pipeline, targetOf } from "../pipeline/pipeline.ts";

const lookupOptions = ({ values: { guildId } }: GuildInput): LookupOptions => ({ guildId, resolved: false });

export const routesV1 = Effect.fnUntraced(function* ({ keyed }: Pipeline) {
  const lookup = yield* LinkLookup;
  const writer = yield* LinkWriter;
  const profiles = yield* Profiles;

  const withProfile = <Data>({ key }: GuildInput, gameId: GameId, data: Data) =>
    key.tier === "premium"
      ? Effect.map(profiles.game(gameId), (resolved) => ({ data, resolved }))
      : Effect.succeed({ data });

  const gameToChat = Effect.fnUntraced(function* (input: KeyedInput<typeof LinksV1.gameToChat.parameters>) {
    const { gameId } = input.values;
    const chatIds = yield* lookup.byGame(input.key.scope, gameId, lookupOptions(input)).pipe(
      Effect.map((found) => found.chatIds),
      Effect.catchTag("LinkNotFound", () => Effect.succeed([])),
    );
    return yield* withProfile(input, gameId, { gameId, chatIds });
  });

  const chatToGame = Effect.fnUntraced(function* (input: KeyedInput<typeof LinksV1.chatToGame.parameters>) {
    const { key, values } = input;
    const { chatId, gameId } = yield* lookup.byChat(key.scope, values.chatId, lookupOptions(input));
    return yield* withProfile(input, gameId, { chatId, gameId });
  });

  return [
    keyed(LinksV1.gameToChat, gameToChat),
    keyed(LinksV1.chatToGame, chatToGame),
    keyed(LinksV1.updateChat, (input) =>
      Effect.map(writer.moveChat(targetOf(input), input.values), ({ chatId, gameId }) => ({
        data: { chatId, gameId },
        message: "Chat ID updated",
      })),
    ),
    keyed(LinksV1.updateGame, (input) => {
      const { chatId, newGameId: gameId } = input.values;
      return writer.setGame(targetOf(input), { chatId, gameId }).pipe(
        Effect.map(() => ({ data: { chatId, gameId }, message: "Game ID updated" })),
        Effect.catchTag("InvalidParameter", ({ parameters }) =>
          Effect.fail(
            new InvalidParameter({
              parameters: parameters.map(({ reason }) => ({ name: "newGameId", reason })),
            }),
          ),
        ),
      );
    }),
    keyed(LinksV1.deleteGameLink, (input) =>
      Effect.map(
        writer.removeGame(targetOf(input), input.values.chatId, { requireMember: false }),
        ({ chatId, removedGameId }) => ({ data: { chatId, removedGameId }, message: "Game link removed" }),
      ),
    ),
    keyed(LinksV1.resetDatabase, (input) =>
      Effect.map(writer.deleteScope(targetOf(input)), (deletedRecords) => ({
        data: { deletedRecords },
        message: "Database reset",
      })),
    ),
  ];
});
