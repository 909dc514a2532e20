/**
 * Clients that ask and write at random, and remember every request and its answer.
 */
import { Effect, Random } from "effect";
import { type Answer, textOf } from "../support/http.ts";
import type { World } from "../support/world.ts";
import { type Attempt, attempt } from "./attempt.ts";
import type { Found, Operation } from "./linearizability.ts";
import {
  findByChat,
  findByGame,
  findMany,
  findStatus,
  type Request,
  removeGame,
  setGame,
} from "./requests.ts";
import type { Target } from "./service.ts";
import type { Client } from "./writers.ts";

/** One request of the history; what it found is null when there is no answer to it. */
export interface Entry extends Attempt {
  readonly client: number;
  readonly request: Request;
  readonly found: ReadonlyArray<Found> | null;
}

/** The chat users that all clients write to. */
export const chatIds = ["100001", "100002", "100003", "100004"];
const gameUsersEach = 250;

export const gameIdOf = (chatId: string, index: number): string =>
  String((chatIds.indexOf(chatId) + 1) * 1_000 + (index % gameUsersEach));

/** The game users that they are linked to; each chat user has its own. */
const gameIds = chatIds.flatMap((chatId) =>
  Array.from({ length: gameUsersEach }, (_, index) => gameIdOf(chatId, index)),
);

/** The fixture of a world, with these game users. */
export const fixtureWithGameUsers = ({ fixture }: World): World["fixture"] => ({
  ...fixture,
  platform: { ...fixture.platform, gameUsers: gameIds.map((id) => ({ id })) },
});

const choice = <A>(values: ReadonlyArray<A>): Effect.Effect<A> => Random.choice(values).pipe(Effect.orDie);

/** Makes plans of a few requests, most of them a write and what would see its stale past. */
const makePlanner = () => {
  const written = new Map<string, number>();
  const count = (chatId: string) => written.get(chatId) ?? 0;
  /** To another game user than the writes before it. */
  const set = (chatId: string) => {
    written.set(chatId, count(chatId) + 1);
    return setGame(chatId, gameIdOf(chatId, count(chatId)));
  };
  const findLast = (chatId: string) => findByGame(chatId, gameIdOf(chatId, count(chatId)));
  const findOneBefore = (chatId: string) =>
    findByGame(chatId, gameIdOf(chatId, Math.max(0, count(chatId) - 1)));

  const plans: ReadonlyArray<(chatId: string) => ReadonlyArray<Request>> = [
    (chatId) => [set(chatId), findByChat(chatId)],
    (chatId) => [findByChat(chatId), set(chatId), findByChat(chatId)],
    (chatId) => [findByChat(chatId), findByChat(chatId)],
    (chatId) => [findStatus(chatId), set(chatId), findStatus(chatId)],
    (chatId) => [removeGame(chatId), findByChat(chatId)],
    (chatId) => [set(chatId), findLast(chatId), findOneBefore(chatId)],
    () => [findMany(chatIds)],
  ];
  return Effect.gen(function* () {
    return (yield* choice(plans))(yield* choice(chatIds));
  });
};

/** The clients, and what they remember. */
export interface History {
  /** Everything so far, in the order in which it ended. */
  readonly entries: ReadonlyArray<Entry>;
  /** Whether every request that was sent before a time, by `performance.now()`, has ended. */
  readonly isOverBefore: (time: number) => boolean;
  /** Sends one request as a client, and remembers it. */
  readonly ask: (client: number, node: Target, request: Request) => Effect.Effect<Entry>;
  /** Reads every link from each of the nodes, as a client of its own. */
  readonly readAll: (nodes: ReadonlyArray<Target>) => Effect.Effect<void>;
  /** A client that asks one thing after the other, of nodes that are up, for as long as it is wanted. */
  readonly client: (
    client: number,
    nodes: ReadonlyArray<Target>,
    isWanted: () => boolean,
  ) => Effect.Effect<void>;
}

/** Starts an empty history. */
export const makeHistory = (key: string): History => {
  const entries: Array<Entry> = [];
  const open = new Set<{ readonly called: number }>();
  const plan = makePlanner();

  const ask: History["ask"] = Effect.fnUntraced(function* (client, node, request) {
    const { line, body } = request;
    const opened = { called: performance.now() };
    open.add(opened);
    const made = yield* attempt(node, line, { key, ...(body === undefined ? {} : { body }) });
    open.delete(opened);
    const entry = { ...made, client, request, ...understood(made, request) };
    entries.push(entry);
    return entry;
  });

  const client: History["client"] = Effect.fnUntraced(function* (index, nodes, isWanted) {
    while (isWanted()) {
      for (const request of yield* plan) {
        const up = nodes.filter((node) => node.isUp());
        yield* ask(index, yield* choice(up), request);
      }
      yield* Effect.sleep(yield* Random.nextIntBetween(1, 50));
    }
  });

  const readAll: History["readAll"] = (nodes) =>
    Effect.forEach(nodes, (node) => Effect.forEach(chatIds, (chatId) => ask(-1, node, findStatus(chatId))), {
      discard: true,
    });

  const isOverBefore = (time: number) => ![...open].some(({ called }) => called < time);

  return { entries, isOverBefore, ask, readAll, client };
};

const understood = ({ outcome }: Attempt, request: Request): Pick<Entry, "outcome" | "found"> => {
  if (outcome.kind !== "answered") return { outcome, found: null };
  try {
    return { outcome, found: request.read(outcome.answer) };
  } catch (error) {
    return { outcome: { kind: "wrong", problem: String(error) }, found: null };
  }
};

/**
 * How long after its client was told nothing a write may still take effect, in milliseconds: as long as a write may take
 * (docs/consistency.md), and as long as what it needs stands still.
 */
const longestAfterlife = 20_000;

/** What happened to one chat user, as far as its clients know. */
export const operationsOn = (entries: ReadonlyArray<Entry>, chatId: string): ReadonlyArray<Operation> =>
  entries.flatMap(({ client, called, ended, request, found, outcome }) => {
    const place = request.chatIds.indexOf(chatId);
    if (place === -1 || outcome.kind === "not sent") return [];
    const known = found?.[place] ?? null;
    const answered = known === null ? null : ended;
    const wrote = request.write === undefined ? {} : { wrote: request.write.leaves };
    return [{ client, called, answered, found: known, until: ended + longestAfterlife, ...wrote }];
  });

/** The writes of each client, as the check of the audit log wants them. */
export const writesOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<Client> =>
  Object.values(Object.groupBy(entries, ({ client }) => client)).map((own = []) =>
    own.flatMap(({ request: { write }, outcome }) => {
      if (write === undefined || outcome.kind === "not sent") return [];
      const answer = outcome.kind === "answered" ? writeAnswer(outcome.answer) : null;
      return [{ action: write.action, body: write.body, answer }];
    }),
  );

const writeAnswer = ({ status, body }: Answer) => ({
  status,
  requestId: textOf(body["meta"]?.["requestId"]),
  data: body["data"] ?? {},
});
