import { aheadBy, expect, test } from "@accountlink/test-servers/effect";
import { Effect, Fiber, type Scope, Stream } from "effect";
import { TestClock } from "effect/testing";
import { ChatId, GameId, type KeyId, type Pid } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import { LinkStore } from "../links/link_store.ts";
import { operator, services } from "../test_services.ts";
import { EventFeed } from "./event_feed.ts";

const pid = "pid_0123456789abcdef" as Pid;
const [ada, bob, cyd] = ["10001", "10002", "10003"].map((id) => ChatId.make(id));

/** Stores links at some times, and reads the feed. */
const storage = <A, E>(
  links: ReadonlyArray<readonly [ChatId | undefined, number]>,
  then: (
    read: (cursor: string | null) => ReturnType<EventFeed["Service"]["read"]>,
  ) => Effect.Effect<A, E, EventFeed | KeyStore | Scope.Scope>,
) =>
  Effect.gen(function* () {
    const keys = yield* KeyStore;
    yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "premium" });
    const scope = yield* keys.ensureScope("acme", { kind: "global" }, pid);
    const [store, feed] = [yield* LinkStore, yield* EventFeed];
    for (const [chatId = ada, at] of links) {
      yield* TestClock.setTime(at);
      yield* store.setGame({ ...operator, pid, chatId: chatId as ChatId, gameId: GameId.make("1"), at });
    }
    const start = { from: "oldest", types: null, chatId: null, gameId: null, limit: 10, wait: 0 } as const;
    return yield* then((cursor) => feed.read({ scope, guildId: null, keyId: null }, { ...start, cursor }));
  }).pipe(Effect.provide(services, { local: true }), Effect.scoped);

test("a cursor from before a backup was restored has expired, although there are later events", function* () {
  const [kept, lost] = yield* storage([[ada, 1]], (read) =>
    Effect.flatMap(read(null), ({ cursor }) =>
      Effect.map(
        storage(
          [
            [ada, 1],
            [bob, 5],
          ],
          (after) => after(cursor),
        ),
        (later) => [cursor, later.cursor] as const,
      ),
    ),
  );
  const restored = [
    [ada, 1],
    [cyd, 9],
  ] as const;
  const { events } = yield* storage(restored, (read) => read(kept));
  expect(events.map(({ data }) => "chatId" in data && data.chatId)).toEqual([cyd]);
  const refused = yield* Effect.flip(storage(restored, (read) => read(lost)));
  expect(refused).toMatchObject({ _tag: "Conflict", reason: "cursor_expired" });
});

test("a stream that is behind ends within a second after its key", function* () {
  const told = Effect.gen(function* () {
    const feed = yield* EventFeed;
    const scope = yield* (yield* KeyStore).ensureScope("acme", { kind: "global" }, pid);
    const target = { scope, guildId: null, keyId: "revoked" as KeyId };
    const start = { cursor: null, from: "oldest", types: null, chatId: null, gameId: null } as const;
    const countOf = <A>(read: Stream.Stream<A, unknown>) =>
      read.pipe(
        // Each page is read when the one before was sent.
        Stream.tap(() => TestClock.adjust("10 millis")),
        Stream.runFold(
          () => 0,
          (count) => count + 1,
        ),
      );
    return [
      yield* countOf(Stream.filter(yield* feed.stream(target, start), ({ step }) => step === "event")),
      yield* countOf(feed.follow(target, start)),
    ];
  });
  const links = Array.from(
    { length: 150 },
    (_, index) => [ChatId.make(String(20_001 + index)), index] as const,
  );
  expect(yield* storage(links, () => told)).toEqual([100, 100]);
});

test("a long poll and a stream end in time though the clock is set back by an hour meanwhile", function* () {
  let ahead = 0;
  const told = Effect.gen(function* () {
    const feed = yield* EventFeed;
    const scope = yield* (yield* KeyStore).ensureScope("acme", { kind: "global" }, pid);
    const target = { scope, guildId: null, keyId: null };
    const start = { cursor: null, from: "now", types: null, chatId: null, gameId: null } as const;
    const stream = Stream.runCollect(Stream.unwrap(feed.stream(target, start)));
    const reads = Effect.all([feed.read(target, { ...start, limit: 1, wait: 25_000 }), stream], {
      concurrency: "unbounded",
    });
    const reading = yield* Effect.forkChild(reads, { startImmediately: true });
    yield* TestClock.adjust("1 second");
    ahead = -3_600_000;
    for (let passed = 0; passed < 30; passed++) yield* TestClock.adjust("1 second");
    const [page, steps] = yield* Fiber.join(reading);
    return [page.events, steps.map(({ step }) => step)];
  });
  const steps = ["begin", "idle", "idle", "timeout"];
  expect(yield* aheadBy(() => ahead)(storage([], () => told))).toEqual([[], steps]);
});
