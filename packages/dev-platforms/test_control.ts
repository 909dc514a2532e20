/**
 * For tests: faults, counts of requests, and changes of guilds and members, which routes of the dev platform control
 * without a token.
 *
 * | route | what |
 * |---|---|
 * | PUT, DELETE /faults | sets and clears faults, see `Fault`: `{ "platform": "chat", "mode": "slow", "delayMs": 3000, "times": 2, "under": "/chat/oauth" }` |
 * | GET, DELETE /requests | shows and resets the number of requests by route and of changes by member |
 * | GET /control/guilds/{guildId}/roles | how many members have each role, by its ID: `{ "1": 20000 }` |
 * | PUT, DELETE /control/guilds/{guildId}/members/{chatId} | adds, changes or removes a member; `nickname`, `joined` and `roles` are optional |
 * | PUT /control/guilds/{guildId}/channels/{channelId} | `{ "name": "log", "mayPost": false }`: adds or changes a channel |
 */
import { ChatId, GuildId } from "@accountlink/core";
import { MemberFixture } from "@accountlink/core/fixture";
import { Effect, Schema, Stream, Struct } from "effect";
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http";
import { done, json, type Platform, PlatformControl, type PlatformState, refuse } from "./simulation.ts";
import { refusals } from "./wire.ts";

/** Gives the dev platforms of an effect the routes under `/faults`, `/requests` and `/control`. */
export const withTestControl = Effect.provideService(PlatformControl, (platforms) => {
  const faults = makeFaults();
  const traffic = makeTraffic();
  return {
    routes: controlRoutes(platforms, faults, traffic),
    around: ({ platform, method, path }, answer) => {
      const faulty = Effect.flatMap(HttpRouter.params, (params) => {
        const fault = faults.take(platform, `${method} ${path}`, Object.values(params).at(-1));
        if (fault === null) return answer;
        return fault.mode === "slow"
          ? Effect.delay(answer, fault.delayMs)
          : Effect.succeed(faultResponse(fault));
      });
      return Effect.sync(() => traffic.countRequest(`${method} ${path}`)).pipe(
        Effect.andThen(faulty),
        Effect.tap(({ status }) => (status === 204 ? countChange(traffic, method, path) : Effect.void)),
      );
    },
  };
});

const countChange = (traffic: Traffic, method: string, path: string) =>
  Effect.map(HttpRouter.params, ({ chatId, roleId }) => {
    if (chatId === undefined || !path.startsWith("/chat/api/guilds/")) return;
    traffic.countChange(`${method} ${chatId} ${roleId === undefined ? "nickname" : `roles/${roleId}`}`);
  });

const faultResponse = (
  fault: Exclude<Fault, { readonly mode: "slow" }>,
): HttpServerResponse.HttpServerResponse => {
  switch (fault.mode) {
    case "down":
      return HttpServerResponse.jsonUnsafe({ code: "unavailable" }, { status: fault.status });
    case "limited":
      return HttpServerResponse.jsonUnsafe(
        { code: "rate_limited" },
        { status: 429, headers: { "retry-after": String(fault.retryAfter) } },
      );
    case "garbage":
      return HttpServerResponse.text(fault.body, { contentType: "application/json" });
    case "refused":
      return refuse(fault.code);
    case "cut":
      // A response body whose stream fails makes every kind of HTTP server close the connection.
      return HttpServerResponse.stream(Stream.fromEffect(Effect.interrupt));
  }
};

const or = <S extends Schema.Top>(fallback: NoInfer<S["Type"]>) =>
  Schema.withDecodingDefaultTypeKey<S>(Effect.succeed(fallback));

const atLeast = (least: number) => Schema.Int.check(Schema.isGreaterThanOrEqualTo(least));
const FailingStatus = Schema.Int.check(Schema.isBetween({ minimum: 500, maximum: 599 }));

const faultOf = <const Mode extends string, const Fields extends Schema.Struct.Fields>(
  mode: Mode,
  fields: Fields,
) =>
  Schema.Struct({
    mode: Schema.Literal(mode),
    platform: Schema.Literals(["chat", "game", "both"]).pipe(or("both")),
    /** How many requests the fault affects; null for all requests until the fault is cleared. */
    times: Schema.NullOr(atLeast(1)).pipe(or(null)),
    /** The prefix of the affected paths, such as `/chat/oauth/token`; all paths by default. */
    under: Schema.optionalKey(Schema.String),
    /** The only affected route, as `GET /requests` names it. Faults of other routes stay. */
    route: Schema.optionalKey(Schema.String),
    /** The ending of the path's last parameter, such as `0` for one user in ten; all requests by default. */
    ending: Schema.optionalKey(Schema.String),
    ...fields,
  });

/** The schema of a fault. Decoding adds the defaults of fields that the request left out. */
export const Fault = Schema.Union([
  /** Delays the correct response by this many milliseconds. */
  faultOf("slow", { delayMs: atLeast(0) }),
  /** Answers with a server error. */
  faultOf("down", { status: FailingStatus.pipe(or(503)) }),
  faultOf("cut", {}),
  faultOf("refused", { code: Schema.Literals(Struct.keys(refusals)) }),
  /** Answers 200 with an unexpected body, such as the page of a proxy. */
  faultOf("garbage", { body: Schema.String.pipe(or("<!doctype html><title>Welcome</title>")) }),
  /** Answers 429 with a `Retry-After` in seconds. */
  faultOf("limited", { retryAfter: atLeast(0).pipe(or(1)) }),
]);
export type Fault = typeof Fault.Type;

type Faults = ReturnType<typeof makeFaults>;

/** The active faults, at most one per platform and `route`. */
const makeFaults = () => {
  const active = { chat: new Map<string, Fault>(), game: new Map<string, Fault>() };
  return {
    /** Sets a fault, replacing earlier faults of the platforms and the route that it affects. */
    set: (fault: Fault) => {
      const { platform, route: of = "" } = fault;
      if (platform !== "game") active.chat.set(of, fault);
      if (platform !== "chat") active.game.set(of, fault);
    },
    clear: () => {
      active.chat.clear();
      active.game.clear();
    },
    /** Returns the fault that affects a request, or null. Counts the request against the fault's `times`. */
    take: (platform: Platform, of: string, lastParameter: string = "") => {
      const [, path = ""] = of.split(" ");
      const found = [...active[platform]].find(
        ([, { route: only = of, under = "", ending = "" }]) =>
          only === of && path.startsWith(under) && lastParameter.endsWith(ending),
      );
      if (found === undefined) return null;
      const [key, fault] = found;
      if (fault.times === 1) active[platform].delete(key);
      else if (fault.times !== null) active[platform].set(key, { ...fault, times: fault.times - 1 });
      return fault;
    },
  };
};

export interface TrafficReport {
  /** Requests by route, such as `GET /chat/api/users/:chatId`. */
  readonly routes: Readonly<Record<string, number>>;
  /** Counts of successful changes by method, member and changed part, such as `PUT 100001 roles/1`. */
  readonly changes: Readonly<Record<string, number>>;
}

type Traffic = ReturnType<typeof makeTraffic>;

const makeTraffic = () => {
  const routes = new Map<string, number>();
  const changes = new Map<string, number>();

  return {
    countRequest: (route: string) => count(routes, route),
    countChange: (change: string) => count(changes, change),
    report: (): TrafficReport => ({
      routes: Object.fromEntries(routes),
      changes: Object.fromEntries(changes),
    }),
    reset: () => {
      routes.clear();
      changes.clear();
    },
  };
};

const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);

/** The routes under `/faults`, `/requests` and `/control`. */
const controlRoutes = (platforms: PlatformState, faults: Faults, traffic: Traffic) => [
  route("PUT", "/faults", change(Effect.map(HttpServerRequest.schemaBodyJson(Fault), faults.set))),
  route("DELETE", "/faults", change(Effect.sync(faults.clear))),

  route("GET", "/requests", report(traffic.report)),
  route("DELETE", "/requests", change(Effect.sync(traffic.reset))),

  ...stateRoutes(platforms),
];

const InGuild = HttpRouter.schemaPathParams(Schema.Struct({ guildId: GuildId }));
const OfMember = HttpRouter.schemaPathParams(Schema.Struct({ guildId: GuildId, chatId: ChatId }));
const OfChannel = HttpRouter.schemaPathParams(Schema.Struct({ guildId: GuildId, channelId: Schema.String }));
const ChannelBody = Schema.Struct({ name: Schema.String, mayPost: Schema.Boolean });
const MemberBody = MemberFixture.mapFields(Struct.omit(["chatId"]));

const stateRoutes = ({ guilds, joins }: PlatformState) => {
  const guildOf = ({ guildId }: { readonly guildId: GuildId }) =>
    Effect.mapError(Effect.fromNullishOr(guilds.get(guildId)), () => refuse("unknown_guild"));

  const countRoles = Effect.gen(function* () {
    const guild = yield* guildOf(yield* InGuild);
    const counts = new Map([...guild.roles.keys()].map((id) => [id, 0]));
    let page = guild.page(null);
    while (true) {
      for (const { id } of page.members.flatMap(({ roles }) => roles)) count(counts, id);
      if (page.next === null) break;
      page = guild.page(page.next);
    }
    return json(Object.fromEntries(counts));
  });

  const setMember = Effect.gen(function* () {
    const path = yield* OfMember;
    const guild = yield* guildOf(path);
    const member = yield* HttpServerRequest.schemaBodyJson(MemberBody);
    const isNew = guild.member(path.chatId) === undefined;
    guild.put({ ...member, chatId: path.chatId });
    if (isNew && guild.hasBot) joins.push(path);
  });

  const removeMember = Effect.gen(function* () {
    const path = yield* OfMember;
    const guild = yield* guildOf(path);
    guild.remove(path.chatId);
  });

  const setChannel = Effect.gen(function* () {
    const { channelId, ...path } = yield* OfChannel;
    const guild = yield* guildOf(path);
    const channel = yield* HttpServerRequest.schemaBodyJson(ChannelBody);
    guild.channels.set(channelId, {
      id: channelId,
      isPublic: true,
      ...guild.channels.get(channelId),
      ...channel,
    });
  });

  return [
    route("PUT", "/control/guilds/:guildId/channels/:channelId", change(setChannel)),
    route("GET", "/control/guilds/:guildId/roles", countRoles),
    route("PUT", "/control/guilds/:guildId/members/:chatId", change(setMember)),
    route("DELETE", "/control/guilds/:guildId/members/:chatId", change(removeMember)),
  ];
};

const report = (read: () => unknown) => Effect.sync(() => json(read()));

const change = <E, R>(work: Effect.Effect<void, E, R>) => Effect.as(work, done);

/** Makes a route. If the handler fails with a response, the route sends it. Other errors mean an invalid request. */
const route = <E, R>(
  method: "GET" | "PUT" | "DELETE",
  path: `/${string}`,
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
) => {
  const refused = (error: E) =>
    Effect.succeed(HttpServerResponse.isHttpServerResponse(error) ? error : refuse("invalid_request"));
  return HttpRouter.route(method, path, handler.pipe(Effect.catch(refused)));
};
