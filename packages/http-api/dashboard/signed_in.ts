/** What the routes of the dashboard share. */
import type { Expected } from "@accountlink/core/errors";
import { ChatId, GuildId } from "@accountlink/core/ids";
import type { SettingRows } from "@accountlink/core/settings";
import { Record, Schema, SchemaTransformation } from "effect";
import {
  countUpTo,
  inPath,
  oneOf,
  optional,
  type Parameter,
  type Parameters,
  required,
  text,
  withFallback,
} from "../parameter.ts";
import { defineRoute, type Method, type RouteOptions } from "../route.ts";
import { success } from "../v2/envelope.ts";

interface Options<P extends Parameters, Fields extends Schema.Struct.Fields>
  extends Pick<
    RouteOptions<P>,
    | "id"
    | "summary"
    | "parameters"
    | "requiresOneOf"
    | "tier"
    | "example"
    | "errors"
    | "refuses"
    | "isCsv"
    | "csvBody"
  > {
  /** Where values are read; the query for GET and DELETE when left out, otherwise the body. */
  readonly source?: "body";
  readonly status?: 201;
  /** The fields of `data`. */
  readonly data: Fields;
}

const dashboardRoute =
  <const Keys extends ReadonlyArray<"manage">>(keyAccess: Keys) =>
  <const P extends Parameters, const Fields extends Schema.Struct.Fields>(
    role: NonNullable<RouteOptions<Parameters>["role"]>,
    method: Method,
    path: `/${string}`,
    { data, ...options }: Options<P, Fields>,
  ) => ({
    ...defineRoute({
      generation: "v2",
      access: "session",
      keyAccess,
      group: keyAccess.length === 0 ? null : groupOf(method, path),
      method,
      role,
      path: `/dashboard/api${path}`,
      source: method === "GET" || method === "DELETE" ? "query" : "body",
      ...options,
      success: success(Schema.Struct(data), options.status ?? 200),
    }),
    keyAccess,
  });

const groupOf = (method: Method, path: string) => {
  if (path.startsWith("/alts")) return "alts";
  return method === "GET" ? "lookup" : "write";
};

/** Makes a dashboard route. `role` is the lowest role that may use it. `path` is below `/dashboard/api`. */
export const signedIn = dashboardRoute([]);

/** Makes a dashboard route that keys with access `manage` may use too, each for its own scope. */
export const managed = dashboardRoute(["manage"]);

/** Makes the parameter optional; undefined when it is left out. */
export const unlessLeftOut = <A>(parameter: Parameter<A>): Parameter<A | undefined> =>
  withFallback(parameter, undefined);

/** Makes a parameter that accepts null to remove the value. */
export const orNull = <A>(
  schema: Schema.Codec<A, unknown>,
  expected: string | Expected,
  description: string,
): Parameter<A | null> => ({ ...required(Schema.NullOr(schema), expected, description), takesNull: true });

type SettingParameters<Rows extends SettingRows> = {
  readonly [Name in keyof Rows]: Parameter<Rows[Name]["schema"]["Type"] | undefined>;
};

/** The parameters of settings, which requests have to name. */
export const requiredSettings = <Rows extends SettingRows>(rows: Rows) =>
  Record.map(rows, ({ schema, unset, expected, description }) => ({
    ...required(schema, expected, description),
    ...(unset === null && { takesNull: true }),
  })) as { readonly [Name in keyof Rows]: Parameter<Rows[Name]["schema"]["Type"]> };

/** The parameters of settings. Parameters left out change nothing. */
export const settingParameters = <Rows extends SettingRows>(rows: Rows) =>
  Record.map(requiredSettings(rows), unlessLeftOut) as SettingParameters<Rows>;

/** A cursor in a list: the `next` of the previous page. */
export const nextOf = <A>(schema: Schema.Codec<A, unknown>): Parameter<A | null> => ({
  ...optional(
    required(
      schema,
      { is: "choice", text: "expected the next of an earlier page" },
      "`next` of the previous page",
    ),
  ),
  isText: true,
});

/** The cursor of a list whose entries have numbers. */
export const nextNumber = nextOf(
  Schema.String.check(Schema.isPattern(/^\d{1,15}$/u)).pipe(
    Schema.decodeTo(Schema.Int, SchemaTransformation.numberFromString),
  ),
);

/** A page cursor in a list of chat users: a time of the user, and the chat ID. */
export const Place = Schema.String.check(Schema.isPattern(/^\d{1,15}-\d{5,32}$/u)).pipe(
  Schema.decodeTo(
    Schema.Struct({ at: Schema.Int, chatId: ChatId }),
    SchemaTransformation.transform({
      decode: (place: string) => {
        const [time = "", chat = ""] = place.split("-");
        return { at: Number(time), chatId: chat };
      },
      encode: ({ at, chatId }) => `${at}-${chatId}`,
    }),
  ),
);

/** A key ID. Any text is accepted: a malformed ID counts as an unknown key. */
export const keyId = (description: string) =>
  required(Schema.String, { is: "choice", text: "expected the id of a key" }, description);

export const keyScope = oneOf(["global", "guild"], "Every guild, or one");

export const pageLimit = countUpTo(100, 50, "How many entries at most");

/** The public ID of a data scope. Any text is accepted: a malformed ID counts as an unknown scope. */
const anyPid = required(
  Schema.String,
  { is: "choice", text: "expected the public id of a data scope" },
  "Public id of the data scope, `pid_…`",
);

/** The public ID of a scope that keys with access `manage` may leave out. */
export const pid: Parameter<string> = {
  ...anyPid,
  description: `${anyPid.description}; with a key, its own when left out`,
  isOfKey: true,
};

export const guildInScope = {
  pid,
  guildId: required(
    GuildId,
    { is: "digits", least: 5, most: 32 },
    "ID of the guild; for the scope of a guild, its own",
  ),
};

/** The guild of sample requests. */
export const demoGuild = { guildId: "700000000000000001" };

export const pidInPath = inPath(anyPid);

/** The name of the account or community that the request deletes. */
export const confirm = text("Name of the account or the community, as confirmation");

/** The length of a user name or a search, in characters. */
export const longestSearch = 100;
