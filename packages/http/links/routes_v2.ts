import { BulkLookup, type Link, LinkLookup, LinkWriter } from "@accountlink/core";
import { EventFeed } from "@accountlink/core/events";
import {
  type ChatUpdated,
  checkBulkLimit,
  type GameRemoved,
  gameUpdated,
  type KeptSet,
} from "@accountlink/core/links";
import { formatTimestamp, timeOrNull } from "@accountlink/core/timestamp";
import { LookupsV2, WritesV2 } from "@accountlink/http-api";
import { Effect } from "effect";
import { type KeyedInput, type Pipeline, targetOf } from "../pipeline/pipeline.ts";
import { bulkAnswer } from "./bulk_answer.ts";

const dataOf = <Data>(data: Data) => ({ data });

const updatedGame = (set: KeptSet) => ({ data: gameUpdated(set) });

const asData = <Data, E>(effect: Effect.Effect<Data, E>) => Effect.map(effect, dataOf);

const deletedScope = (deletedRecords: number, { key: { scope } }: KeyedInput<{}>) => ({
  data: { deletedRecords, scope: scope.kind, pid: scope.pid, collection: "links" as const },
});

export const listedLink = ({ chatId, gameId, linkVersion, lastVerifiedAt }: Link) => ({
  chatId,
  gameId,
  linkVersion,
  lastVerifiedAt: formatTimestamp(lastVerifiedAt),
});

export const routesV2 = Effect.fnUntraced(function* ({ keyed, write }: Pipeline) {
  const links = yield* LinkLookup;
  const bulk = yield* BulkLookup;
  const writer = yield* LinkWriter;
  const feed = yield* EventFeed;

  return [
    keyed(LookupsV2.getChat, ({ key, values }) => asData(links.byChat(key.scope, values.chatId, values))),
    keyed(LookupsV2.getGame, ({ key, values }) => asData(links.byGame(key.scope, values.gameId, values))),
    keyed(LookupsV2.listLinks, ({ key, values }) =>
      asData(
        Effect.map(
          feed.links({ scope: key.scope, guildId: values.guildId, keyId: key.id }, values),
          (page) => ({ ...page, links: page.links.map(listedLink) }),
        ),
      ),
    ),
    keyed(LookupsV2.getVerification, ({ key, values }) =>
      Effect.map(links.verification(key.scope, values.chatId, values), (status) => ({
        data: { ...status, lastVerifiedAt: timeOrNull(status.lastVerifiedAt) },
      })),
    ),
    keyed(
      LookupsV2.bulkChat,
      ({ key, values }) =>
        Effect.map(bulk.byChats(key.scope, values.chatIds, values), (items) =>
          bulkAnswer(items, (chatId) => ({ chatId }), values.resolved),
        ),
      { validate: ({ chatIds }) => checkBulkLimit(chatIds) },
    ),
    keyed(
      LookupsV2.bulkGame,
      ({ key, values }) =>
        Effect.map(bulk.byGames(key.scope, values.gameIds, values), (items) =>
          bulkAnswer(items, (gameId) => ({ gameId }), values.resolved),
        ),
      { validate: ({ gameIds }) => checkBulkLimit(gameIds) },
    ),
    write(WritesV2.patchChat, dataOf<ChatUpdated>, (input) => writer.moveChat(targetOf(input), input.values)),
    write(WritesV2.patchGame, updatedGame, (input) => writer.setGame(targetOf(input), input.values)),
    write(WritesV2.deleteGame, dataOf<GameRemoved>, (input) =>
      writer.removeGame(targetOf(input), input.values.chatId, { requireMember: true }),
    ),
    write(WritesV2.deleteData, deletedScope, (input) => writer.deleteScope(targetOf(input))),
  ];
});
