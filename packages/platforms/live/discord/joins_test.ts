import type { GuildJoin } from "@accountlink/core/platforms";
import { startDiscordGateway } from "@accountlink/test-servers";
import { expect, testLive as test } from "@accountlink/test-servers/effect";
import { Effect, Exit, Fiber, Scope, Stream } from "effect";
import { vi } from "vitest";
import { botToken, chatPlatformAt, guildId, startDiscord } from "./test_discord.ts";

/** A guild of the next shard. */
const otherGuildId = String(BigInt(guildId) + (1n << 22n));

interface Options {
  readonly shards?: number;
  /** What the API says of the gateway. */
  readonly information?: (usual: object) => object;
}

const setUp = Effect.fnUntraced(function* ({ shards = 1, information = (usual) => usual }: Options = {}) {
  const gateway = yield* startDiscordGateway({ shards });
  const { apiUrl } = yield* startDiscord((path) =>
    path === "/gateway/bot" ? { body: information(gateway.information) } : undefined,
  );
  const { joins } = yield* chatPlatformAt(apiUrl);
  if (joins === undefined) throw new Error("The platform reports no joins");

  let kept: string | null = null;
  const position = {
    read: Effect.sync(() => kept),
    write: (written: string) =>
      Effect.sync(() => {
        kept = written;
      }),
  };
  const joined: Array<GuildJoin> = [];
  /** Receives joins. Returns the effect that waits for the end of the connection. */
  const connect = Effect.gen(function* () {
    const received = Stream.runForEach(yield* joins(position), (join) =>
      Effect.sync(() => joined.push(join)),
    );
    return yield* Effect.forkScoped(received);
  });
  return { gateway, connect, joined, kept: () => kept, keep: position.write };
});

const eventually = (check: () => void) => Effect.promise(() => vi.waitFor(check, { timeout: 15_000 }));

test("the bot identifies every shard with the one intent that it needs, and hears of members", function* () {
  const { gateway, connect, joined } = yield* setUp({ shards: 2 });
  yield* connect;
  const identified = gateway.heard.filter(({ op }) => op === 2).map(({ d }) => d);
  expect(identified).toMatchObject([
    { token: botToken, intents: 2, shard: [0, 2] },
    { token: botToken, intents: 2, shard: [1, 2] },
  ]);
  gateway.join(guildId, "100001", { bot: true });
  gateway.join(guildId, "100002");
  gateway.join(otherGuildId, "100003");
  yield* eventually(() => expect(joined).toHaveLength(2));
  expect(joined).toEqual(
    expect.arrayContaining([
      { guildId, chatId: "100002" },
      { guildId: otherGuildId, chatId: "100003" },
    ]),
  );
});

test("a member who has to pass the guild's screening is told once it is passed", function* () {
  const { gateway, connect, joined } = yield* setUp();
  yield* connect;
  const newcomer = { user: { id: "100002", username: "ada" }, roles: [] };
  const update = (pending: boolean, of: object = newcomer) =>
    gateway.tell("GUILD_MEMBER_UPDATE", guildId, { ...of, pending });
  gateway.tell("GUILD_MEMBER_ADD", guildId, { ...newcomer, pending: true });
  update(true);
  // Who was a member before has joined already.
  update(false, { user: { id: "100003", username: "bob" }, roles: [] });
  update(false);
  update(false);
  gateway.join(guildId, "100004");
  yield* eventually(() => expect(joined).toHaveLength(2));
  expect(joined.map(({ chatId }) => chatId)).toEqual(["100002", "100004"]);
});

test("a lost connection resumes, and Discord repeats the joins since then", function* () {
  const { gateway, connect, joined } = yield* setUp();
  yield* connect;
  gateway.drop();
  gateway.join(guildId, "100002");
  yield* eventually(() => expect(joined).toEqual([{ guildId, chatId: "100002" }]));
  expect([gateway.countOf("identify"), gateway.countOf("resume")]).toEqual([1, 1]);
});

test("a connection without answers to its heartbeats resumes", function* () {
  const { gateway, connect, joined } = yield* setUp();
  gateway.heartbeatInterval = 200;
  yield* connect;
  gateway.acknowledges = false;
  yield* eventually(() => expect(gateway.countOf("resume")).toBeGreaterThan(0));
  gateway.acknowledges = true;
  gateway.join(guildId, "100002");
  yield* eventually(() => expect(joined).toEqual([{ guildId, chatId: "100002" }]));
  expect(gateway.countOf("identify")).toBe(1);
});

test("a session that Discord forgot is replaced", function* () {
  const { gateway, connect, joined } = yield* setUp();
  yield* connect;
  gateway.forgetSessions();
  gateway.drop();
  yield* eventually(() => expect(gateway.countOf("identify")).toBe(2));
  gateway.join(guildId, "100002");
  yield* eventually(() => expect(joined).toEqual([{ guildId, chatId: "100002" }]));
  expect(gateway.countOf("resume")).toBe(1);
});

test("a gateway that closes every connection is asked less and less", function* () {
  const { gateway, connect } = yield* setUp();
  yield* connect;
  gateway.closesResumed = true;
  gateway.drop();
  yield* eventually(() => expect(gateway.countOf("resume")).toBe(3));
  const gaps = gateway.startedAt.slice(1).map((at, index) => at - (gateway.startedAt[index] ?? 0));
  // At the least luck, since timers may be a little early.
  for (const [index, least] of [500, 1_000, 2_000].entries()) expect(gaps[index]).toBeGreaterThan(least - 50);
  expect(gateway.countOf("identify")).toBe(1);
}, 30_000);

test("the bot does not identify itself while less than a tenth of its connections is left", function* () {
  const limit = { total: 1_000, remaining: 99, reset_after: 1, max_concurrency: 1 };
  let [asked, before] = [0, 0];
  const { gateway, connect } = yield* setUp({
    information: (usual) => {
      before = gateway.countOf("identify");
      return ++asked > 3 ? usual : { ...usual, session_start_limit: limit };
    },
  });
  yield* connect;
  expect([before, gateway.countOf("identify")]).toEqual([0, 1]);
});

test.each([4010, 4011, 4012, 4013])(
  "joins end with one reason if the gateway closes with %i",
  function* (code) {
    const { gateway, connect } = yield* setUp();
    gateway.refusal = code;
    expect((yield* Effect.flip(Effect.scoped(connect)))._tag).toBe("JoinsRefused");
    expect(gateway.countOf("identify")).toBe(1);
  },
);

test("joins are refused with the reason if the application lacks the intent", function* () {
  const { gateway, connect } = yield* setUp();
  gateway.refusal = 4014;
  const refused = yield* Effect.flip(Effect.scoped(connect));
  expect([refused._tag, "reason" in refused && refused.reason]).toEqual([
    "JoinsRefused",
    'the application lacks the privileged intent "server members"',
  ]);
  expect(gateway.countOf("identify")).toBe(1);
});

test("joins fail while the gateway is down", function* () {
  const { gateway, connect } = yield* setUp();
  const connection = yield* connect;
  gateway.isDown = true;
  gateway.drop();
  expect((yield* Effect.flip(Fiber.join(connection)))._tag).toBe("PlatformUnavailable");
});

test("the next connection, of any node, resumes where Discord said, and leaves out no join", function* () {
  const { gateway, connect, joined, kept } = yield* setUp({ shards: 2 });
  const ended = yield* Scope.make();
  yield* Scope.provide(connect, ended);
  yield* eventually(() => expect(kept()).toContain('"shardId":1'));
  yield* Scope.close(ended, Exit.void);
  yield* eventually(() => expect(gateway.connections()).toBe(0));
  gateway.join(guildId, "100002");
  yield* connect;
  yield* eventually(() => expect(joined).toEqual([{ guildId, chatId: "100002" }]));
  expect([gateway.countOf("identify"), gateway.countOf("resume")]).toEqual([2, 2]);
  expect(gateway.resumedAt.map((path) => path.split("?")[0])).toEqual(["/resume", "/resume"]);
});

test("the bot's token goes to no stored address outside of the gateway's domain", function* () {
  const { gateway, connect, joined, keep } = yield* setUp();
  const session = { shardId: 0, shardCount: 1, sessionId: "an-old-session", sequence: 3 };
  yield* keep(JSON.stringify([{ ...session, resumeURL: "ws://127.0.0.2:1" }]));
  yield* connect;
  gateway.join(guildId, "100002");
  yield* eventually(() => expect(joined).toEqual([{ guildId, chatId: "100002" }]));
});
