/** The state of the simulated platforms, and how their routes answer. */
import { FixtureGuild, type PlatformFixture } from "@accountlink/core/fixture";
import { type GuildJoin, isSameUsername } from "@accountlink/core/platforms";
import { Context, Effect } from "effect";
import { type Headers, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http";
import { type AnswerMessage, type RefusalCode, refusals } from "./wire.ts";

type Response = HttpServerResponse.HttpServerResponse;

export type Platform = "chat" | "game";

interface RouteName {
  readonly platform: Platform;
  readonly method: "GET" | "POST" | "PUT" | "DELETE" | "PATCH";
  readonly path: string;
}

/** Stands between the simulated platforms and their clients. */
export interface PlatformControl {
  /** Returns the response that a client gets. `answer` is the right one. */
  readonly around: <R>(
    route: RouteName,
    answer: Effect.Effect<Response, never, R>,
  ) => Effect.Effect<Response, never, R | HttpRouter.RouteContext>;
  /** Routes that the platforms have besides. */
  readonly routes: ReadonlyArray<HttpRouter.Route>;
}

/** Makes the control of a dev platform. Tests inject faults, count requests and change members with one of their own. */
export const PlatformControl = Context.Reference<(platforms: PlatformState) => PlatformControl>(
  "@accountlink/dev-platforms/PlatformControl",
  { defaultValue: () => () => ({ around: (_, answer) => answer, routes: [] }) },
);

export interface Simulation {
  readonly platforms: PlatformState;
  readonly around: PlatformControl["around"];
}

/** @param handler fails with the response to an invalid request */
export const platformRoute = <R>(
  { around }: Simulation,
  method: RouteName["method"],
  path: `/${Platform}/${string}`,
  handler: Effect.Effect<Response, Response, R>,
) => {
  const platform = path.startsWith("/chat/") ? "chat" : "game";
  const answer = handler.pipe(Effect.catch(Effect.succeed));
  return HttpRouter.route(method, path, around({ platform, method, path }, answer));
};

export type PlatformState = ReturnType<typeof makePlatformState>;

const byId = <A extends { readonly id: string }>(entries: ReadonlyArray<A>): Map<string, A> =>
  new Map(entries.map((entry) => [entry.id, entry]));

export const makePlatformState = ({ guilds, chatUsers, gameUsers, gameGroups = [] }: PlatformFixture) => ({
  /** The users who joined a guild, oldest first. */
  joins: new Array<GuildJoin>(),
  guilds: new Map<string, FixtureGuild>(guilds.map((guild) => [guild.id, new FixtureGuild(guild)])),
  chatUsers: byId(chatUsers),
  /** The private messages of the bot to each user, by their nonces. */
  privateMessages: new Map<string, Map<string, AnswerMessage>>(),
  /** Users can change their description. */
  gameUsers: byId(gameUsers),
  gameGroups,
});

/** Finds a user by name, ignoring case. */
export const userOfName = <A extends { readonly username: string | null }>(
  users: ReadonlyMap<string, A>,
  username: string,
): A | undefined =>
  [...users.values()].find((user) => user.username !== null && isSameUsername(user.username, username));

export const json = (body: unknown): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(body);

export const done = HttpServerResponse.empty({ status: 204 });

export const refuse = (code: RefusalCode): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe({ code }, { status: code === "unknown_route" ? 404 : refusals[code] });

export const foundOr = (code: RefusalCode, found: unknown): HttpServerResponse.HttpServerResponse =>
  found === undefined ? refuse(code) : json(found);

/** A handler that needs only the parameters of the path and the query. */
export type PathHandler = (
  values: Readonly<Record<string, string | undefined>>,
) => HttpServerResponse.HttpServerResponse;

export const fromPath = (handler: PathHandler) =>
  Effect.map(Effect.all([HttpServerRequest.HttpServerRequest, HttpRouter.params]), ([{ url }, params]) =>
    handler({ ...Object.fromEntries(new URL(url, "http://platform").searchParams), ...params }),
  );

export const bearerToken = ({ authorization = "" }: Headers.Headers): string =>
  authorization.startsWith("Bearer ") ? authorization.slice("Bearer ".length) : "";
