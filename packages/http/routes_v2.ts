/**
 * The v2 handlers.
 */
import {
  ApiKeys,
  type BulkItem,
  BulkLookup,
  checkBulkInputs,
  KeyAuthenticator,
  LinkLookup,
  LinkWriter,
  maxBulkInputs,
} from "@accountlink/core";
import { LookupsV2, statusOf, WritesV2 } from "@accountlink/http-api";
import { Effect, Result } from "effect";
import { isoTime, type Success } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import { type BoundRoute, Pipeline } from "./pipeline.ts";
import { targetOf } from "./write_target.ts";

const asData = <Data, E>(effect: Effect.Effect<Data, E>): Effect.Effect<Success, E> =>
  Effect.map(effect, (data) => ({ data }));

export const routesV2 = Effect.gen(function* () {
  const { keyed, lookup: ofChat, open } = yield* Pipeline;
  const lookup = yield* LinkLookup;
  const bulk = yield* BulkLookup;
  const writer = yield* LinkWriter;
  const keys = yield* ApiKeys;
  const authenticator = yield* KeyAuthenticator;

  const reportLeaked = Effect.fnUntraced(function* (token: string, exchange: Exchange) {
    const revoked = yield* keys.reportLeaked(token, exchange.requestId);
    if (!revoked) yield* authenticator.countFailure(exchange.address);
    return { data: { revoked: true } };
  });

  const routes: ReadonlyArray<BoundRoute> = [
    ofChat(LookupsV2.getChat, ({ key, values, exchange: { begun } }) => {
      const { chatId, guildId, resolved } = values;
      return asData(lookup.byChat(key.scope, chatId, { guildId, resolved, begun }));
    }),
    keyed(LookupsV2.getGame, ({ key, values }) => asData(lookup.byGame(key.scope, values.gameId, values))),
    ofChat(LookupsV2.getVerification, ({ key, values, exchange: { begun } }) => {
      const { chatId, guildId, resolved } = values;
      return Effect.map(lookup.verification(key.scope, chatId, { guildId, resolved, begun }), (status) => ({
        data: {
          ...status,
          lastVerifiedAt: status.lastVerifiedAt === null ? null : isoTime(status.lastVerifiedAt),
        },
      }));
    }),
    keyed(
      LookupsV2.bulkChat,
      ({ key, values }) =>
        Effect.map(bulk.byChats(key.scope, values.chatIds, values), (items) =>
          bulkAnswer("chatId", items, values.resolved),
        ),
      ({ chatIds }) => checkBulkInputs("chatIds", chatIds),
    ),
    keyed(
      LookupsV2.bulkGame,
      ({ key, values }) =>
        Effect.map(bulk.byGames(key.scope, values.gameIds, values), (items) =>
          bulkAnswer("gameId", items, values.resolved),
        ),
      ({ gameIds }) => checkBulkInputs("gameIds", gameIds),
    ),
    keyed(WritesV2.patchChat, (input) => asData(writer.moveChat(targetOf(input), input.values))),
    keyed(WritesV2.patchGame, (input) => asData(writer.setGame(targetOf(input), input.values))),
    keyed(WritesV2.deleteGame, (input) =>
      asData(writer.removeGame(targetOf(input), input.values.chatId, { requireMember: true })),
    ),
    keyed(WritesV2.deleteData, (input) => {
      const { kind, pid } = input.key.scope;
      return Effect.map(writer.deleteScope(targetOf(input)), (deletedRecords) => ({
        data: { deletedRecords, scope: kind, pid, collection: "links" },
      }));
    }),
    open(WritesV2.reportLeakedKey, ({ values, exchange }) => reportLeaked(values.key, exchange)),
  ];
  return routes;
});

const bulkAnswer = <Data>(
  name: "chatId" | "gameId",
  items: ReadonlyArray<BulkItem<Data>>,
  resolved: boolean,
): Success => {
  let foundCount = 0;
  let notFoundCount = 0;
  const results = items.map(({ input, result }) => {
    if (Result.isSuccess(result)) {
      foundCount++;
      return { input: { [name]: input }, found: true, data: result.success, error: null };
    }
    const { code, message, details } = result.failure;
    if (code === "LINK_NOT_FOUND") notFoundCount++;
    const error = { code, message, details, status: statusOf(result.failure) };
    return { input: { [name]: input }, found: false, data: null, error };
  });
  const count = items.length;
  return {
    data: {
      results,
      count,
      foundCount,
      notFoundCount,
      errorCount: count - foundCount - notFoundCount,
      resolved,
    },
    bulk: { uniqueInputs: new Set(items.map(({ input }) => input)).size, maxInputs: maxBulkInputs },
  };
};
