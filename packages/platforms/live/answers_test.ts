import type { GameId } from "@accountlink/core";
import { type GameItem, noFeatures } from "@accountlink/core/platforms";
import { type HttpAnswer, type HttpAnswering, isProof, startHttpServer } from "@accountlink/test-servers";
import { expect, testLive as test } from "@accountlink/test-servers/effect";
import { Effect, Option, Redacted, Result, Schema } from "effect";
import { FetchHttpClient, HttpClient, HttpClientResponse } from "effect/http";
import type { RequestFailed } from "../http/mod.ts";
import { signIn as anySignIn, callback } from "../http/oauth/test_sign_in.ts";
import { answers, ask, gameHost, type Route } from "./answers.ts";
import { ada, eve, guildId } from "./discord/test_discord.ts";
import { type LivePlatforms, livePlatforms } from "./test_platforms.ts";

const game = "1" as GameId;
const item = (kind: GameItem["item"]): GameItem => ({ item: kind, itemId: "55" });
const bot = { id: "80351110224678912", username: "accountlink" };
const [botRole, role] = ["41771983423143940", "41771983423143938"];
const roleFields = { managed: false, permissions: "8" };

/** What else is asked beside the tested route. */
const usual: Readonly<Record<string, unknown>> = {
  "POST /oauth2/token": { access_token: "access", token_type: "Bearer", scope: "identify connections" },
  "GET /users/@me": bot,
  "GET /users/@me/guilds": [{ id: guildId }],
  [`GET /guilds/${guildId}`]: {
    id: guildId,
    owner_id: ada.id,
    roles: [
      { id: botRole, name: "accountlink", position: 2, ...roleFields },
      { id: role, name: "Member", position: 1, ...roleFields },
    ],
  },
  [`GET /guilds/${guildId}/channels`]: [],
  [`GET /guilds/${guildId}/members/${bot.id}`]: { user: bot, roles: [botRole] },
  [`GET /guilds/${guildId}/members/${eve.id}`]: { user: eve, roles: [role], joined_at: null },
  "GET /": { features: ["names", "groups", "items"], items: ["app"] },
  "GET /users/1": { id: 1, username: "ada_g" },
  "GET /users.roblox.com/v1/users/1": { id: 1, name: "ada_g" },
  "GET /groups.roblox.com/v2/groups": { data: [{ id: 9, name: "Makers" }] },
};

const signIn = { ...anySignIn, guildId };

const setRole = (chat: LivePlatforms["chat"], what: "addRole" | "removeRole") =>
  chat.roles[what](guildId, ada.id, role);
const groups = ({ game: platform }: Pick<LivePlatforms, "game">) =>
  Effect.map(platform.findProfile(game, ["groups"]), (found) => Option.getOrThrow(found).groups);

/** How the ports ask on each route whose refusals mean something. */
const questions: { readonly [R in Route]?: (platforms: LivePlatforms) => Effect.Effect<unknown, unknown> } = {
  "GET /guilds/{guild_id}": ({ chat }) => chat.findGuild(guildId),
  "GET /guilds/{guild_id}/members/{user_id}": ({ chat }) => chat.findMember(guildId, ada.id),
  "GET /guilds/{guild_id}/channels": ({ chat }) => chat.channels.findChannels(guildId),
  "POST /channels/{channel_id}/messages": ({ chat }) => chat.channels.post("1", {}),
  "PATCH /channels/{channel_id}/messages/{message_id}": ({ chat }) => chat.channels.edit("1", "2", {}),
  "POST /users/@me/channels": ({ chat }) => chat.channels.postPrivately(ada.id, {}, "once"),
  "POST /guilds/{guild_id}/roles": ({ chat }) =>
    chat.roles.makeRole?.(guildId, "Member") ?? Effect.die("no new roles"),
  // Without the names of roles, a member has only their IDs.
  "GET /guilds/{guild_id}/roles": ({ chat }) =>
    Effect.map(chat.findMember(guildId, eve.id), (found) => Option.getOrThrow(found).roles),
  "GET /guilds/{guild_id}/members": ({ chat }) => chat.roles.membersPage(guildId, null),
  "GET /guilds/{guild_id}/members/search": ({ chat }) => chat.searchMembers(guildId, "a", 5),
  "GET /users/{user_id}": ({ chat }) => chat.findUser(ada.id),
  "PUT /guilds/{guild_id}/members/{user_id}/roles/{role_id}": ({ chat }) => setRole(chat, "addRole"),
  "DELETE /guilds/{guild_id}/members/{user_id}/roles/{role_id}": ({ chat }) => setRole(chat, "removeRole"),
  "PATCH /guilds/{guild_id}/members/{user_id}": ({ chat }) => chat.roles.setNickname(guildId, ada.id, "Ada"),
  "GET /users/@me/guilds/{guild_id}/member": ({ identity }) =>
    Effect.map(identity.finish(signIn, callback), ({ isMember }) => isMember),
  "GET /users/@me/connections": ({ identity }) =>
    Effect.map(
      identity.finish({ ...signIn, withConnections: true }, callback),
      ({ connections }) => connections,
    ),
  "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original": ({ chat }) =>
    chat.commands.editAnswer({ applicationId: "1", token: Redacted.make("t") }, {}),
  "GET users.roblox.com/v1/users/{userId}": ({ game: platform }) => platform.hasUser(game),
  "GET groups.roblox.com/v2/users/{userId}/groups/roles": groups,
  "GET groups.roblox.com/v1/groups/{groupId}/roles": ({ game: platform }) => platform.findGroup("9"),
  "GET groups.roblox.com/v1/groups/{groupId}/users": ({ game: platform }) => platform.groupMembers("9", null),
  "GET inventory.roblox.com/v1/users/{userId}/items/{itemType}/{itemTargetId}/is-owned": ({
    game: platform,
  }) => platform.hasItem(game, item("asset")),
  "GET apis.roblox.com/game-passes/v1/game-passes/{id}/product-info": ({ game: platform }) =>
    platform.findItem(item("gamepass")),
  "GET badges.roblox.com/v1/badges/{badgeId}": ({ game: platform }) => platform.findItem(item("badge")),
  "GET economy.roblox.com/v2/assets/{id}/details": ({ game: platform }) => platform.findItem(item("asset")),
  "GET apis.roblox.com/cloud/v2/users/{user_id}": ({ game: platform }) => platform.hasUser(game),
  "GET apis.roblox.com/cloud/v2/users/{user_id}/inventory-items": ({ game: platform }) =>
    platform.hasItem(game, item("asset")),
  "GET apis.roblox.com/cloud/v2/groups/{group_id}": ({ game: platform }) => platform.findGroup("9"),
  "GET apis.roblox.com/cloud/v2/groups/{group_id}/memberships": ({ game: platform }) =>
    platform.groupMembers("9", null),
  "GET your.game/": ({ own }) => own.features,
  "GET your.game/users": ({ own }) => own.findUserByName("ada_g"),
  "GET your.game/users/{gameId}": ({ own }) => own.hasUser(game),
  "GET your.game/users/{gameId}/groups": ({ own }) => groups({ game: own }),
  "GET your.game/users/{gameId}/items/{item}/{itemId}": ({ own }) =>
    own.hasItem(game, { item: "app", itemId: "55" }),
  "GET your.game/groups/{groupId}": ({ own }) => own.findGroup("9"),
};

const isOfCloud = (route: Route): boolean => route.includes("/cloud/");

/** A response in the form of the route's platform. Numbers are the codes of Roblox's gateway. */
const refused = (route: Route, status: number, code: number | string): HttpAnswer => ({
  status,
  body:
    route.includes("roblox.com") && typeof code === "number"
      ? { errors: [{ code, message: "" }] }
      : { code, message: "" },
});

/** Asks on a route that gets an answer; the others answer as usual. With Open Cloud, the legacy routes are closed. */
const outcome = Effect.fnUntraced(function* (route: Route, answer: HttpAnswering) {
  const [method = "", target = ""] = route.replace(gameHost, "").split(" ");
  const path = new RegExp(`^/?${target.replaceAll(".", "\\.").replaceAll(/\{\w+\}/gu, "[^/]+")}$`, "u");
  const server = yield* startHttpServer((request) => {
    if (request.method === method && path.test(request.path)) return answer;
    if (isOfCloud(route)) return { status: 404 };
    const body = usual[`${request.method} ${request.path}`];
    return body === undefined ? { status: 500 } : { body };
  });
  const urls = { discord: server.url, roblox: `${server.url}/{service}.roblox.com`, own: server.url };
  const platforms = yield* Effect.all(livePlatforms(FetchHttpClient.layer, urls, isOfCloud(route)));
  const question = questions[route] ?? (() => Effect.die("no question"));
  const result = yield* Effect.result(question(platforms));
  if (Result.isSuccess(result)) return result.success;
  const { _tag, reason } = result.failure as { readonly _tag: string; readonly reason?: string };
  return reason ?? _tag;
});

type Outcomes = ReadonlyArray<readonly [status: number, code: number | string, outcome: unknown]>;

const none = Option.none();

/** For a guild that the bot is not in. */
const strange = (expected: unknown): Outcomes => [
  [404, 10_004, expected],
  [403, 50_001, expected],
];

const unnamed = [{ id: role, name: null }];

const changes = (above: string, forbidden: string): Outcomes => [
  [404, 10_004, false],
  [404, 10_007, false],
  [404, 10_013, false],
  [404, 10_011, "role_missing"],
  [403, 60_003, "no_permission"],
  [403, 50_001, above],
  [403, 50_013, above],
  // AutoMod on the nickname or the guild tag.
  [400, 50_035, forbidden],
  [400, 50_024, forbidden],
  [400, 30_005, forbidden],
  // The bot awaits its verification.
  [403, 20_026, forbidden],
  [403, 40_007, forbidden],
  [403, 50_501, forbidden],
  [404, 0, forbidden],
  [409, 0, forbidden],
];
const roleChanges = changes("role_above_bot", "role_refused");
const posts: Outcomes = [
  [404, 10_003, "channel_closed"],
  [403, 50_001, "channel_closed"],
  [403, 50_013, "channel_closed"],
  [400, 50_035, "message_refused"],
  [409, 0, "message_refused"],
];
const things: Outcomes = [
  [400, 20, none],
  [403, 1, none],
  [404, 1, none],
];

const outcomes: { readonly [R in Route]?: Outcomes } = {
  "GET /guilds/{guild_id}": strange(none),
  "GET /guilds/{guild_id}/channels": strange(none),
  "POST /channels/{channel_id}/messages": [
    ...posts,
    // Of a private channel.
    [400, 50_007, "channel_closed"],
    [403, 50_007, "channel_closed"],
    [400, 50_033, "channel_closed"],
    [403, 50_278, "channel_closed"],
    [404, 10_013, "channel_closed"],
    [400, 40_003, "message_refused"],
    [403, 40_003, "message_refused"],
    [400, 20_026, "message_refused"],
    [403, 20_026, "message_refused"],
  ],
  "PATCH /channels/{channel_id}/messages/{message_id}": [
    [404, 10_008, false],
    [403, 50_005, false],
    ...posts,
  ],
  "POST /users/@me/channels": [
    [400, 50_033, "closed"],
    [400, 50_007, "closed"],
    [403, 50_007, "closed"],
    [403, 50_278, "closed"],
    [404, 10_013, "closed"],
    [400, 20_001, "refused"],
    [403, 40_001, "refused"],
    [404, 10_003, "refused"],
    [409, 40_060, "refused"],
    [400, 40_003, "bot_refused"],
    [403, 40_003, "bot_refused"],
    [400, 20_026, "bot_refused"],
    [403, 20_026, "bot_refused"],
  ],
  "POST /guilds/{guild_id}/roles": [
    ...strange(none),
    [403, 50_013, "no_permission"],
    [403, 60_003, "no_permission"],
    [400, 30_005, "role_refused"],
    [403, 20_026, "role_refused"],
    [404, 0, "role_refused"],
    [409, 0, "role_refused"],
  ],
  "GET /guilds/{guild_id}/roles": strange(unnamed),
  "GET /guilds/{guild_id}/members": strange("MembersHidden"),
  "GET /guilds/{guild_id}/members/search": strange([]),
  "GET /guilds/{guild_id}/members/{user_id}": [...strange(none), [404, 10_007, none], [404, 10_013, none]],
  "PATCH /guilds/{guild_id}/members/{user_id}": changes("member_above_bot", "nickname_refused"),
  "PUT /guilds/{guild_id}/members/{user_id}/roles/{role_id}": roleChanges,
  "DELETE /guilds/{guild_id}/members/{user_id}/roles/{role_id}": roleChanges,
  "GET /users/@me/guilds/{guild_id}/member": [
    [404, 10_004, false],
    [404, 10_007, false],
  ],
  "GET /users/{user_id}": [[404, 10_013, none]],
  "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original": [
    [404, 10_008, false],
    [401, 50_027, false],
    [400, 50_035, false],
    [403, 50_013, false],
    [409, 40_060, false],
  ],
  "GET users.roblox.com/v1/users/{userId}": [[404, 3, false]],
  "GET groups.roblox.com/v2/users/{userId}/groups/roles": [[400, 3, []]],
  "GET groups.roblox.com/v1/groups/{groupId}/roles": [[400, 1, none]],
  "GET groups.roblox.com/v1/groups/{groupId}/users": [
    [400, 1, none],
    [403, 35, none],
  ],
  "GET inventory.roblox.com/v1/users/{userId}/items/{itemType}/{itemTargetId}/is-owned": [
    [400, 1, "not_owned"],
    ...[5, 6, 7, 10, 12].map((code) => [400, code, "no_item"] as const),
    ...[3, 4, 11].map((code) => [403, code, "private"] as const),
  ],
  "GET apis.roblox.com/game-passes/v1/game-passes/{id}/product-info": things,
  "GET badges.roblox.com/v1/badges/{badgeId}": things,
  "GET economy.roblox.com/v2/assets/{id}/details": things,
  "GET apis.roblox.com/cloud/v2/users/{user_id}": [[404, "NOT_FOUND", false]],
  "GET apis.roblox.com/cloud/v2/users/{user_id}/inventory-items": [
    [403, "PERMISSION_DENIED", "private"],
    [404, "NOT_FOUND", "not_owned"],
  ],
  "GET apis.roblox.com/cloud/v2/groups/{group_id}": [[404, "NOT_FOUND", none]],
  "GET apis.roblox.com/cloud/v2/groups/{group_id}/memberships": [
    [403, "PERMISSION_DENIED", none],
    [404, "NOT_FOUND", none],
  ],
  "GET your.game/": [[404, 0, noFeatures]],
  "GET your.game/users": [[404, 0, none]],
  "GET your.game/users/{gameId}": [[404, 0, false]],
  "GET your.game/users/{gameId}/groups": [[404, 0, []]],
  "GET your.game/users/{gameId}/items/{item}/{itemId}": [[404, 0, "no_item"]],
  "GET your.game/groups/{groupId}": [[404, 0, none]],
};
const routes = Object.keys(questions) as Array<Route>;
const rows = routes.flatMap((route) => (outcomes[route] ?? []).map((row) => [route, ...row] as const));

test.each(rows)("%s answered with %i and code %s is %j", function* ([route, status, code, expected]) {
  expect(yield* outcome(route, refused(route, status, code))).toEqual(expected);
});

const single = Object.entries(answers).flatMap(([route, known]) =>
  known.flatMap(([statuses, codes]) =>
    [statuses].flat().flatMap((status) => [codes].flat().map((code) => ({ route, status, code }))),
  ),
);

test("every row of the table is tested", function* () {
  const untested = single.filter(
    ({ route, status, code }) =>
      !rows.some(
        (row) =>
          row[0] === route &&
          row[1] === status &&
          (code === "any" || code === "some" || code === "all" || row[2] === code),
      ),
  );
  expect(yield* Effect.succeed(untested)).toEqual([]);
});

/** Changes of which any refusal is left to a person, by the platform's own words, and questions that are POSTs. */
const withoutAny: ReadonlySet<Route> = new Set<Route>([
  "PATCH /applications/@me",
  "PUT /applications/{application_id}/commands",
  "POST users.roblox.com/v1/usernames/users",
  "POST users.roblox.com/v1/users",
]);

test("any refusal of a change stays, whatever its code", function* () {
  const changing = routes.filter((route) => !route.startsWith("GET ") && !withoutAny.has(route));
  const missing = changing.flatMap((route) => {
    const known = single.filter((each) => each.route === route && each.code === "any");
    // An edit that comes too early is a 404, and tried again.
    const refusals = route.startsWith("PATCH /webhooks") ? [400, 403, 409] : [400, 403, 404, 409];
    return refusals
      .filter((status) => !known.some((each) => each.status === status))
      .map((status) => [route, status]);
  });
  expect(yield* Effect.succeed(missing)).toEqual([]);
});

test.each([429, 500, 503])("status %i answers no route, even with the code of a 404", function* (status) {
  const unavailable = HttpClient.makeWith<RequestFailed, never, RequestFailed, never>(
    Effect.map((request) =>
      HttpClientResponse.fromWeb(request, Response.json({ code: 10_004, message: "" }, { status })),
    ),
    Effect.succeed,
  );
  for (const route of routes) {
    const asked = ask(unavailable, route, { operation: "ChatPlatform.findGuild", found: Schema.Unknown });
    expect([route, (yield* Effect.flip(asked))._tag]).toEqual([route, "PlatformUnavailable"]);
  }
});

const html: HttpAnswer = {
  status: 403,
  headers: { "content-type": "text/html" },
  body: "<h1>Forbidden</h1>",
};
const ofAnyRoute = (route: Route): ReadonlyArray<HttpAnswering> => [
  refused(route, 401, 0),
  refused(route, 429, 0),
  refused(route, 500, 0),
  { ...html, status: 400 },
  html,
  "cut",
];
const outages = (route: Route): ReadonlyArray<HttpAnswering> => [
  // Outside of the proof, each route has a third of them, and all routes together have each.
  ...ofAnyRoute(route).filter((_, index) => isProof || (index + routes.indexOf(route)) % 3 === 0),
  // Of a game of one's own, the status is enough.
  ...(route.includes(gameHost) ? [] : [{ ...html, status: 404 }]),
  // The code of Roblox's gateway, and a block of the address by Discord.
  ...(route.includes("roblox.com") ? [refused(route, 403, 0), refused(route, 404, 0)] : []),
  ...(route.startsWith("PATCH /webhooks") ? [refused(route, 404, 10_015)] : []),
  ...(route.startsWith("GET /") ? [refused(route, 403, 40_333)] : []),
];

/** What ports make of an outage, if not a failure: an unknown part of the answer. */
const unknowns: { readonly [R in Route]?: unknown } = {
  "GET /guilds/{guild_id}/roles": unnamed,
  "GET /users/@me/connections": undefined,
  "GET /users/@me/guilds/{guild_id}/member": undefined,
  "GET groups.roblox.com/v2/users/{userId}/groups/roles": null,
  "GET your.game/": null,
  "GET your.game/users/{gameId}/groups": null,
};

test.each(routes.flatMap((route) => outages(route).map((answer) => [route, answer] as const)))(
  "%s answered with %j is an outage",
  function* ([route, answer]) {
    const expected = route in unknowns ? unknowns[route] : "PlatformUnavailable";
    expect(yield* outcome(route, answer)).toEqual(expected);
  },
);
