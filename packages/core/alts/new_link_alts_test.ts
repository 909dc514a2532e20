import { assert, testWith } from "@accountlink/test-servers/effect";
import { Context, Deferred, Effect, Exit, Layer, Scope } from "effect";
import { TestClock } from "effect/testing";
import { AddressVault } from "../addresses/address_vault.ts";
import type { DataScope } from "../data_scope.ts";
import { StoreUnavailable } from "../errors.ts";
import { GuildLog } from "../guild_log/guild_log.ts";
import type { LogEntry } from "../guild_log/log_entry.ts";
import type { ChatId } from "../ids.ts";
import { LinkStore } from "../links/link_store.ts";
import { LinkWriter } from "../links/link_writer.ts";
import { Records } from "../records/mod.ts";
import { SessionStore } from "../sessions/session_store.ts";
import { address, chatId, gameId, operator, scopes, services, vaultWith } from "../test_services.ts";
import { dayMs } from "../timestamp.ts";
import { NetworkIntelligence } from "./network_intelligence.ts";
import { mostNewLinks, NewLinkAlts } from "./new_link_alts.ts";
import { type NewLink, noteNewLink, SuspectStore } from "./suspect_store.ts";

const [ada, ben, cyd] = [chatId("10001"), chatId("10002"), chatId("10003")];
const gameOf = { [ada]: gameId("1"), [ben]: gameId("2"), [cyd]: gameId("1") };

const test = testWith(
  Layer.mergeAll(vaultWith(1), NetworkIntelligence.none).pipe(Layer.provideMerge(services)),
);

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

/** Remembers a link as a completed flow does. */
const note = (scope: DataScope, link: Omit<NewLink, "pid" | "dueAt">) =>
  Effect.flatMap(Effect.context(), (context) =>
    Context.getUnsafe(
      context,
      Records,
    )("SuspectStore").write("note", scope.pid, (tx) => noteNewLink(tx, { ...link, pid: scope.pid })),
  );

/** Starts `NewLinkAlts`. `told` has what it tells the log. */
const open = Effect.fnUntraced(function* (
  ports: { links?: LinkStore["Service"]; suspects?: SuspectStore["Service"] } = {},
) {
  const scope = yield* Scope.make();
  const told: Array<LogEntry> = [];
  const log = GuildLog.of({
    ...(yield* GuildLog),
    tell: (_, entry) => Effect.sync(() => void told.push(entry)),
  });
  const given = Layer.mergeAll(
    Layer.succeed(LinkStore, ports.links ?? (yield* LinkStore)),
    Layer.succeed(SuspectStore, ports.suspects ?? (yield* SuspectStore)),
    Layer.succeed(GuildLog, log),
  );
  const layer = NewLinkAlts.layer.pipe(Layer.provide(given), Layer.fresh);
  const alts = Context.get(yield* Layer.buildWithScope(layer, scope), NewLinkAlts);
  return { alts, told, close: Scope.close(scope, Exit.void) };
});

const linkOf = (user: ChatId) => ({ chatId: user, gameId: gameOf[user] ?? gameId("1"), at: 1 });

/** Lets other fibers run until the condition holds. */
const until = (isMet: () => boolean, pass: Effect.Effect<unknown> = Effect.void) =>
  Effect.andThen(
    pass,
    Effect.promise(() => new Promise((resolve) => setTimeout(resolve))),
  ).pipe(Effect.repeat({ until: isMet }));

const untilCounted = Effect.gen(function* () {
  const { dueLinks } = yield* SuspectStore;
  while ((yield* dueLinks(Number.MAX_SAFE_INTEGER, 9)).length > 0) yield* until(() => true);
});

test("likely alts of new links are stored and told to the log, once", function* () {
  const scope = yield* linkUsers;
  const suspects = yield* SuspectStore;
  const { alts, told, close } = yield* open();
  for (const user of [ben, cyd]) {
    yield* note(scope, linkOf(user));
    yield* alts.count(scope, linkOf(user));
    yield* alts.count(scope, linkOf(user));
  }
  yield* untilCounted;
  yield* close;
  assert.deepStrictEqual(
    told.map((entry) => [entry.is, "chatId" in entry && entry.chatId]),
    [["alike", cyd]],
  );
  const found = yield* suspects.find(scope.pid, 0);
  // A shared address is too little to be told.
  assert.deepStrictEqual(
    found.map((pair) => [pair.chatId, pair.otherChatId, pair.evidence[0]?.kind]),
    [[cyd, ada, "game"]],
  );
});

const away: Effect.Effect<never, StoreUnavailable> = Effect.fail(
  new StoreUnavailable({ operation: "LinkStore.findByChatId" }),
);

test("alts of a link are counted once the storage is back, also by a node that has started since", function* () {
  const scope = yield* linkUsers;
  const links = yield* LinkStore;
  let failures = 0;
  const first = yield* open({
    links: {
      ...links,
      findByChatId: () =>
        Effect.andThen(
          Effect.sync(() => failures++),
          away,
        ),
    },
  });
  yield* note(scope, linkOf(cyd));
  yield* first.alts.count(scope, linkOf(cyd));
  yield* until(() => failures === 2, TestClock.adjust("1 minute"));
  yield* first.close;
  const next = yield* open();
  yield* until(() => next.told.length === 1, TestClock.adjust("1 minute"));
  yield* next.close;
});

test("a link that nobody could count within a day is given up", function* () {
  const scope = yield* linkUsers;
  yield* note(scope, { ...linkOf(cyd), at: -dayMs });
  const { told, close } = yield* open();
  yield* untilCounted;
  yield* close;
  assert.deepStrictEqual(told, []);
});

test("alts of a link that was replaced since are not told to the log", function* () {
  const scope = yield* linkUsers;
  const { alts, told, close } = yield* open();
  const link = { ...linkOf(cyd), gameId: gameId("2") };
  yield* note(scope, link);
  yield* alts.count(scope, link);
  yield* untilCounted;
  yield* close;
  assert.deepStrictEqual(told, []);
});

test("links of an account wait on a node up to a bound, and do not keep it from stopping", function* () {
  const scope = yield* linkUsers;
  const suspects = yield* SuspectStore;
  const isHeld = yield* Deferred.make<void>();
  let asked = 0;
  const { alts, close } = yield* open({
    suspects: {
      ...suspects,
      settleLink: () =>
        Effect.suspend(() => (++asked === 1 ? Deferred.await(isHeld) : Effect.void)).pipe(Effect.as(false)),
    },
  });
  for (let i = 0; i < mostNewLinks + 3; i++) yield* alts.count(scope, linkOf(ben));
  yield* until(() => asked === 1);
  yield* Deferred.succeed(isHeld, undefined);
  yield* until(() => asked > mostNewLinks);
  assert.strictEqual(asked, mostNewLinks + 1);
  yield* close;
});
