/** Client behaviours, each a sequence of steps. */
import type { Chance } from "@accountlink/testing/simulation";
import { Effect } from "effect";
import { textOf } from "../support/http.ts";
import {
  ask,
  type Behaviour,
  dataOf,
  type ErasedWrite,
  type Operation,
  optionsOf,
  type Records,
} from "./behaviour.ts";
import type { Client, Sent } from "./client.ts";
import { erasedChatId } from "./people.ts";
import { isFinal } from "./promise.ts";
import { proofs } from "./proof_clients.ts";
import {
  findByChat,
  findByGame,
  findMany,
  findStatus,
  type Request,
  removeGame,
  setGame,
} from "./requests.ts";
import { team } from "./team_clients.ts";

const all = <A>(effects: ReadonlyArray<Effect.Effect<A>>): Effect.Effect<ReadonlyArray<A>> =>
  Effect.all(effects, { concurrency: "unbounded" });

/**
 * Repeats a request with an idempotency key until it is answered. Sometimes also sends it to two nodes at once, or
 * again after the answer.
 */
const askOnce = Effect.fnUntraced(function* (
  client: Client,
  { key, operations }: Records,
  chance: Chance,
  node: number,
  request: Request,
) {
  const operation: Operation = { client: client.name, request, sent: [] };
  operations.push(operation);
  const options = { ...optionsOf(request, key), idempotencyKey: `once-${operations.length}` };
  const send = (place: number) =>
    Effect.map(client.send(place, request.line, options), (sent) => void operation.sent.push(sent));
  for (let attempt = 0; attempt < 4 && !operation.sent.some(isFinal); attempt++) {
    if (attempt > 0) yield* Effect.sleep(chance.between(20, 1_500));
    const places = chance.happens(0.3) ? [node + attempt, node + attempt + 1] : [node + attempt];
    yield* all(places.map(send));
  }
  if (chance.happens(0.3)) yield* send(node + 1);
});

const links: Behaviour = (client, records) => {
  const { deployment } = records;
  return (chance, node) => {
    const chatId = chance.pick(deployment.chatIds);
    const gameId = deployment.newGame();
    const set = setGame(chatId, gameId);
    const requests = chance.pick([
      [set, findByChat(chatId)],
      [findByChat(chatId), set, findStatus(chatId)],
      [findStatus(chatId), set],
      [set, findByGame(chatId, gameId)],
      [removeGame(chatId), findByChat(chatId)],
      [findMany(deployment.chatIds)],
    ]);
    const isOnce = chance.happens(0.5);
    return Effect.forEach(
      requests,
      (request) => {
        const place = node + chance.below(2);
        return request.write !== undefined && isOnce
          ? askOnce(client, records, chance, place, request)
          : ask(client, records, place, request);
      },
      { discard: true },
    );
  };
};

const limited: Behaviour =
  (client, { limitedKey }) =>
  (chance, node) => {
    const requests = Array.from({ length: 1 + chance.below(6) }, (_, index) =>
      client.send(node + index, "GET /v2/chat?chatId=100001", { key: limitedKey }),
    );
    return Effect.asVoid(all(requests));
  };

/** Uses a key on all nodes before and after its revocation, then takes the next key. */
const revoked: Behaviour = (client, { deployment }) => {
  let current = deployment.newKey({});
  return (chance, node) => {
    const key = current;
    const usesWithin = (time: number, count = 3) =>
      Array.from({ length: count }, (_, index) =>
        Effect.delay(
          client.send(node + index, "GET /v2/chat?chatId=100001", { key }),
          chance.between(0, time),
        ),
      );
    const report = Effect.delay(
      client.send(node, "POST /v2/keys/leaked", { key, body: { key } }),
      chance.between(0, 300),
    );
    if (chance.happens(0.4)) return Effect.asVoid(all(usesWithin(500)));
    current = deployment.newKey({});
    return Effect.andThen(all([report, ...usesWithin(300)]), Effect.asVoid(all(usesWithin(3_500, 5))));
  };
};

export const readFeed = (
  client: Client,
  { key }: Records,
  pages: Array<Sent>,
  node: number,
  query: string,
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const cursor = pages.map((page) => dataOf(page)?.["cursor"]).findLast((each) => each !== undefined);
    const from = cursor === undefined ? "from=oldest" : `cursor=${textOf(cursor)}`;
    return Effect.map(
      client.send(node, `GET /v2/events?${from}&${query}`, { key }),
      (page) => void pages.push(page),
    );
  });

const feed: Behaviour = (client, records) => {
  const pages: Array<Sent> = [];
  records.readers.push(pages);
  const { deployment } = records;
  return (chance, node) => {
    const query = `limit=${chance.pick([1, 3, 50])}&wait=${chance.pick([0, 0, 2, 4])}`;
    const set = setGame(chance.pick(deployment.chatIds), deployment.newGame());
    const change = Effect.delay(ask(client, records, node + 1, set), chance.between(0, 1_500));
    const read = readFeed(client, records, pages, node, query);
    return chance.happens(0.5)
      ? read
      : Effect.asVoid(Effect.all([read, change], { concurrency: "unbounded" }));
  };
};

/** Waits in a long poll or stream for a session that ends on another node. */
const sessions: Behaviour =
  (client, { key }) =>
  (chance, node) =>
    Effect.gen(function* () {
      const created = yield* client.send(node, "POST /v2/sessions", { key, body: { clientId: client.name } });
      const sid = dataOf(created)?.["sid"];
      if (typeof sid !== "string") return;
      const reads = chance.pick([["?wait=10"], ["/stream"], ["?wait=10", "/stream"]]);
      yield* all([
        ...reads.map((read) =>
          client.send(node + chance.below(3), `GET /v2/sessions/${sid}${read}`, { key }),
        ),
        Effect.delay(
          client.send(node + chance.below(3), `DELETE /v2/sessions/${sid}`, { key }),
          chance.between(0, 2_000),
        ),
      ]);
    });

const webhook: Behaviour = (client, records) => {
  records.deployment.addWebhook();
  return links(client, records);
};

const roles: Behaviour = (client, records) => {
  records.deployment.addPlan();
  return links(client, records);
};

/** Links a user repeatedly, repeats requests, and erases the user. */
const erasure: Behaviour = (client, { key, deployment, erasures }) => {
  const send = (node: number, write: ErasedWrite) =>
    Effect.map(
      client.send(node, "PATCH /v2/game", { key, ...write.options }),
      (sent) => void write.sent.push(sent),
    );
  return (chance, node) => {
    const { writes, erased } = erasures;
    if (chance.happens(0.3)) {
      return Effect.map(client.erase(node, erasedChatId), (sent) => void erased.push(sent));
    }
    if (writes.length > 0 && chance.happens(0.5)) return send(node, chance.pick(writes));
    const body = { chatId: erasedChatId, gameId: deployment.newGame() };
    const write: ErasedWrite = { options: { body, idempotencyKey: `erased-${writes.length}` }, sent: [] };
    writes.push(write);
    return send(node, write);
  };
};

export const behaviours = {
  links,
  limited,
  revoked,
  feed,
  sessions,
  webhook,
  roles,
  proofs,
  team,
  erasure,
} satisfies Readonly<Record<string, Behaviour>>;

export type ClientKind = keyof typeof behaviours;

export const clientKinds = Object.keys(behaviours) as ReadonlyArray<ClientKind>;
