/**
 * What Discord, Roblox and a game of one's own answer. A response without a row is an outage: it answers nothing, so the request is made
 * again later. Callers get meanings, and never look at a status.
 */
import type { PlatformUnavailable } from "@accountlink/core";
import { Data, Effect, Option, Predicate, type Result, Schema } from "effect";
import { HttpClientRequest, type HttpMethod } from "effect/http";
import { askPlatform, type Question, type ResilientClient } from "../http/mod.ts";

/** The codes of Open Cloud that are answers. */
type CloudCode = "NOT_FOUND" | "PERMISSION_DENIED";

type Code = number | CloudCode | "any" | "some" | "all";

/**
 * The statuses, the platform's codes, and what each of them means together. `any` is every JSON object, `some` every
 * number but 0, `all` every body. The first row that fits counts.
 */
type Row = readonly [
  statuses: number | ReadonlyArray<number>,
  codes: Code | ReadonlyArray<Code>,
  meaning: string,
];

/** Routes with their rows. Placeholders are in braces, as in the platforms' own documents. */
type Answers = Readonly<Record<string, ReadonlyArray<Row>>>;

/** The bot is not in the guild. Discord has 50001 for guilds that exist. */
const guild = [
  [404, 10_004, "absent"],
  [403, 50_001, "absent"],
] as const;

const member = [...guild, [404, [10_007, 10_013], "absent"]] as const;

/** Discord's own rules, such as AutoMod, refuse changes with codes that its documentation does not list. */
const change = <Reason extends string>(refused: Reason) =>
  [
    [404, [10_004, 10_007, 10_013], "absent"],
    [404, 10_011, "role_missing"],
    // The guild requires two-factor authentication of moderators, and the bot's owner has none.
    [403, 60_003, "no_permission"],
    // The bot's rights tell what it lacks.
    [403, [50_001, 50_013], "not_permitted"],
    [[400, 403, 404, 409], "any", refused],
  ] as const;

/** Private messages that the user takes none of: who blocks the bot, is in no guild with it, or is gone. */
const toUser = [
  [[400, 403], 50_007, "takes_none"],
  [400, 50_033, "takes_none"],
  [403, 50_278, "takes_none"],
  [404, 10_013, "takes_none"],
] as const;

/** The bot opens private channels too fast, or awaits its verification, so Discord refuses it all of them. */
const tooMany = [[[400, 403], [20_026, 40_003], "bot_refused"]] as const;

/** A message that the bot posts or edits. The channel is gone, or its rights keep the bot out. */
const post = [
  [[403, 404], "any", "channel_closed"],
  [[400, 409], "any", "message_refused"],
] as const;

const discord = {
  "GET /applications/@me": [],
  // The operator reads Discord's own words, by `askInWords`.
  "PATCH /applications/@me": [],
  "GET /applications/{application_id}/commands": [],
  "PUT /applications/{application_id}/commands": [],
  "GET /guilds/{guild_id}": guild,
  "GET /guilds/{guild_id}/channels": guild,
  "GET /guilds/{guild_id}/roles": guild,
  "POST /guilds/{guild_id}/roles": [
    ...guild,
    [403, [50_013, 60_003], "no_permission"],
    [[400, 403, 404, 409], "any", "role_refused"],
  ],
  // 50001 is also the answer to an application without the intent for members.
  "GET /guilds/{guild_id}/members": [
    [404, 10_004, "absent"],
    [403, 50_001, "hidden"],
  ],
  "GET /guilds/{guild_id}/members/search": guild,
  "GET /guilds/{guild_id}/members/{user_id}": member,
  "PATCH /guilds/{guild_id}/members/{user_id}": change("nickname_refused"),
  "PUT /guilds/{guild_id}/members/{user_id}/roles/{role_id}": change("role_refused"),
  "DELETE /guilds/{guild_id}/members/{user_id}/roles/{role_id}": change("role_refused"),
  "POST /channels/{channel_id}/messages": [...toUser, ...tooMany, ...post],
  // 50005: the message is not the bot's, as after the bot's application was replaced.
  "PATCH /channels/{channel_id}/messages/{message_id}": [
    [404, 10_008, "absent"],
    [403, 50_005, "absent"],
    ...post,
  ],
  "POST /users/@me/channels": [...toUser, ...tooMany, [[400, 403, 404, 409], "any", "refused"]],
  "GET /users/@me": [],
  "GET /users/@me/connections": [],
  "GET /users/@me/guilds": [],
  "GET /users/@me/guilds/{guild_id}/member": [[404, [10_004, 10_007], "absent"]],
  "GET /users/{user_id}": [[404, 10_013, "absent"]],
  // 10015 is also the answer to an edit that comes before Discord knows the deferred answer, so it is tried again.
  "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original": [
    [404, 10_008, "over"],
    [401, 50_027, "over"],
    [[400, 403, 409], "any", "over"],
  ],
} as const satisfies Answers;

/** Roblox documents the codes of badges alone. */
const item = [[[400, 403, 404], "some", "absent"]] as const;

/** Roblox's code 0 is an error of its gateway, whatever the status, so no row has it. */
const roblox = {
  "GET users.roblox.com/v1/users/{userId}": [[404, 3, "absent"]],
  "POST users.roblox.com/v1/usernames/users": [],
  "POST users.roblox.com/v1/users": [],
  "GET thumbnails.roblox.com/v1/users/avatar": [],
  "GET thumbnails.roblox.com/v1/users/avatar-headshot": [],
  "GET accountinformation.roblox.com/v1/users/{userId}/roblox-badges": [],
  // The user is deleted.
  "GET groups.roblox.com/v2/users/{userId}/groups/roles": [[400, 3, "absent"]],
  "GET groups.roblox.com/v2/groups": [],
  "GET groups.roblox.com/v1/groups/{groupId}/roles": [[400, 1, "absent"]],
  "GET groups.roblox.com/v1/groups/{groupId}/users": [
    [400, 1, "hidden"],
    [403, 35, "hidden"],
  ],
  "GET inventory.roblox.com/v1/users/{userId}/items/{itemType}/{itemTargetId}/is-owned": [
    // The user is deleted.
    [400, 1, "not_owned"],
    [400, [5, 6, 7, 10, 12], "no_item"],
    [403, [3, 4, 11], "private"],
  ],
  "GET apis.roblox.com/game-passes/v1/game-passes/{id}/product-info": item,
  "GET badges.roblox.com/v1/badges/{badgeId}": item,
  "GET economy.roblox.com/v2/assets/{id}/details": item,
} as const satisfies Answers;

/** Errors of its gateway, such as a refused key, have numbers as codes, so no row has them. */
const openCloud = {
  "GET apis.roblox.com/cloud/v2/users/{user_id}": [[404, "NOT_FOUND", "absent"]],
  "GET apis.roblox.com/cloud/v2/users/{user_id}/inventory-items": [
    [403, "PERMISSION_DENIED", "private"],
    [404, "NOT_FOUND", "not_owned"],
  ],
  "GET apis.roblox.com/cloud/v2/groups/{group_id}": [[404, "NOT_FOUND", "absent"]],
  "GET apis.roblox.com/cloud/v2/groups/{group_id}/roles": [],
  "GET apis.roblox.com/cloud/v2/groups/{group_id}/memberships": [
    [403, "PERMISSION_DENIED", "hidden"],
    [404, "NOT_FOUND", "hidden"],
  ],
} as const satisfies Answers;

/** A game is often a small program, so only the status of its answers counts. */
const absent = [[404, "all", "absent"]] as const;

/** The host in the routes of a game of one's own, in place of its address. */
export const gameHost = "your.game";

const gameHttp = {
  "GET your.game/": absent,
  "GET your.game/users": absent,
  "GET your.game/users/{gameId}": absent,
  "GET your.game/users/{gameId}/groups": absent,
  "GET your.game/users/{gameId}/items/{item}/{itemId}": absent,
  "GET your.game/groups/{groupId}": absent,
} as const satisfies Answers;

/** Every row of all platforms. A route of Roblox begins with the host of the service. @internal */
export const answers = { ...discord, ...roblox, ...openCloud, ...gameHttp };

export type Route = keyof typeof answers;

export type Meaning<R extends Route> = (typeof answers)[R][number][2];

export interface RouteRequest<A> extends Pick<Question<A, never>, "operation" | "found" | "matches"> {
  /** The values of the route's placeholders, in order. */
  readonly path?: ReadonlyArray<string>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The JSON body. */
  readonly body?: object;
}

/**
 * Sends a request on a route of the table. The result is the body of a successful response, or the meaning of an error
 * response.
 */
export const ask = <const R extends Route, A>(
  client: ResilientClient,
  route: R,
  request: RouteRequest<A>,
): Effect.Effect<Result.Result<A, Meaning<R>>, PlatformUnavailable> =>
  send(client, route, request, (status, answer) => meaningOf(route, status, answer));

const send = <A, M>(
  client: ResilientClient,
  route: Route,
  { path = [], query, headers, body, ...question }: RouteRequest<A>,
  meaning: (status: number, body: unknown) => M | undefined,
): Effect.Effect<Result.Result<A, M>, PlatformUnavailable> => {
  const [method = "", target = ""] = route.split(" ");
  const values = path.values();
  const url = target.replaceAll(/\{\w+\}/gu, () => encodeURIComponent(values.next().value ?? ""));
  const request = HttpClientRequest.make(method as HttpMethod.HttpMethod)(url, { headers, urlParams: query });
  return askPlatform(client, {
    ...question,
    request: body === undefined ? request : HttpClientRequest.bodyJsonUnsafe(request, body),
    meaning,
    route: target.startsWith(gameHost) ? `${method} ${target.slice(gameHost.length)}` : route,
    // The operator of the game can correct it.
    namesField: target.startsWith(gameHost),
  });
};

/** What a platform refuses, in its own words. */
export class RefusedInWords extends Data.TaggedError("RefusedInWords")<{
  readonly status: number;
  /** Without API keys and other secrets, which platforms do not repeat. Empty if the platform says nothing. */
  readonly words: string;
}> {}

const refusals: ReadonlySet<number> = new Set([400, 403, 404, 409]);

/** `ask` for what an operator does, who reads the platform's own words if it refuses. */
export const askInWords = <A>(
  client: ResilientClient,
  route: Route,
  request: RouteRequest<A>,
): Effect.Effect<A, PlatformUnavailable | RefusedInWords> =>
  Effect.flatMap(
    send(client, route, request, (status, body) =>
      refusals.has(status) ? new RefusedInWords({ status, words: wordsIn(body) }) : undefined,
    ),
    Effect.fromResult,
  );

/** Returns the message of an error, and the messages of its fields, which Discord nests: `0.name: it is too long`. */
const wordsIn = (body: unknown): string => {
  const { message, errors } = Option.getOrElse(errorInWords(body), () => ({ message: "", errors: {} }));
  return [message, ...fieldProblems(errors, "").slice(0, 3)].filter((text) => text !== "").join("; ");
};

const errorInWords = Schema.decodeUnknownOption(
  Schema.Struct({
    message: Schema.String,
    errors: Schema.Unknown.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
  }),
);

const fieldProblems = (errors: unknown, field: string): ReadonlyArray<string> => {
  if (!Predicate.isObject(errors)) return [];
  return Object.entries(errors).flatMap(([name, inner]) =>
    name === "_errors" && Array.isArray(inner)
      ? inner.flatMap((each) =>
          Predicate.hasProperty(each, "message") ? [`${field}: ${String(each.message)}`] : [],
        )
      : fieldProblems(inner, field === "" ? name : `${field}.${name}`),
  );
};

/** The bodies of errors at Discord, at Open Cloud and at Roblox. A body that is no object has no code. */
const codeIn = Schema.decodeUnknownOption(
  Schema.Union([
    Schema.Struct({ code: Schema.Union([Schema.Int, Schema.String]) }),
    Schema.Struct({ errors: Schema.NonEmptyArray(Schema.Struct({ code: Schema.Int })) }),
  ]),
);

const meaningOf = <R extends Route>(route: R, status: number, body: unknown): Meaning<R> | undefined => {
  const isObject = typeof body === "object" && body !== null;
  const coded = Option.getOrUndefined(codeIn(body));
  const code = coded && ("code" in coded ? coded.code : coded.errors[0].code);
  const isKnown = (known: Code): boolean =>
    known === "all" ||
    (known === "any" && isObject) ||
    (known === code && code !== undefined) ||
    (known === "some" && typeof code === "number" && code !== 0);
  const rows: ReadonlyArray<Row> = answers[route];
  const row = rows.find(
    ([statuses, codes]) => [statuses].flat().includes(status) && [codes].flat().some(isKnown),
  );
  return row?.[2] as Meaning<R> | undefined;
};
