import { assert, test } from "@accountlink/test-servers/effect";
import { Context, Deferred, Effect, Exit, Fiber, Layer, Metric, Scope } from "effect";
import { TestClock } from "effect/testing";
import { AddressVault } from "../addresses/address_vault.ts";
import { StoreUnavailable } from "../errors.ts";
import { GuildLog } from "../guild_log/guild_log.ts";
import type { LogEntry } from "../guild_log/log_entry.ts";
import type { ChatId } from "../ids.ts";
import { LinkStore } from "../links/link_store.ts";
import { LinkWriter } from "../links/link_writer.ts";
import { SessionStore } from "../sessions/session_store.ts";
import { address, chatId, gameId, operator, scopes, services, vaultWith } from "../test_services.ts";
import { NetworkIntelligence } from "./network_intelligence.ts";
import { mostNewLinks, NewLinkAlts } from "./new_link_alts.ts";
import { SuspectStore } from "./suspect_store.ts";

const [ada, ben, cyd] = [chatId("10001"), chatId("10002"), chatId("10003")];
const gameOf = { [ada]: gameId("1"), [ben]: gameId("2"), [cyd]: gameId("1") };

const base = Layer.mergeAll(vaultWith(1), NetworkIntelligence.none).pipe(Layer.provideMerge(services));

/** Links three users: Ada and Ben have the same address, and Ada and Cyd the same game account. */
const linkUsers = Effect.gen(function* () {
  const { global } = yield* scopes;
  const protectedAddress = yield* (yield* AddressVault).protect(address("203.0.113.7"));
  for (const user of [ada, ben, cyd]) {
    const target = { scope: global, guildId: null, origin: operator };
    yield* (yield* LinkWriter).setGame(target, { chatId: user, gameId: gameOf[user] ?? gameId("1") });
  }
  const seen = [ada, ben].map((user) => ({ chatId: user, address: protectedAddress, seenAt: 0 }));
  yield* (yield* SessionStore).recordSightings(global.pid, seen);
  return global;
});

/** Starts `NewLinkAlts`. `told` has what it tells the log. */
const open = Effect.fnUntraced(function* (links: LinkStore["Service"]) {
  const scope = yield* Scope.make();
  const told: Array<LogEntry> = [];
  const log = GuildLog.of({
    ...(yield* GuildLog),
    tell: (_, entry) => Effect.sync(() => void told.push(entry)),
  });
  const given = Layer.merge(Layer.succeed(LinkStore, links), Layer.succeed(GuildLog, log));
  const layer = NewLinkAlts.layer.pipe(Layer.provide(given), Layer.fresh);
  const alts = Context.get(yield* Layer.buildWithScope(layer, scope), NewLinkAlts);
  return { alts, told, close: Scope.close(scope, Exit.void) };
});

const linkOf = (scope: Effect.Success<typeof linkUsers>, user: ChatId) => ({
  scope,
  chatId: user,
  gameId: gameOf[user] ?? gameId("1"),
  at: 1,
});

test("likely alts of new links are stored and told to the log, before a node has stopped", function* () {
  yield* Effect.gen(function* () {
    const scope = yield* linkUsers;
    const { alts, told, close } = yield* open(yield* LinkStore);
    for (const user of [ben, cyd]) yield* alts.count(linkOf(scope, user));
    yield* close;
    assert.deepStrictEqual(
      told.map((entry) => [entry.is, "chatId" in entry && entry.chatId]),
      [["alike", cyd]],
    );
    const found = yield* (yield* SuspectStore).find(scope.pid, 0);
    // A shared address is too little to be told.
    assert.deepStrictEqual(
      found.map((pair) => [pair.chatId, pair.otherChatId, pair.evidence[0]?.kind]),
      [[cyd, ada, "game"]],
    );
  }).pipe(Effect.provide(base));
});

const away: Effect.Effect<never, StoreUnavailable> = Effect.fail(
  new StoreUnavailable({ operation: "LinkStore.findByChatId" }),
);

test("alts of a link are counted again once the storage is back", function* () {
  yield* Effect.gen(function* () {
    const scope = yield* linkUsers;
    const links = yield* LinkStore;
    let failures = 2;
    const { alts, told, close } = yield* open({
      ...links,
      findByChatId: (pid, user) => (failures-- > 0 ? away : links.findByChatId(pid, user)),
    });
    yield* alts.count(linkOf(scope, cyd));
    while (told.length === 0) {
      yield* TestClock.adjust("1 minute");
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve)));
    }
    yield* close;
    assert.isBelow(failures, 0);
  }).pipe(Effect.provide(base));
});

test("alts of a link that was replaced since are not told to the log", function* () {
  yield* Effect.gen(function* () {
    const scope = yield* linkUsers;
    const { alts, told, close } = yield* open(yield* LinkStore);
    yield* alts.count({ ...linkOf(scope, cyd), gameId: gameId("2") });
    yield* close;
    assert.deepStrictEqual(told, []);
  }).pipe(Effect.provide(base));
});

test.each<readonly [string, typeof away]>([
  ["no node can count in time", Effect.never],
  ["are counted again later", away],
])(
  "links of an account that %s wait up to a bound, are skipped beyond it, and do not keep the node",
  function* ([, found]) {
    yield* Effect.gen(function* () {
      const scope = yield* linkUsers;
      const links = yield* LinkStore;
      const isHeld = yield* Deferred.make<void>();
      const held: LinkStore["Service"] = {
        ...links,
        findByChatId: () => Effect.andThen(Deferred.succeed(isHeld, undefined), found),
      };
      const skipped = Effect.map(Metric.snapshot, (all) =>
        all.find(({ id }) => id === "accountlink_new_link_alts_skipped_total"),
      );
      const { alts, close } = yield* open(held);
      yield* alts.count(linkOf(scope, ben));
      yield* Deferred.await(isHeld);
      for (let i = 0; i < mostNewLinks + 3; i++) yield* alts.count(linkOf(scope, ben));
      assert.deepInclude(yield* skipped, { state: { count: 3, incremental: true } });
      const closing = yield* Effect.forkChild(close);
      yield* TestClock.adjust("2 seconds");
      yield* Fiber.join(closing);
    }).pipe(Effect.provide(base), Effect.provideService(Metric.MetricRegistry, new Map()));
  },
);
