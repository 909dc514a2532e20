/**
 * The v2 handlers.
 */
import {
  ApiKeys,
  type BulkItem,
  BulkLookup,
  checkBulkLimit,
  KeyAuthenticator,
  LinkLookup,
  LinkWriter,
  maxBulkInputs,
} from "@accountlink/core";
import { LookupsV2, statusOf, WritesV2 } from "@accountlink/http-api";
import { Effect, Result } from "effect";
import { isoTime } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import type { BoundRoute, Pipeline } from "./pipeline.ts";
import { targetOf } from "./write_target.ts";

const asData = <Data, E>(effect: Effect.Effect<Data, E>) => Effect.map(effect, (data) => ({ data }));

export const routesV2 = Effect.fnUntraced(function* ({ keyed, open }: Pipeline) {
  const lookup = yield* LinkLookup;
  const bulk = yield* BulkLookup;
  const writer = yield* LinkWriter;
  const keys = yield* ApiKeys;
  const authenticator = yield* KeyAuthenticator;

  const reportLeaked = Effect.fnUntraced(function* (token: string, exchange: Exchange) {
    const revoked = yield* keys.reportLeaked(token, exchange.requestId);
    if (!revoked) yield* authenticator.countFailure(exchange.address);
    return { data: { revoked: true as const } };
  });

  const routes: ReadonlyArray<BoundRoute> = [
    keyed(LookupsV2.getChat, ({ key, values }) => asData(lookup.byChat(key.scope, values.chatId, values))),
    keyed(LookupsV2.getGame, ({ key, values }) => asData(lookup.byGame(key.scope, values.gameId, values))),
    keyed(LookupsV2.getVerification, ({ key, values }) =>
      Effect.map(lookup.verification(key.scope, values.chatId, values), (status) => ({
        data: {
          ...status,
          lastVerifiedAt: status.lastVerifiedAt === null ? null : isoTime(status.lastVerifiedAt),
        },
      })),
    ),
    keyed(
      LookupsV2.bulkChat,
      ({ key, values }) =>
        Effect.map(bulk.byChats(key.scope, values.chatIds, values), (items) =>
          bulkAnswer(items, (chatId) => ({ chatId }), values.resolved),
        ),
      ({ chatIds }) => checkBulkLimit(chatIds),
    ),
    keyed(
      LookupsV2.bulkGame,
      ({ key, values }) =>
        Effect.map(bulk.byGames(key.scope, values.gameIds, values), (items) =>
          bulkAnswer(items, (gameId) => ({ gameId }), values.resolved),
        ),
      ({ gameIds }) => checkBulkLimit(gameIds),
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

const bulkAnswer = <Data, Input>(
  items: ReadonlyArray<BulkItem<Data>>,
  inputOf: (input: string) => Input,
  resolved: boolean,
) => {
  let foundCount = 0;
  let notFoundCount = 0;
  const results = items.map(({ input, result }) => {
    if (Result.isSuccess(result)) {
      foundCount++;
      return { input: inputOf(input), found: true, data: result.success, error: null };
    }
    const { code, message, details } = result.failure;
    if (code === "LINK_NOT_FOUND") notFoundCount++;
    const error = { code, message, details, status: statusOf(result.failure) };
    return { input: inputOf(input), found: false, data: null, error };
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
