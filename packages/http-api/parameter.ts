/**
 * Parameters of routes: what they are called for in the documentation, and how a value is read.
 */
import { ChatId, GameId, GuildId, idRules, Sid } from "@accountlink/core/ids";
import { longestRedirect } from "@accountlink/core/origin";
import { isStorable } from "@accountlink/core/storable_text";
import { Result, Schema } from "effect";

/** Where a value comes from: text of the query string, or a JSON value of the body. */
export type ParameterSource = "query" | "body";

/** A value that cannot be taken: a wrong parameter, or a body that is not what the route takes at all. */
export type ParameterIssue = { readonly kind: "parameter" | "body"; readonly reason: string };

/** Whether a request has to, may or may not give a parameter, by the scope of its key. */
export interface Presence {
  readonly guildKeys: "required" | "optional";
  readonly globalKeys: "required" | "optional" | "refused";
}

/** One parameter of a route. */
export interface Parameter<out A> {
  readonly presence: Presence;
  /** Set where the value is a part of the path, whatever else the route takes. */
  readonly isInPath?: true;
  /** Set where only a Premium key may give `true`. */
  readonly needsPremium?: true;
  readonly description: string;
  /** What a query string or a JSON body carries. */
  readonly schema: (source: ParameterSource) => Schema.Top;
  /** Reads a value that is there. */
  readonly read: (value: unknown, source: ParameterSource) => Result.Result<A, ParameterIssue>;
  /** What it means when none is there and none has to be. */
  readonly absent: Result.Result<A, ParameterIssue>;
}

/** The parameters of a route by name, in documented order. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** What a handler is given for the parameters of its route. */
export type ParameterValues<P extends Parameters> = {
  readonly [Name in keyof P]: P[Name] extends Parameter<infer A> ? A : never;
};

const always: Presence = { guildKeys: "required", globalKeys: "required" };
const never: Presence = { guildKeys: "optional", globalKeys: "optional" };

const invalid = (reason: string) => Result.fail({ kind: "parameter" as const, reason });

const required = invalid("expected a value");

const id = <A extends string>(
  schema: Schema.Schema<A>,
  expected: string,
  description: string,
): Parameter<A> => {
  const is = Schema.is(schema);
  return {
    presence: always,
    description,
    schema: () => schema,
    read: (value) => (is(value) ? Result.succeed(value) : invalid(`expected ${expected}`)),
    absent: required,
  };
};

/** A chat user. */
export const chatId = (description = "ID of the chat user") => id(ChatId, idRules.chatId, description);

/** A game user. */
export const gameId = (description = "ID of the game user") => id(GameId, idRules.gameId, description);

/** The guild of a request. Guild-scoped keys have to name their own, unless the route says otherwise. */
export const guildId = (presence: Partial<Presence> = {}): Parameter<GuildId | null> => ({
  ...id(GuildId, idRules.guildId, guildDescription),
  presence: { guildKeys: "required", globalKeys: "optional", ...presence },
  absent: Result.succeed(null),
});

const guildDescription =
  "ID of the guild that the request is about. Guild-scoped keys name their own guild; with a global key it adds the checks that the bot and the chat user are in the guild";

/** A boolean: `true` or `false`, in JSON bodies the JSON values. False when left out. */
export const flag = (description: string): Parameter<boolean> => ({
  presence: never,
  description,
  schema: (source) => (source === "query" ? Schema.Literals(["true", "false"]) : Schema.Boolean),
  read: (value, source) => {
    const values: ReadonlyArray<unknown> = source === "query" ? ["false", "true"] : [false, true];
    const index = values.indexOf(value);
    return index === -1 ? invalid("expected true or false") : Result.succeed(index === 1);
  },
  absent: Result.succeed(false),
});

/** A `flag` that only a Premium key may set. */
export const premiumFlag = (description: string): Parameter<boolean> => ({
  ...flag(`${description}; needs a Premium key`),
  needsPremium: true,
});

/** The same parameter, which may be left out. */
export const optional = <A>(parameter: Parameter<A>): Parameter<A | null> => ({
  ...parameter,
  presence: never,
  absent: Result.succeed(null),
});

/** The sid in a path. One that has not the form of a sid is one that does not exist. */
export const sid = (): Parameter<string> => ({
  presence: always,
  isInPath: true,
  description: "Identifier of the session",
  schema: () => Sid,
  read: (value) => Result.succeed(String(value)),
  absent: required,
});

const longestClientId = 128;

/** The client's own name for its user. */
export const clientId = (): Parameter<string> => ({
  presence: always,
  description: "The client's own name for its user; comes back with every answer",
  schema: () => Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(longestClientId)),
  read: (value) =>
    typeof value === "string" && Array.from(value).length <= longestClientId && isStorable(value)
      ? Result.succeed(value)
      : invalid(`expected 1 to ${longestClientId} characters`),
  absent: required,
});

/** Where a user is sent after the flow. Whether the service can send there, and the key may, is the session's to say. */
export const redirect = (): Parameter<string | null> => ({
  presence: never,
  description: `Absolute http or https URL, of at most ${longestRedirect} characters, whose origin is on the key's redirect list`,
  schema: () => Schema.String.check(Schema.isMaxLength(longestRedirect)),
  read: (value) =>
    typeof value === "string" ? Result.succeed(value) : invalid("expected an absolute http or https URL"),
  absent: Result.succeed(null),
});

/** How long a read waits, in whole seconds. How long it may is the deployment's to say. */
export const wait = (): Parameter<number> => ({
  presence: never,
  description: "Whole seconds to wait for the next state, at most 25",
  schema: () => Schema.String.check(Schema.isPattern(/^\d{1,9}$/u)),
  read: (value) =>
    typeof value === "string" && /^\d{1,9}$/.test(value)
      ? Result.succeed(Number(value))
      : invalid("expected whole seconds"),
  absent: Result.succeed(0),
});

/** A list of IDs. Its items are checked one by one by the lookup, so that a wrong one fails alone. */
export const ids = (description: string): Parameter<ReadonlyArray<string>> => ({
  presence: always,
  description,
  schema: () => Schema.Array(Schema.String),
  read: (value) => {
    if (!Array.isArray(value)) return invalid("expected a list of strings");
    if (value.length === 0) return invalid("expected at least one ID, got none");
    return value.every((item) => typeof item === "string")
      ? Result.succeed(value)
      : Result.fail({ kind: "body", reason: "every item of the list has to be a string" });
  },
  absent: required,
});

/** A text of the body. */
export const text = (description: string): Parameter<string> => ({
  presence: always,
  description,
  schema: () => Schema.String,
  read: (value) => (typeof value === "string" ? Result.succeed(value) : invalid("expected a string")),
  absent: required,
});

/** A `true` that has to be written out before something is deleted; without it the whole body is refused. */
export const confirmation = (description: string): Parameter<true> => {
  const refusal = { kind: "body", reason: '"confirm" has to be true' } as const;
  return {
    presence: never,
    description,
    schema: () => Schema.Literal(true),
    read: (value) => (value === true ? Result.succeed(true as const) : Result.fail(refusal)),
    absent: Result.fail(refusal),
  };
};
