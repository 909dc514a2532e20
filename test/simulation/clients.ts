/** Client behaviours, each a sequence of steps. */
import type { Chance } from "@accountlink/testing/simulation";
import { Effect } from "effect";
import { textOf } from "../support/http.ts";
import type { Client, Sent } from "./client.ts";
import { type Deployment, type Place, scopes } from "./deployment.ts";
import { erasedChatId, type FlowPage } from "./node.ts";
import {
  findByChat,
  findByGame,
  findMany,
  findStatus,
  type Request,
  removeGame,
  setGame,
} from "./requests.ts";

/** A request about links, with its attempts. */
export interface Operation {
  readonly client: string;
  readonly request: Request;
  readonly sent: Array<Sent>;
}

/** A write about the erased user, with its attempts. */
export interface ErasedWrite {
  readonly options: { readonly body: object; readonly idempotencyKey: string };
  readonly sent: Array<Sent>;
}

/** A confirmation of a proven account, which may have made a link. */
export interface Proof {
  readonly chatId: string;
  readonly place: Place;
  readonly gameId: string;
  /** False if the account was known from another place. */
  readonly isOwn: boolean;
  readonly sent: Sent;
  /** The latest time at which it may have taken effect. */
  readonly until: number;
}

/** The accounts that a page offered to a user who had proven the chat account. */
export interface Offer {
  readonly chatId: string;
  readonly place: Place;
  readonly gameIds: ReadonlyArray<string>;
  readonly sent: Sent;
}

/** The records of a run: clients write them, and the checks read them. */
export class Records {
  readonly deployment: Deployment;
  /** Finished requests, in the order in which they finished. */
  readonly history: Array<Sent> = [];
  readonly operations: Array<Operation> = [];
  /** For each reader of the feed, the pages that it has read. */
  readonly readers: Array<Array<Sent>> = [];
  readonly erasures: { readonly writes: Array<ErasedWrite>; readonly erased: Array<Sent> } = {
    writes: [],
    erased: [],
  };
  readonly proofs: Array<Proof> = [];
  readonly offers: Array<Offer> = [];
  /** Writes that left a chat user at the place `elsewhere` without the account that was proven there. */
  readonly removals: Array<{ readonly chatId: string; readonly sent: Sent }> = [];
  readonly key: string;
  readonly keyElsewhere: string;
  readonly limitedKey: string;

  constructor(deployment: Deployment) {
    this.deployment = deployment;
    this.key = deployment.newKey({});
    this.keyElsewhere = deployment.newKey({}, "elsewhere");
    this.limitedKey = deployment.newKey({ limits: { perWindow: 1_000, daily: dailyLimit } });
  }
}

/** The daily request limit of `limitedKey`. */
export const dailyLimit = 6;

/** Creates the step function of one client. */
type Behaviour = (client: Client, records: Records) => (chance: Chance, node: number) => Effect.Effect<void>;

const all = <A>(effects: ReadonlyArray<Effect.Effect<A>>): Effect.Effect<ReadonlyArray<A>> =>
  Effect.all(effects, { concurrency: "unbounded" });

/** Sends a request about links once. */
export const ask = (client: Client, { key, operations }: Records, node: number, request: Request) =>
  Effect.suspend(() => {
    const operation: Operation = { client: client.name, request, sent: [] };
    operations.push(operation);
    return Effect.map(
      client.send(node, request.line, optionsOf(request, key)),
      (sent) => void operation.sent.push(sent),
    );
  });

const optionsOf = ({ body }: Request, key: string) => (body === undefined ? { key } : { key, body });

const isAnswered = ({ outcome }: Sent): boolean =>
  outcome.kind === "answered" && !outcome.answer.text.includes("idempotency_key_in_use");

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
  for (let attempt = 0; attempt < 4 && !operation.sent.some(isAnswered); attempt++) {
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

export const dataOf = ({ outcome }: Sent): Readonly<Record<string, unknown>> | null =>
  outcome.kind === "answered" && outcome.answer.status < 300 ? (outcome.answer.body["data"] ?? {}) : null;

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

const inTurn = (effects: ReadonlyArray<Effect.Effect<void>>): Effect.Effect<void> =>
  Effect.all(effects, { discard: true });

/** How long after an unanswered confirmation its link may still be made, in milliseconds. */
const longestAfterlife = 10_000;

/** Proves accounts at both places, uses known ones, and unlinks them elsewhere or replaces them by hand. */
const proofs: Behaviour = (client, records) => {
  const { deployment, operations, offers } = records;
  deployment.addPlan();

  const confirm = Effect.fnUntraced(function* (
    node: number,
    { chatId, place, gameId, isOwn }: Pick<Proof, "chatId" | "place" | "gameId" | "isOwn">,
    page: FlowPage,
  ) {
    const line = `CONFIRM ${gameId} for ${chatId} at ${place}` as const;
    const sent = yield* client.act(node, line, (serving) => serving.confirm(page));
    const isAnsweredNow = sent.outcome.kind === "answered";
    if (isAnsweredNow && dataOf(sent) === null) return;
    const until = isAnsweredNow ? sent.ended : sent.ended + longestAfterlife;
    records.proofs.push({ chatId, place, gameId, isOwn, sent, until });
    if (place === "elsewhere") return;
    const request: Request = { line, chatIds: [chatId], write: { leaves: gameId }, read: () => [] };
    operations.push({ client: client.name, request, sent: [sent] });
  });

  const enter = (node: number, chatId: string, place: Place, gameId: string | null) =>
    Effect.map(
      client.act(node, `ENTER ${place} as ${chatId}`, (serving) =>
        serving.enter(scopes[place].pid, chatId, gameId),
      ),
      (sent) => ({ sent, page: dataOf(sent) as FlowPage | null }),
    );

  const useKnown = Effect.fnUntraced(function* (chance: Chance, node: number, chatId: string, place: Place) {
    const { sent, page } = yield* enter(node, chatId, place, null);
    if (page === null) return;
    offers.push({ chatId, place, gameIds: page.offered, sent });
    if (page.offered.length === 0) return;
    deployment.count("known accounts offered");
    const gameId = chance.pick(page.offered);
    const chosen = yield* client.act(node + 1, `CHOOSE ${gameId} for ${chatId}`, (serving) =>
      serving.choose(scopes[place].pid, page, gameId),
    );
    const next = dataOf(chosen) as FlowPage | null;
    if (next !== null) yield* confirm(node, { chatId, place, gameId, isOwn: false }, next);
  });

  const proveOwn = Effect.fnUntraced(function* (node: number, chatId: string, place: Place) {
    const gameId = deployment.newGame();
    const { page } = yield* enter(node, chatId, place, gameId);
    if (page !== null) yield* confirm(node + 1, { chatId, place, gameId, isOwn: true }, page);
  });

  /** Unlinks elsewhere, or links another account there by hand. */
  const remove = (chance: Chance, node: number, chatId: string) => {
    const key = records.keyElsewhere;
    const written = chance.happens(0.5)
      ? client.send(node, "DELETE /v2/game", { key, body: { chatId } })
      : client.send(node, "PATCH /v2/game", { key, body: { chatId, gameId: deployment.newGame() } });
    return Effect.map(written, (sent) => void records.removals.push({ chatId, sent }));
  };

  return (chance, node) => {
    const chatId = chance.pick(deployment.chatIds);
    const place = chance.pick(["main", "elsewhere"] as const);
    const act = chance.pick([
      proveOwn(node, chatId, place),
      Effect.andThen(proveOwn(node, chatId, "elsewhere"), useKnown(chance, node, chatId, "main")),
      inTurn([
        proveOwn(node, chatId, "elsewhere"),
        useKnown(chance, node, chatId, "main"),
        remove(chance, node, chatId),
        useKnown(chance, node, chatId, "elsewhere"),
      ]),
      useKnown(chance, node, chatId, place),
      Effect.andThen(remove(chance, node, chatId), useKnown(chance, node + 1, chatId, place)),
      ask(client, records, node, setGame(chatId, deployment.newGame())),
    ]);
    return act;
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
  erasure,
} satisfies Readonly<Record<string, Behaviour>>;

export type ClientKind = keyof typeof behaviours;

export const clientKinds = Object.keys(behaviours) as ReadonlyArray<ClientKind>;
