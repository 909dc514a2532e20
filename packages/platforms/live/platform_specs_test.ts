/** The live adapters against answers that the platforms' own documents allow. */
import type { ChatId, GameId, GuildId, PlatformUnavailable } from "@accountlink/core";
import { GamePlatform } from "@accountlink/core";
import {
  type HeardRequest,
  isProof,
  makeAnswer,
  missingDocuments,
  operationOf,
  type Platform,
  requestMistakes,
  startPlatformServer,
} from "@accountlink/test-servers";
import { expect, testLive } from "@accountlink/test-servers/effect";
import { Cause, Context, Data, Effect, Exit, Layer, Redacted } from "effect";
import { FetchHttpClient } from "effect/http";
import { chatPlatformAt } from "./discord/test_discord.ts";
import { liveGamePlatform } from "./roblox/game_platform.ts";

const skipped = missingDocuments === null ? "" : ` (skipped: ${missingDocuments})`;
const test = testLive.skipIf(missingDocuments !== null);

const request = { method: "GET", path: "/users/1", query: new URLSearchParams(), headers: {}, body: "" };

test(`a request that the documents do not allow is found${skipped}`, function* () {
  const cases: ReadonlyArray<[Platform, Partial<HeardRequest>, string]> = [
    ["discord", { path: "/users/ada" }, "user_id must match pattern"],
    ["discord", { path: "/friends" }, "the platform has no such operation"],
    ["discord", { query: new URLSearchParams("fast=1") }, "fast is not a parameter"],
    [
      "discord",
      { path: "/guilds/1/members", query: new URLSearchParams("limit=1001") },
      "limit must be <= 1000",
    ],
    ["discord", { body: "{}" }, "a body is not expected"],
    [
      "discord",
      { method: "PATCH", path: "/guilds/1/members/2", body: '{"nick":1}' },
      "body/nick must be string,null",
    ],
    ["roblox", { path: "/groups/v2/groups" }, "groupIds is missing"],
  ];
  for (const [platform, part, mistake] of cases) {
    expect(requestMistakes(platform, { ...request, ...part }).join()).toContain(mistake);
  }
  expect(requestMistakes("discord", request)).toEqual([]);
  yield* Effect.void;
});

test(`a test whose adapter sends a wrong request fails, whatever the answer is${skipped}`, function* () {
  const asking = (path: string) =>
    Effect.gen(function* () {
      const server = yield* startPlatformServer("discord", String, () => ({ status: 200, body: "{}" }));
      yield* Effect.promise(() => fetch(new URL(path, server.url)));
    }).pipe(Effect.scoped, Effect.exit);
  expect(Exit.isSuccess(yield* asking("/users/1"))).toBe(true);
  const failed = yield* asking("/users/ada?fast=1");
  expect(Exit.isFailure(failed) && Cause.pretty(failed.cause)).toContain(
    "GET /users/ada: user_id must match pattern",
  );
});

const [guildId, chatId] = ["9223372036854775806" as GuildId, "9223372036854775805" as ChatId];

const gameId = String(Number.MAX_SAFE_INTEGER) as GameId;

/**
 * Open Cloud's documents do not say that a text refers to another answer or to the filter, or is the token of the last
 * page.
 */
const ofCloud = (id: string, body: object): object => {
  if ("groupRoles" in body) return { groupRoles: [{ id: "0", rank: 1 }], nextPageToken: "" };
  if ("inventoryItems" in body && Array.isArray(body.inventoryItems)) {
    const gamePassDetails = { gamePassId: "55" };
    return {
      inventoryItems: body.inventoryItems.map((each) => ({ ...each, gamePassDetails })),
      nextPageToken: "",
    };
  }
  if (!("groupMemberships" in body && Array.isArray(body.groupMemberships))) return { ...body, id };
  return {
    ...body,
    groupMemberships: body.groupMemberships.map((each) => ({
      ...each,
      user: `users/${gameId}`,
      role: "groups/7/roles/0",
    })),
  };
};

/** The IDs in answers that have to repeat the IDs of the request. */
const echoed = (path: string, body: unknown): unknown => {
  const id = path.split("/").at(-1) ?? "";
  if (path === "/users/@me/guilds" && Array.isArray(body)) {
    return body.map((guild, index) => (index === 0 ? { ...guild, id: guildId } : guild));
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  if (/^\/users\/v1\/users\/\d+$/.test(path)) return { ...body, id: Number(id) };
  if (path.startsWith("/apis/cloud/")) return ofCloud(id, body);
  if (/^\/guilds\/\d+\/members\/\d+$/.test(path) && "user" in body)
    return { ...body, user: { ...Object(body.user), id } };
  return /^\/(guilds|users)\/\d+$/.test(path) ? { ...body, id } : body;
};

class Unread extends Data.TaggedError("Unread")<{
  readonly operation: string;
  readonly seed: number;
  readonly cause: unknown;
}> {}

/** The legacy routes in whose place Open Cloud answers. */
const replaced = /^\/(users\/v1\/users|inventory|groups\/v1\/groups)\//;

const startAnswering = (platform: Platform, prefix: string, seed: number, closed?: RegExp) =>
  startPlatformServer(
    platform,
    (path) => path.slice(prefix.length),
    (heard) => {
      const path = heard.path.slice(prefix.length);
      const operation = operationOf(platform, { ...heard, path });
      // The document does not have the bodies of thumbnails.
      if (path.startsWith("/thumbnails/")) return { body: { data: [] } };
      if (operation === undefined || closed?.test(path)) return { status: 404 };
      return { status: operation.status, body: echoed(path, makeAnswer(operation, seed)) };
    },
  );

const seeds = Array.from({ length: isProof ? 2_000 : 12 }, (_, seed) => seed);

const expectAnswered = (
  seed: number,
  questions: Readonly<
    Record<string, Effect.Effect<unknown, PlatformUnavailable | { readonly _tag: string }>>
  >,
) =>
  Effect.forEach(Object.entries(questions), ([name, question]) =>
    Effect.mapError(question, (cause) => new Unread({ operation: name, seed, cause })),
  );

test(`every answer of Discord that its document allows is read${skipped}`, function* () {
  for (const seed of seeds) {
    const { url } = yield* startAnswering("discord", "/api/v10", seed);
    const chat = yield* chatPlatformAt(`${url}/api/v10`);
    const { roles } = chat;
    yield* expectAnswered(seed, {
      findGuild: chat.findGuild(guildId),
      findMember: chat.findMember(guildId, chatId),
      findUser: chat.findUser(chatId),
      joinedGuilds: chat.joinedGuilds([guildId]),
      isManager: chat.isManager(guildId, chatId),
      membersPage: roles?.membersPage(guildId, null) ?? Effect.void,
      roleMember: roles?.findMember(guildId, chatId) ?? Effect.void,
      addRole: roles?.addRole(guildId, chatId, "1") ?? Effect.void,
      makeRole: roles?.makeRole?.(guildId, "Member") ?? Effect.void,
    });
  }
}, 60_000);

test(`every answer of Discord about channels that its document allows is read${skipped}`, function* () {
  for (const seed of seeds) {
    const { url } = yield* startAnswering("discord", "/api/v10", seed);
    const { channels } = yield* chatPlatformAt(`${url}/api/v10`);
    yield* expectAnswered(seed, {
      findChannels: channels?.findChannels(guildId) ?? Effect.void,
      post: channels?.post("1", { content: "Hi", components: [] }) ?? Effect.void,
      edit: channels?.edit("1", "2", { content: "Hi" }) ?? Effect.void,
    });
  }
}, 60_000);

const expectRobloxAnswered = Effect.fnUntraced(function* (apiKey?: Redacted.Redacted) {
  for (const seed of seeds) {
    const { url } = yield* startAnswering("roblox", "", seed, apiKey && replaced);
    const layer = liveGamePlatform({ apiUrl: `${url}/{service}`, apiKey });
    const game = Context.get(yield* Layer.build(Layer.provide(layer, FetchHttpClient.layer)), GamePlatform);
    yield* expectAnswered(seed, {
      hasUser: game.hasUser(gameId),
      findProfile: game.findProfile(gameId),
      findGroups: game.findProfile(gameId, ["groups"], ["7"]),
      findUserByName: game.findUserByName?.("ada") ?? Effect.void,
      findGroup: game.findGroup?.("7") ?? Effect.void,
      groupMembers: game.groupMembers?.("7", null) ?? Effect.void,
      hasItem: game.hasItem?.(gameId, { item: "gamepass", itemId: "55" }) ?? Effect.void,
      findItem: game.findItem?.({ item: "badge", itemId: "55" }) ?? Effect.void,
    });
  }
});

test(
  `every answer of Roblox that its document allows is read${skipped}`,
  () => expectRobloxAnswered(),
  60_000,
);

test(
  `every answer of Open Cloud that its document allows is read${skipped}`,
  () => expectRobloxAnswered(Redacted.make("key")),
  60_000,
);
