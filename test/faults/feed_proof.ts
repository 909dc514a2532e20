/**
 * Causes faults on three nodes for five minutes, while links change in several ways. Checks that clients get no wrong
 * answers, and that requests succeed again soon after each fault. Also checks that the feed and a webhook have an event
 * for each version of a link, because each change raises the version by one.
 */
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runInProcess } from "@accountlink/server/test_command_line";
import { startHttpServer } from "@accountlink/test-servers";
import { Effect, Fiber, Random } from "effect";
import type { NonEmptyReadonlyArray } from "effect/Array";
import { expect, test, vi } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { textOf } from "../support/http.ts";
import { attempt } from "./attempt.ts";
import { recoveryAfter, startCountingClients } from "./counting_clients.ts";
import { allFaults } from "./faults.ts";
import { feelPulse, longestPulse } from "./pulse.ts";
import { type Node, startService, whyNoService } from "./service.ts";

const missing = await whyNoService();
const seconds = 300;
const fixtures = makeFixtures();
const key = fixtures.key({ account: "feed" });
const countingKey = fixtures.key();
const longestRecovery = 2_000;

/**
 * Each of these users has one writer, which changes the link but never moves it to another chat user. So the versions
 * of the link count from 1 without a gap.
 */
const users = Array.from({ length: 12 }, (_, index) => String(300_001 + index));
const movers = ["400001", "400002", "400003"] as const;

interface Change {
  readonly id: string;
  readonly type: string;
  readonly data: {
    readonly chatId: string;
    readonly gameId: string | null;
    readonly previousChatId?: string;
    readonly linkVersion: number;
  };
}

type Write = readonly [line: `${string} ${string}`, body: object];

const setOf = (chatId: string): Effect.Effect<Write> =>
  Effect.gen(function* () {
    const gameId = String(yield* Random.nextIntBetween(1, 4, { halfOpen: true }));
    return yield* Random.choice<NonEmptyReadonlyArray<Write>>([
      ["PATCH /v2/game", { chatId, gameId }],
      ["PUT /api/v1/link/update-game", { chatId, newGameId: gameId }],
      ["DELETE /v2/game", { chatId }],
    ]);
  });

const moveOf = Effect.gen(function* () {
  const [chatId, newChatId] = yield* Random.shuffle(movers);
  return yield* Random.choice<NonEmptyReadonlyArray<Write>>([
    ["PATCH /v2/game", { chatId, gameId: "1" }],
    ["PATCH /v2/chat", { oldChatId: chatId, newChatId }],
  ]);
});

/** Reads the feed from the nodes in turn, until the last write has ended and no events are left. */
const follow = async (nodes: ReadonlyArray<Node>, begin: string, isWritten: () => boolean) => {
  const read: Array<Change> = [];
  let cursor = begin;
  for (let turn = 0; ; turn++) {
    const wasWritten = isWritten();
    const { send } = nodes[turn % nodes.length] as Node;
    const answer = await send(`GET /v2/events?cursor=${cursor}&limit=100&wait=1`, { key }).catch(() => null);
    if (answer?.status !== 200) continue;
    const events = answer.body.data?.["events"] as unknown as ReadonlyArray<Change>;
    read.push(...events);
    cursor = textOf(answer.body.data?.["cursor"]);
    if (wasWritten && events.length === 0) return read;
  }
};

const replay = (changes: ReadonlyArray<Change>): Record<string, string> => {
  const links = new Map<string, string>();
  for (const { type, data } of changes) {
    if (!type.startsWith("link.")) continue;
    if (data.previousChatId !== undefined) links.delete(data.previousChatId);
    if (data.gameId === null) links.delete(data.chatId);
    else links.set(data.chatId, data.gameId);
  }
  return Object.fromEntries(links);
};

const versionsOf = (changes: ReadonlyArray<Change>, chatId: string) =>
  changes.filter(({ data }) => data.chatId === chatId).map(({ data }) => data.linkVersion);

const breakAndWrite = Effect.fnUntraced(function* (storage: "postgres" | "redis") {
  const service = yield* startService({
    fixture: fixtures.fixture,
    env: { ACCOUNTLINK_WEBHOOK_NETWORKS: "127.0.0.0/8" },
    storage,
  });
  const heard: Array<Change> = [];
  const receiver = yield* startHttpServer(({ headers, body }) => {
    const id = String(headers["webhook-id"]);
    const isFirst = heard.every((each) => each.id !== id);
    heard.push({ ...(JSON.parse(body) as Change), id });
    // Fail only the first attempt: after a second failure, the user's events would be sent five minutes later.
    return { status: isFirst && heard.length % 50 === 0 ? 500 : 204 };
  });
  const made = ["webhooks", "create", "--account", "feed", "--url", receiver.url];
  yield* Effect.promise(() => runInProcess(made, service.environment));

  const nodes = service.nodes;
  const [first] = nodes as readonly [Node, ...ReadonlyArray<Node>];
  const begin = yield* Effect.promise(() => first.send("GET /v2/events", { key }));
  const over = new AbortController();
  let isWritten = false;
  const following = follow(nodes, textOf(begin.body.data?.["cursor"]), () => isWritten);

  const problems: Array<string> = [];
  const counts = { answered: 0, unanswered: 0, imports: 0, failedImports: 0 };
  const writer = (next: Effect.Effect<Write>) =>
    Effect.gen(function* () {
      while (!over.signal.aborted) {
        const [line, body] = yield* next;
        const { outcome } = yield* attempt(yield* Random.choice(nodes), line, { key, body });
        if (outcome.kind === "wrong") problems.push(`${line}: ${outcome.problem}`);
        counts[outcome.kind === "answered" ? "answered" : "unanswered"]++;
        yield* Effect.sleep(yield* Random.nextIntBetween(20, 180));
      }
    });
  const importer = Effect.gen(function* () {
    for (let round = 0; !over.signal.aborted; round++) {
      const file = join(tmpdir(), `accountlink-${randomUUID()}.csv`);
      yield* Effect.promise(() => writeFile(file, `chatId,gameId\n${500_000 + round},1\n`));
      const words = ["links", "import", file, "--account", "feed"];
      const { code } = yield* Effect.promise(() => runInProcess(words, service.environment));
      counts[code === 0 ? "imports" : "failedImports"]++;
      yield* Effect.sleep("10 seconds");
    }
  });
  const writers = yield* Effect.forEach(
    [...users.map((chatId) => writer(setOf(chatId))), writer(moveOf), writer(moveOf), importer],
    (each, index) => Effect.forkScoped(Random.withSeed(each, `writer ${index}`)),
  );

  const counting = startCountingClients({
    key: countingKey,
    count: 6,
    targetsOf: () => nodes,
    isNamed: () => true,
  });
  const pulse = yield* feelPulse(nodes);
  const faults: Record<string, { readonly times: number; readonly longest: number }> = {};
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) {
    for (const fault of yield* allFaults(service)) {
      if (performance.now() > end) break;
      yield* fault.begin;
      yield* Effect.sleep(fault.lasts);
      yield* fault.end;
      const returned = performance.now();
      yield* Effect.sleep(longestRecovery + (yield* Random.nextIntBetween(300, 1_000)));
      const recovery = recoveryAfter(returned, counting.attempts, longestRecovery);
      const delay = longestPulse(pulse, returned, Infinity);
      if (recovery > longestRecovery + delay) problems.push(`${fault.name}: recovered after ${recovery} ms`);
      const { times, longest } = faults[fault.name] ?? { times: 0, longest: 0 };
      faults[fault.name] = { times: times + 1, longest: Math.max(longest, Math.round(recovery)) };
    }
  }
  over.abort();
  yield* Fiber.joinAll(writers);
  const counted = yield* Effect.promise(counting.stop);
  // Link every user at the end, because `GET /v2/links` lists the version of existing links only. The version is the
  // expected number of events of a user.
  for (const chatId of users) {
    yield* Effect.promise(() =>
      vi.waitFor(
        async () => {
          const body = { chatId, gameId: "3" };
          expect((await first.send("PATCH /v2/game", { key, body })).status).toBe(200);
        },
        { timeout: 30_000, interval: 500 },
      ),
    );
  }
  isWritten = true;
  const read = yield* Effect.promise(() => following);

  const listed = yield* Effect.promise(() => first.send("GET /v2/links?limit=1000", { key }));
  const links = listed.body.data?.links as unknown as ReadonlyArray<Change["data"]>;
  const stored = links.filter(({ chatId }) => !chatId.startsWith("5"));
  const isHeard = () =>
    stored
      .filter(({ chatId }) => users.includes(chatId))
      .every(({ chatId, linkVersion }) => new Set(versionsOf(heard, chatId)).size >= linkVersion);
  yield* Effect.repeat(Effect.sleep("1 second"), { until: isHeard, times: 120 });
  return { read, stored, heard, counts: { ...counts, counted }, problems, faults };
});

test.skipIf(missing !== null).each(["postgres", "redis"] as const)(
  `three nodes on %s answer correctly, and the feed and a webhook miss nothing during 5 minutes of faults ${missing ?? ""}`,
  async (storage) => {
    const seed = `feed ${Date.now()}`;
    const run = await Effect.runPromise(Effect.scoped(Random.withSeed(breakAndWrite(storage), seed)));
    const { read, stored, heard, counts, problems, faults } = run;
    console.log({ seed, ...counts, events: read.length, deliveries: heard.length, faults });
    expect(problems).toEqual([]);
    expect(Object.keys(faults)).toHaveLength(15);
    expect(counts.counted).toBeGreaterThan(1_000);
    expect(new Set(read.map(({ id }) => id)).size).toBe(read.length);
    expect(replay(read)).toEqual(Object.fromEntries(stored.map(({ chatId, gameId }) => [chatId, gameId])));
    const imported = read.filter(({ type }) => type === "links.imported").length;
    expect(imported).toBeGreaterThanOrEqual(counts.imports);
    expect(imported).toBeLessThanOrEqual(counts.imports + counts.failedImports);
    for (const chatId of users) {
      const version = stored.find((link) => link.chatId === chatId)?.linkVersion ?? 0;
      const all = Array.from({ length: version }, (_, index) => index + 1);
      expect(versionsOf(read, chatId)).toEqual(all);
      expect([...new Set(versionsOf(heard, chatId))]).toEqual(all);
    }
  },
);
