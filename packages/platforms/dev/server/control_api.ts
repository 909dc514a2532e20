/** Lets tests control the simulation without a token: faults, request counts, guilds and members. */
import { ChatId, GuildId } from "@accountlink/core";
import { MemberFixture } from "@accountlink/core/fixture";
import { Effect, Schema, Struct } from "effect";
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http";
import { Fault } from "../fault.ts";
import type { Simulation } from "../simulation/platform_route.ts";
import type { PlatformState } from "../simulation/platform_state.ts";
import { done, json, refuse } from "../simulation/responses.ts";

/** The routes under `/faults`, `/requests` and `/control`. */
export const controlApi = ({ platforms, faults, traffic }: Simulation) => [
  route("GET", "/faults", report(faults.current)),
  route("PUT", "/faults", change(Effect.map(HttpServerRequest.schemaBodyJson(Fault), faults.set))),
  route("DELETE", "/faults", change(Effect.sync(faults.clear))),

  route("GET", "/requests", report(traffic.report)),
  route("DELETE", "/requests", change(Effect.sync(traffic.reset))),

  ...stateRoutes(platforms),
];

const InGuild = HttpRouter.schemaPathParams(Schema.Struct({ guildId: GuildId }));
const OfMember = HttpRouter.schemaPathParams(Schema.Struct({ guildId: GuildId, chatId: ChatId }));
const GuildBody = Schema.Struct({ bot: Schema.Boolean });
const OfRole = HttpRouter.schemaPathParams(Schema.Struct({ guildId: GuildId, roleId: Schema.String }));
const RoleBody = Schema.Struct({ name: Schema.String, assignable: Schema.Boolean });
const MemberBody = MemberFixture.mapFields(Struct.omit(["chatId"]));

const stateRoutes = ({ guilds, joins }: PlatformState) => {
  const guildOf = ({ guildId }: { readonly guildId: GuildId }) =>
    Effect.mapError(Effect.fromNullishOr(guilds.get(guildId)), () => refuse("unknown_guild"));

  const setBot = Effect.gen(function* () {
    const guild = yield* guildOf(yield* InGuild);
    guild.hasBot = (yield* HttpServerRequest.schemaBodyJson(GuildBody)).bot;
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

  const setRole = Effect.gen(function* () {
    const { roleId, ...path } = yield* OfRole;
    const guild = yield* guildOf(path);
    guild.roles.set(roleId, { id: roleId, ...(yield* HttpServerRequest.schemaBodyJson(RoleBody)) });
  });

  const removeRole = Effect.gen(function* () {
    const { roleId, ...path } = yield* OfRole;
    (yield* guildOf(path)).roles.delete(roleId);
  });

  return [
    route("PUT", "/control/guilds/:guildId", change(setBot)),
    route("PUT", "/control/guilds/:guildId/members/:chatId", change(setMember)),
    route("DELETE", "/control/guilds/:guildId/members/:chatId", change(removeMember)),
    route("PUT", "/control/guilds/:guildId/roles/:roleId", change(setRole)),
    route("DELETE", "/control/guilds/:guildId/roles/:roleId", change(removeRole)),
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
