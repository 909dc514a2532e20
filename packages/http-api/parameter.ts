/**
 * Parameters of routes. The reader, the OpenAPI entry and the client type of a parameter are made from one schema.
 *
 * Lengths are counted in Unicode code points, as JSON Schema counts them.
 */
import { parseAddress } from "@accountlink/core/addresses";
import { type AltVerdict, longestNote } from "@accountlink/core/alts";
import { longestReason } from "@accountlink/core/audit";
import { type Expected, expectedText } from "@accountlink/core/errors";
import { ChatId, GameId, GuildId } from "@accountlink/core/ids";
import { maxRedirectLength } from "@accountlink/core/origin";
import { longestClientId } from "@accountlink/core/sessions";
import { storable } from "@accountlink/core/storable_text";
import { Option, Schema, SchemaAST, SchemaTransformation } from "effect";

/** Where a route reads values. `query`: text from the query string and the path. `body`: JSON from the body. */
export type ParameterSource = "query" | "body";

/** Whether a request must, may or must not send the parameter, depending on the scope of its key. */
export interface Presence {
  readonly guildKeys: "required" | "optional";
  readonly globalKeys: "required" | "optional" | "refused";
}

export interface Parameter<out A> {
  readonly presence: Presence;
  /** Set if the value is a part of the path. */
  readonly isInPath?: true;
  /** Set if a key may leave the value out, which then is the key's own. */
  readonly isOfKey?: true;
  /** Set if only a Premium key may send `true`. */
  readonly needsPremium?: true;
  /** Set if the whole body is refused because of a missing or invalid value. */
  readonly refusesBody?: true;
  /** Set if the whole body is refused because of an invalid list item. */
  readonly itemRefusesBody?: true;
  /** Set if null is a value, and does not mean that the parameter is missing. */
  readonly takesNull?: true;
  /** Set if requests carry the value as text, and the schema decodes it to another type, such as a timestamp. */
  readonly isText?: true;
  readonly description: string;
  /** The schema of the decoded value. `parameterCodec` adds the decoding from a query or a body. */
  readonly schema: Schema.Codec<A, unknown>;
  /** Why a value that fails the schema is refused. */
  readonly reason: string;
  /** The reason as a code, for pages in other languages. */
  readonly expected?: Expected;
  /** Says why a list is refused, for forms. Answers of routes do not show it, because an entry may be an IP address. */
  readonly explain?: (list: unknown) => string | undefined;
  /** The value of a parameter that is left out; none if the parameter is required. */
  readonly fallback: Option.Option<A>;
}

/** Raw values by name. If a name occurs more than once in a query string, its value is the list of all its values. */
export type RawValues = { readonly [name: string]: unknown };

/** The parameters of a route by name, in documented order. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** The decoded parameters of a route, as its handler receives them. */
export type ParameterValues<P extends Parameters> = {
  readonly [Name in keyof P]: P[Name] extends Parameter<infer A> ? A : never;
};

/**
 * Returns the codec that decodes a parameter from a source. In a query string, for example, `true` is the text "true".
 *
 * @example
 * ```ts
 * import type { ParameterValues } from "@accountlink/http-api";
 * import { Schema } from "effect";
 *
 * const { resolved } = LookupsV2.getChat.parameters;
 * Schema.decodeUnknownSync(parameterCodec(resolved, "query"))("true"); // true
 * Schema.decodeUnknownSync(parameterCodec(resolved, "body"))(true); // true
 *
 * const { parameters } = WritesV2.deleteData;
 * const confirmed: ParameterValues<typeof parameters> = { confirm: true, guildId: null };
 * Schema.is(parameters.confirm.schema)(confirmed.confirm); // true
 * ```
 */
export const parameterCodec = <A>(
  { schema }: Parameter<A>,
  source: ParameterSource,
): Schema.ConstraintDecoder<A> =>
  source === "query" ? Schema.toCodecStringTree(schema) : Schema.toCodecJson(schema);

/** What a value consists of, so that forms and flags can read it from text. @internal */
export const kindOf = ({ schema }: Parameter<unknown>): "text" | "number" | "list" => {
  const ast = SchemaAST.toEncoded(schema.ast);
  const members = SchemaAST.isUnion(ast) ? ast.types : [ast];
  if (members.some(SchemaAST.isArrays)) return "list";
  return members.some(SchemaAST.isNumber) ? "number" : "text";
};

const always: Presence = { guildKeys: "required", globalKeys: "required" };
const never: Presence = { guildKeys: "optional", globalKeys: "optional" };

export const required = <A>(
  schema: Schema.Codec<A, unknown>,
  expected: string | Expected,
  description: string,
): Parameter<A> => ({
  presence: always,
  description,
  schema,
  ...(typeof expected === "string" ? { reason: expected } : { reason: expectedText(expected), expected }),
  fallback: Option.none(),
});

/** A text of at most `max` characters. `what` names it in the reason of a refusal. */
export const textUpTo = (max: number, description: string, what = "") =>
  required(
    Schema.String.check(Schema.isMaxCodePoints(max), storable),
    what === "" ? { is: "characters", most: max } : `expected ${what}at most ${max} characters`,
    description,
  );

/** Makes the parameter optional, with this value when it is left out. */
export const withFallback = <A, B>(parameter: Parameter<A>, fallback: B): Parameter<A | B> => ({
  ...parameter,
  presence: never,
  fallback: Option.some(fallback),
});

/** Makes the parameter optional; null when it is left out. @internal */
export const optional = <A>(parameter: Parameter<A>): Parameter<A | null> => withFallback(parameter, null);

export const inPath = <A>(parameter: Parameter<A>): Parameter<A> => ({ ...parameter, isInPath: true });

export const oneOf = <const Words extends ReadonlyArray<string>>(
  words: Words,
  description: string,
): Parameter<Words[number]> => {
  const text = `expected ${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
  return required(Schema.Literals(words), { is: "choice", text }, description);
};

export const chatId = (description = "The user's ID on the chat platform") =>
  required(ChatId, { is: "digits", least: 5, most: 32 }, description);

export const gameId = (description = "The user's ID on the game platform") =>
  required(GameId, { is: "digits", least: 1, most: 32 }, description);

const guildDigits: Expected = { is: "digits", least: 5, most: 32 };

/** The guild of a request. Guild-scoped keys must name their guild, unless the route says otherwise. */
export const guildId = (presence: Partial<Presence> = {}): Parameter<GuildId | null> => ({
  ...optional(required(GuildId, guildDigits, guildRule({ ...guildPresence, ...presence }))),
  presence: { ...guildPresence, ...presence },
});

/** A guild ID that every request must send, whether its key is guild-scoped or global. */
export const ownGuildId: Parameter<GuildId> = required(
  GuildId,
  guildDigits,
  "The guild of the member; with a guild-scoped key, the key's own guild",
);

const guildPresence = { guildKeys: "required", globalKeys: "optional" } as const satisfies Presence;

const guildRule = ({ guildKeys, globalKeys }: Presence): string => {
  const ofGlobalKeys = globalKeys === "refused" ? "refused with a global key" : "optional with a global key";
  const ofGuildKeys = guildKeys === "required" ? "Required" : "Optional";
  return `${ofGuildKeys} with a guild-scoped key, and must then be the key's own guild; ${ofGlobalKeys}`;
};

/** @internal */
export const trueOrFalse: Expected = { is: "choice", text: "expected true or false" };

/** A boolean, false when left out. @internal */
export const flag = (description: string): Parameter<boolean> =>
  withFallback(required(Schema.Boolean, trueOrFalse, description), false);

/** A `flag` that only a Premium key may set. @internal */
export const premiumFlag = (description: string): Parameter<boolean> => ({
  ...flag(`${description}; needs a Premium key`),
  needsPremium: true,
});

/** A session ID in a path. Any text is accepted: a malformed ID counts as an unknown session. */
export const sid = inPath(required(Schema.String, "expected a sid", "Identifier of the session, `vs_…`"));

export const clientId: Parameter<string> = required(
  Schema.String.check(Schema.isMinCodePoints(1), Schema.isMaxCodePoints(longestClientId), storable),
  `expected 1 to ${longestClientId} characters`,
  "The user's name or ID in your own system; every response repeats it",
);

/** The URL that users go to after the flow. The session service checks the URL and its origin. */
export const redirect: Parameter<string | null> = optional(
  textUpTo(
    maxRedirectLength,
    `Absolute http or https URL, of at most ${maxRedirectLength} characters, whose origin is on the key's redirect list`,
    "an absolute http or https URL of ",
  ),
);

const WholeNumber = Schema.String.check(Schema.isPattern(/^\d{1,9}$/u)).pipe(
  Schema.decodeTo(Schema.Int, SchemaTransformation.numberFromString),
);

/** How long a request waits for `what`, in whole seconds. The deployment sets the maximum. */
export const wait = (what = "the next state"): Parameter<number> =>
  withFallback(
    required(WholeNumber, "expected whole seconds", `Whole seconds to wait for ${what}, at most 25`),
    0,
  );

export const countUpTo = (
  max: number,
  usual: number,
  description = `How many to return at most, 1 to ${max}`,
): Parameter<number> =>
  withFallback(
    required(
      WholeNumber.check(Schema.isBetween({ minimum: 1, maximum: max })),
      { is: "choice", text: `expected a whole number from 1 to ${max}` },
      description,
    ),
    usual,
  );

/** A cursor from an earlier response. The service checks the cursor, so its schema accepts any text. */
export const pageCursor = (description: string): Parameter<string | null> =>
  optional(textUpTo(200, description, "a cursor of "));

const Texts = Schema.Array(
  Schema.String.annotate({ message: "every item of the list has to be a string" }),
).check(Schema.isMinLength(1));

const Address = Schema.String.check(
  Schema.makeFilter((text: string) => !/\s/.test(text) && Option.isSome(parseAddress(text)), {
    expected: "an IPv4 or IPv6 address",
  }),
);

export const address: Parameter<string> = required(
  Address,
  "expected an IPv4 or IPv6 address",
  "IPv4 or IPv6 address; all IPv6 addresses of a /64 match",
);

export const verdict: Parameter<AltVerdict> = oneOf(
  ["different", "same"],
  "Whether the two users are different persons or the same one",
);

export const note: Parameter<string | null> = optional(
  textUpTo(longestNote, `At most ${longestNote} characters`),
);

export const reason: Parameter<string | null> = optional(
  textUpTo(longestReason, `Why, for the history and the audit log; at most ${longestReason} characters`),
);

/** A list of IDs. The lookup checks each ID, so that a malformed one does not fail the rest of the list. */
export const ids = (description: string): Parameter<ReadonlyArray<string>> => ({
  ...required(Texts, "expected a list of at least one ID", description),
  itemRefusesBody: true,
});

export const text = (description: string): Parameter<string> =>
  required(Schema.String, { is: "choice", text: "expected a string" }, description);

/** A field that must be `true`, which confirms a deletion. Otherwise the whole body is refused. */
export const confirmation = (description: string): Parameter<true> => ({
  ...required(Schema.Literal(true), '"confirm" has to be true', description),
  presence: never,
  refusesBody: true,
});
