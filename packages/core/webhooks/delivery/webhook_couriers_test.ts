/** Tests which requests a receiver gets, when and in which order, on the test clock. */

import { PlatformMemory } from "@accountlink/memory";
import { assert, testWith } from "@accountlink/test-servers/effect";
import { aMember, makeDelivery, uniqueText } from "@accountlink/testing";
import { Clock, Deferred, Effect, Fiber, Layer } from "effect";
import { TestClock } from "effect/testing";
import { type DataScope, guildOf } from "../../data_scope.ts";
import { GuildId } from "../../ids.ts";
import { ApiKeys } from "../../keys/api_keys.ts";
import { LinkWriter } from "../../links/link_writer.ts";
import { Secrets } from "../../secrets/secrets.ts";
import {
  chatId,
  gameId,
  later,
  operator,
  platform,
  scopes,
  services,
  servicesOn,
  startNodeOn,
} from "../../test_services.ts";
import { UserData } from "../../users/user_data.ts";
import type { WebhookId, WebhookUpdate } from "../webhook.ts";
import {
  type WebhookAnswer,
  type WebhookRequest,
  WebhookSender,
  WebhookUnanswered,
} from "../webhook_sender.ts";
import { WebhookStore } from "../webhook_store.ts";
import { type NewWebhook, Webhooks } from "../webhooks.ts";
import { WebhookCouriers } from "./webhook_couriers.ts";

interface Sent {
  readonly node: string;
  readonly path: string;
  readonly id: string;
  readonly type: string;
  readonly chatId: string | undefined;
  readonly gameId: string | null | undefined;
}

type Answering = (sent: Sent) => Effect.Effect<WebhookAnswer, WebhookUnanswered>;

const ok: Effect.Effect<WebhookAnswer> = Effect.succeed({ status: 200, retryAfter: null });
const status = (code: number): Effect.Effect<WebhookAnswer> =>
  Effect.succeed({ status: code, retryAfter: null });

/** A deployment with a receiver of webhooks. Tests choose the receiver's answers. */
const deployment = Effect.gen(function* () {
  const sent: Array<Sent> = [];
  let answering: Answering = () => ok;
  let open = 0;
  let mostOpen = 0;

  const send = (node: string) => (request: WebhookRequest) => {
    const { type, data } = JSON.parse(request.body) as {
      readonly type: string;
      readonly data: { readonly chatId?: string; readonly gameId?: string };
    };
    const one: Sent = {
      node,
      path: new URL(request.url).pathname,
      id: request.headers["webhook-id"] ?? "",
      type,
      chatId: data.chatId,
      gameId: data.gameId,
    };
    return Effect.suspend(() => {
      sent.push(one);
      open++;
      mostOpen = Math.max(mostOpen, open);
      return answering(one);
    }).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          open--;
        }),
      ),
    );
  };

  const store = yield* WebhookStore;
  // Web Crypto runs in real time, not on the test clock. So these fakes replace the functions that use it.
  const secrets = {
    ...(yield* Secrets),
    signWebhook: () => Effect.succeed("signature"),
    webhookLane: (_: string, user: string) => Effect.succeed(user),
  };

  const startNode = (name = uniqueText()) =>
    startNodeOn(store, (reachable) =>
      WebhookCouriers.layer.pipe(
        Layer.provide([
          Layer.succeed(WebhookSender, { problemOf: () => Effect.succeed(null), send: send(name) }),
          Layer.succeed(WebhookStore, reachable),
          Layer.succeed(Secrets, secrets),
        ]),
      ),
    );

  const webhooks = yield* Webhooks;
  const writer = yield* LinkWriter;
  const { global } = yield* scopes;
  return {
    sent,
    startNode,
    /** Starts a node at the given time in milliseconds, lets it send for one second, and stops it. */
    sendAt: (time: number) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        later(time - now)(
          Effect.gen(function* () {
            const { stop } = yield* startNode();
            yield* pass(1, 0.1);
            yield* stop;
          }),
        ),
      ),
    answer: (next: Answering) => {
      answering = next;
    },
    mostOpen: () => mostOpen,
    create: (path: string, chosen: Partial<NewWebhook> = {}) =>
      Effect.map(
        webhooks.create(
          {
            account: { name: "acme", chatId: null, tier: "free" },
            target: { kind: "global" },
            url: `https://example.com${path}`,
            ...chosen,
          },
          operator,
        ),
        ({ webhook }) => webhook,
      ),
    find: (id: string) => webhooks.find(null, id),
    succeedByHand: (id: WebhookId) =>
      Effect.flatMap(Clock.currentTimeMillis, (endedAt) => {
        const delivery = makeDelivery({ type: "test", status: "waiting", position: null });
        return store.recordRequested({
          id,
          delivery,
          attemptedAt: endedAt,
          endedAt,
          type: null,
          status: 204,
          error: null,
        });
      }),
    /** Stores that a webhook has been failing since `failedAt`. */
    failSince: Effect.fnUntraced(function* (id: WebhookId, failedAt: number) {
      const [node, at, position] = [uniqueText(), failedAt, 0];
      yield* store.hold({ node, at, until: at + 1, limit: 100 });
      const nothing = { deliveries: [], freedLanes: [], deliveredAt: null };
      yield* store.record({ id, node, at, position, failedAt, ...nothing });
    }),
    update: (id: string, values: WebhookUpdate) => webhooks.update(null, id, values, operator),
    deliveries: (id: string) =>
      Effect.map(webhooks.deliveries(null, id, { status: null, before: null, limit: 1_000 }), (page) =>
        page.deliveries.toReversed(),
      ),
    link: (user: string, game: string, scope: DataScope = global) =>
      writer.setGame(
        { origin: operator, scope, guildId: guildOf(scope) },
        { chatId: chatId(user), gameId: gameId(game) },
      ),
  };
});

/** Lets time pass in steps, so that waiting fibers continue in between. */
const pass = Effect.fnUntraced(function* (seconds: number, step = 1) {
  for (let passed = 0; passed < seconds; passed += step) yield* TestClock.adjust(step * 1_000);
});

const eraseUser = (user: string) =>
  Effect.provide(
    UserData.use(({ erase }) => erase(chatId(user), operator)),
    UserData.layer,
  );

const gamesOf = (sent: ReadonlyArray<Sent>, user: string) =>
  sent.filter((one) => one.chatId === user).map((one) => one.gameId);

const test = testWith(services);

const hour = 3_600_000;

test("a webhook gets no new events while it is paused, and gets them when it is active again", function* () {
  const { startNode, create, update, link, sent } = yield* deployment;
  const { id } = yield* create("/a");
  yield* startNode();
  yield* link("10001", "1");
  yield* pass(1);
  yield* update(id, { status: "paused" });
  yield* link("10001", "2");
  // Wait for less than one second, the interval at which nodes poll for changed webhooks.
  yield* pass(0.9, 0.1);
  assert.deepEqual(gamesOf(sent, "10001"), ["1"]);
  yield* update(id, { status: "active" });
  yield* pass(2);
  assert.deepEqual(gamesOf(sent, "10001"), ["1", "2"]);
});

test("a failing delivery is tried again by the schedule, and given up after the eighth attempt", function* () {
  const { sendAt, create, answer, link, sent, deliveries, find } = yield* deployment;
  answer(() => status(500));
  const { id } = yield* create("/a");
  yield* link("10001", "1");
  yield* link("10001", "2");
  yield* sendAt(0);
  // Events of the same millisecond are listed in any order, so take the delivery with the most attempts.
  const latest = Effect.map(deliveries(id), (all) =>
    all.toSorted((one, next) => next.attempts - one.attempts).at(0),
  );
  for (let attempts = 1; attempts < 8; attempts++) {
    const delivery = yield* latest;
    assert.include(delivery, { attempts, status: "failing", responseStatus: 500, error: "status" });
    const next = delivery?.nextAttemptAt ?? 0;
    yield* sendAt(next - 5_000);
    assert.deepEqual(gamesOf(sent, "10001"), Array<string>(attempts).fill("1"));
    yield* sendAt(next);
  }
  assert.include(yield* latest, { attempts: 8, status: "given_up", nextAttemptAt: null });
  assert.deepEqual(gamesOf(sent, "10001"), [...Array<string>(8).fill("1"), "2"]);
  assert.strictEqual((yield* find(id)).pending, 1);
});

test("failing deliveries are tried again soon after the clock, which was a month ahead, is set back", function* () {
  const { startNode, sendAt, create, answer, link, sent } = yield* deployment;
  answer(() => status(500));
  yield* create("/a");
  const users = ["10001", "10002", "10003", "10004", "10005", "10006"];
  for (const user of users) yield* link(user, "1");
  yield* sendAt(30 * 24 * hour);
  const games = (game: ReturnType<typeof gamesOf>) => users.map(() => game);
  const received = () => users.map((user) => gamesOf(sent, user));
  assert.deepEqual(received(), games(["1"]));
  answer(() => ok);
  yield* startNode();
  yield* pass(2);
  assert.deepEqual(received(), games(["1", "1"]));
});

test("a failing delivery does not delay the `user.erased` event, and is then retried without the user's IDs", function* () {
  const { startNode, create, answer, link, sent } = yield* deployment;
  answer(({ type }) => (type === "user.erased" ? ok : status(500)));
  yield* create("/a");
  yield* startNode();
  yield* link("10001", "1");
  yield* pass(2);
  yield* eraseUser("10001");
  yield* pass(2);
  assert.deepEqual(
    sent.map(({ type, chatId: user }) => [type, user]),
    [
      ["link.set", "10001"],
      ["user.erased", "10001"],
    ],
  );
  yield* pass(5);
  assert.deepEqual(sent[2], { ...(sent[0] as Sent), chatId: "[erased]", gameId: "[erased]" });
});

test("waiting events lose the IDs of users who are erased meanwhile", function* () {
  const { startNode, create, answer, link, sent } = yield* deployment;
  answer(() => Effect.delay(ok, "5 seconds"));
  yield* create("/a");
  yield* startNode();
  yield* link("10001", "1");
  yield* link("10001", "2");
  yield* pass(2);
  yield* eraseUser("10001");
  yield* pass(20);
  assert.deepEqual(
    sent.map(({ type, chatId: user, gameId: game }) => [type, user, game]),
    [
      ["link.set", "10001", "1"],
      ["link.set", "[erased]", "[erased]"],
      ["user.erased", "10001", undefined],
    ],
  );
});

test("a webhook is disabled after five days of failures, and keeps its pending events", function* () {
  const { sendAt, create, answer, link, sent, find, update, deliveries } = yield* deployment;
  answer(() => Effect.fail(new WebhookUnanswered({ error: "timeout" })));
  const { id } = yield* create("/a");
  for (let day = 0; day <= 5; day++) {
    assert.strictEqual((yield* find(id)).status, "active");
    yield* link(String(10_001 + day), "1");
    yield* sendAt(day * 24 * hour);
  }
  const { status: now, disabledReason, pending } = yield* find(id);
  assert.deepEqual([now, disabledReason], ["disabled", "failing"]);
  assert.include((yield* deliveries(id))[0], { error: "timeout", responseStatus: null });
  assert.isAbove(pending, 0);
  const before = sent.length;
  yield* sendAt(6 * 24 * hour);
  assert.lengthOf(sent, before);
  answer(() => ok);
  yield* later(6 * 24 * hour)(update(id, { status: "active" }));
  yield* sendAt(6 * 24 * hour + 10_000);
  assert.strictEqual(sent.length - before, pending);
  assert.include(yield* find(id), { status: "active", pending: 0, failingSince: null });
});

test("an event that fails once, days after a given-up one, is tried again and disables no webhook", function* () {
  const { sendAt, create, answer, link, find, failSince } = yield* deployment;
  const { id } = yield* create("/a");
  yield* failSince(id, 0);
  let attempts = 0;
  answer(() => (attempts++ === 0 ? status(500) : ok));
  yield* link("10001", "1");
  yield* sendAt(6 * 24 * hour);
  yield* sendAt(6 * 24 * hour + 10_000);
  assert.strictEqual(attempts, 2);
  assert.include(yield* find(id), { status: "active", failingSince: null });
});

test("five days of failures do not disable a webhook if an event was successfully resent meanwhile", function* () {
  const { startNode, create, answer, link, find, failSince, succeedByHand } = yield* deployment;
  const { id } = yield* create("/a");
  yield* failSince(id, 0);
  const answered = yield* Deferred.make<WebhookAnswer>();
  answer(() => Deferred.await(answered));
  const fiveDaysLater = Effect.gen(function* () {
    yield* startNode();
    yield* link("10001", "1");
    yield* pass(1);
    yield* succeedByHand(id);
    yield* Deferred.succeed(answered, { status: 500, retryAfter: null });
    yield* pass(1);
  });
  yield* later(5 * 24 * hour)(fiveDaysLater);
  assert.strictEqual((yield* find(id)).status, "active");
});

test("a slow receiver delays no other receiver, and gets few concurrent requests", function* () {
  const { startNode, create, answer, link, sent, mostOpen } = yield* deployment;
  answer(({ path }) => (path === "/slow" ? Effect.delay(ok, "9 seconds") : ok));
  yield* create("/slow");
  yield* create("/fast");
  yield* startNode();
  for (let user = 10_001; user <= 10_030; user++) yield* link(String(user), "1");
  yield* pass(2);
  const at = (path: string) => sent.filter((one) => one.path === path).length;
  assert.deepEqual([at("/slow"), at("/fast")], [8, 30]);
  assert.isAtMost(mostOpen(), 16);
  yield* pass(40);
  assert.strictEqual(at("/slow"), 30);
});

test("a receiver that refuses all requests gets about a hundred of them per second, and gets all events after it recovers", function* () {
  const { startNode, create, answer, link, sent, find } = yield* deployment;
  const { id } = yield* create("/a");
  const users = Array.from({ length: 300 }, (_, index) => String(10_001 + index));
  for (const user of users) yield* link(user, "1");
  answer(() => status(500));
  yield* startNode();
  yield* pass(1, 0.01);
  assert.isAtLeast(sent.length, 50);
  assert.isAtMost(sent.length, 110);
  answer(() => ok);
  yield* pass(20);
  assert.strictEqual((yield* find(id)).pending, 0);
});

test("a stopping node finishes attempts in flight, and hands over its webhooks at once", function* () {
  const { startNode, create, answer, link, sent, find } = yield* deployment;
  answer(() => Effect.delay(ok, "4 seconds"));
  const { id } = yield* create("/a");
  const { stop } = yield* startNode("first");
  yield* pass(1);
  yield* startNode("second");
  for (let user = 10_001; user <= 10_020; user++) yield* link(String(user), "1");
  yield* pass(2);
  const stopping = yield* Effect.forkChild(stop);
  yield* pass(5);
  yield* Fiber.join(stopping);
  yield* pass(20);
  assert.strictEqual(sent.length, 20);
  assert.deepEqual([...new Set(sent.map(({ node }) => node))], ["first", "second"]);
  assert.strictEqual((yield* find(id)).pending, 0);
});

const guilds = ["80001", "80002", "80003", "80004", "80005"].map((id) => GuildId.make(id));
const users = Array.from({ length: 10 }, (_, index) => String(10_001 + index));
const testInGuilds = testWith(
  servicesOn(
    PlatformMemory.layer({
      ...platform,
      guilds: guilds.map((id) => ({
        id,
        name: null,
        bot: true,
        members: users.map((user) => aMember(user)),
      })),
    }),
  ),
);

testInGuilds("slow receivers of one account leave another account its concurrent attempts", function* () {
  const { startNode, create, answer, link, sent } = yield* deployment;
  answer(() => Effect.delay(ok, "9 seconds"));
  const keys = yield* ApiKeys;
  const account = { name: "other", chatId: null, tier: "free" } as const;
  for (const id of guilds) {
    const target = { kind: "guild", guildId: id } as const;
    for (let hook = 0; hook < 5; hook++) yield* create("/slow", { account, target });
    const scope = yield* keys.scopeOf(account, target);
    for (const user of users) yield* link(user, "1", scope);
  }
  yield* startNode();
  yield* pass(2);
  const sentTo = (path: string) => sent.filter((one) => one.path === path).length;
  assert.isAtLeast(sentTo("/slow"), 100);
  yield* create("/own");
  for (const user of users) yield* link(user, "1");
  yield* pass(2);
  assert.strictEqual(sentTo("/own"), 8);
});
