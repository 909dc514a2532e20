/**
 * The fixture file: one JSON document that fills a new service for a demo, a test or an embedder's own suite. What may
 * be left out has its value here, unknown fields are ignored, and JSON null is the same as left out.
 */
import { Data, Effect, Option, Predicate, Schema, SchemaIssue, SchemaTransformation } from "effect";
import { keyIdOf } from "./api_key.ts";
import { parseAddress, parseNetwork } from "./client_address.ts";
import { ChatId, GameId, GuildId } from "./ids.ts";
import type { Millis } from "./link.ts";
import { isOrigin } from "./origin.ts";
import { GameBadge, GameGroup } from "./profile.ts";
import { isStorable } from "./storable_text.ts";
import { formatTimestamp, Timestamp } from "./timestamp.ts";

const or = <S extends Schema.Top>(fallback: NoInfer<S["Type"]>) =>
  Schema.withDecodingDefaultTypeKey<S>(Effect.succeed(fallback));

const orNull = <S extends Schema.Top>(schema: S) => Schema.NullOr(schema).pipe(or(null));

const listOf = <S extends Schema.Top>(item: S) => Schema.Array(item).pipe(or([]));

const textThat = (isRight: (text: string) => boolean, expected: string) =>
  Schema.String.check(Schema.makeFilter(isRight, { expected }));

const Name = textThat((text) => text !== "" && isStorable(text), "text, not empty and without NUL");
const Text = orNull(Schema.String);
const Flag = orNull(Schema.Boolean);
const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0, { expected: "a whole number, 0 or more" }));

// Years 0 to 9999, those that the text can say.
const Epoch = Schema.Int.check(
  Schema.isBetween({ minimum: -62_167_219_200_000, maximum: 253_402_300_799_999 }),
);

const Time = Timestamp.pipe(
  Schema.decodeTo(
    Epoch,
    SchemaTransformation.transform<Millis, string>({
      decode: (text) => Date.parse(text),
      encode: formatTimestamp,
    }),
  ),
);

const Key = textThat((text) => keyIdOf(text) !== null, 'a key, "alk_" and its id and secret');
const Address = textThat((text) => Option.isSome(parseAddress(text)), "an IP address");
const Network = textThat((text) => Option.isSome(parseNetwork(text)), "an IP address or a CIDR");
const Origin = textThat(isOrigin, 'an origin such as "https://example.com"');

const Tier = Schema.Literals(["free", "premium"]);

/** The fields, in a global scope or in that of a guild, which is then named. */
const scoped = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Union([
    Schema.Struct({ scope: Schema.Literal("global"), ...fields }),
    Schema.Struct({ scope: Schema.Literal("guild"), guildId: GuildId, ...fields }),
  ]).annotate({ expected: 'an object with a "scope" of "global" or "guild"' });

const Account = Schema.Struct({ name: Name, chatId: orNull(ChatId), tier: Tier.pipe(or("free")) });

const Limits = Schema.Union([
  Schema.Literal("none"),
  Schema.Struct({
    perWindow: Schema.optionalKey(Count),
    windowMs: Schema.optionalKey(Count),
    daily: Schema.optionalKey(Count),
    verifyDaily: Schema.optionalKey(Count),
  }),
]).annotate({ expected: '"none" or an object of limits' });

const KeyEntry = scoped({
  key: Key,
  account: Name,
  /** Null is the tier of the account. */
  tier: orNull(Tier),
  kind: Schema.Literals(["normal", "partner", "staff"]).pipe(or("normal")),
  status: Schema.Literals(["active", "disabled", "revoked"]).pipe(or("active")),
  expiresAt: orNull(Time),
  limits: Limits.pipe(or({})),
  allowIps: listOf(Network),
  denyIps: listOf(Network),
  redirectOrigins: listOf(Origin),
});

/** A null time is that of the loading. */
const LinkEntry = scoped({ account: Name, chatId: ChatId, gameId: GameId, lastVerifiedAt: orNull(Time) });

/** A null time is that of the loading. */
const SightingEntry = scoped({ account: Name, chatId: ChatId, ip: Address, seenAt: orNull(Time) });

/** A member of a guild. A manager may create keys for the guild. */
export const MemberFixture = Schema.Struct({
  chatId: ChatId,
  manager: Schema.Boolean.pipe(or(false)),
  nickname: Text,
  joined: orNull(Timestamp),
  roles: listOf(Schema.Struct({ id: Schema.String, name: Text })),
});
export type MemberFixture = typeof MemberFixture.Type;

const GuildName = textThat((text) => text !== "" && text.length <= 100, "text of 1 to 100 characters");

const GuildFixture = Schema.Struct({
  id: GuildId,
  name: orNull(GuildName),
  bot: Schema.Boolean.pipe(or(true)),
  members: listOf(MemberFixture),
});

const ChatUserFixture = Schema.Struct({
  id: ChatId,
  username: Text,
  displayName: Text,
  avatar: Text,
  banner: Text,
  created: orNull(Timestamp),
});

const BadgeFixture = Schema.Struct({ ...GameBadge.fields, name: Text, description: Text, imageUrl: Text });

const RoleFixture = Schema.Struct({ id: Schema.Int, name: Text, rank: orNull(Schema.Int) });

const GroupFixture = Schema.Struct({
  ...GameGroup.fields,
  name: Text,
  memberCount: orNull(Schema.Int),
  hasVerifiedBadge: Flag,
  role: orNull(RoleFixture),
});

const GameUserFixture = Schema.Struct({
  id: GameId,
  username: Text,
  displayName: Text,
  description: Text,
  created: orNull(Timestamp),
  isBanned: Flag,
  hasVerifiedBadge: Flag,
  avatar: orNull(Schema.Struct({ headshot: Text, fullBody: Text })),
  badges: orNull(Schema.Array(BadgeFixture)),
  groups: orNull(Schema.Array(GroupFixture)),
});

/** What the two platforms know, for a platform that is played. */
export const PlatformFixture = Schema.Struct({
  guilds: listOf(GuildFixture),
  chatUsers: listOf(ChatUserFixture),
  gameUsers: listOf(GameUserFixture),
});
export type PlatformFixture = typeof PlatformFixture.Type;

/** The whole file. */
export const Fixture = Schema.Struct({
  accounts: listOf(Account),
  keys: listOf(KeyEntry),
  links: listOf(LinkEntry),
  sightings: listOf(SightingEntry),
  platform: PlatformFixture.pipe(or({ guilds: [], chatUsers: [], gameUsers: [] })),
  /** Networks that the IP-intelligence layer flags. */
  vpnCidrs: listOf(Network),
});
export type Fixture = typeof Fixture.Type;

/** The file is not a fixture. No message carries a key or an address that the file holds. */
export class InvalidFixture extends Data.TaggedError("InvalidFixture")<{
  /** Each names its place in the file, what is there and what was expected. */
  readonly problems: ReadonlyArray<string>;
}> {
  override readonly message = `Cannot read the fixture: ${summaryOfProblems(this.problems)}`;
}

/** The first three problems, and how many more there are. */
export const summaryOfProblems = (problems: ReadonlyArray<string>): string => {
  const more = problems.length - 3;
  return problems.slice(0, 3).join("; ") + (more > 0 ? `; and ${more} more` : "");
};

/**
 * Reads a fixture file.
 *
 * @param text the content of the file
 *
 * @example
 * ```ts
 * import { Effect } from "effect";
 *
 * const text = `{ "links": [{ "account": "acme", "scope": "global", "chatId": "1", "gameId": "1" }] }`;
 * const problem = Effect.runSync(Effect.flip(decodeFixture(text)));
 * problem.message; // 'Cannot read the fixture: links[0].chatId is "1", expected 5 to 32 digits'
 * ```
 */
export const decodeFixture = (text: string): Effect.Effect<Fixture, InvalidFixture> =>
  Effect.flatMap(parse(text), (document) =>
    Schema.decodeUnknownEffect(Fixture)(document, { errors: "all" }).pipe(
      Effect.mapError(({ issue }) => new InvalidFixture({ problems: problemsOf(issue, document) })),
    ),
  );

const parse = (text: string): Effect.Effect<unknown, InvalidFixture> =>
  Effect.try({
    try: () =>
      JSON.parse(text, (key, value) => (value === null && key !== "" ? undefined : value)) as unknown,
    catch: (error) => new InvalidFixture({ problems: [`the file is not JSON${placeOf(error, text)}`] }),
  });

// The parser's own message quotes the file, which holds secrets, so only the position is taken from it.
const placeOf = (error: unknown, text: string): string => {
  const position = /position (\d+)/.exec(String(error))?.[1];
  if (position === undefined) return "";
  const before = text.slice(0, Number(position)).split("\n");
  return `, see line ${before.length}, column ${(before.at(-1) as string).length + 1}`;
};

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1({
  // A number where an ID belongs breaks no check yet, but what the check expects says more than the name of a type.
  leafHook: (issue) => {
    const checks = issue._tag === "InvalidType" ? (issue.ast.checks ?? []) : [];
    const expected = checks.map((check) => check.annotations?.["expected"]).find(Predicate.isString);
    return expected === undefined ? SchemaIssue.defaultLeafHook(issue) : `Expected ${expected}`;
  },
});

const problemsOf = (issue: SchemaIssue.Issue, document: unknown): ReadonlyArray<string> =>
  formatIssue(issue).issues.map(({ message, path = [] }) => {
    const keys = path.map((part) => (typeof part === "object" ? part.key : part));
    const place = pathText(keys);
    const value = valueAt(document, keys);
    if (value === undefined) return `${place} is missing`;
    return `${place} is ${shown(value, keys)}, ${message.replace(/^E/, "e")}`;
  });

const pathText = (keys: ReadonlyArray<PropertyKey>): string =>
  keys.length === 0
    ? "the file"
    : keys
        .map((key, at) => (typeof key === "number" ? `[${key}]` : `${at === 0 ? "" : "."}${String(key)}`))
        .join("");

const valueAt = (document: unknown, keys: ReadonlyArray<PropertyKey>): unknown =>
  keys.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], document);

const secretFields: ReadonlySet<PropertyKey> = new Set(["key", "ip", "allowIps", "denyIps", "vpnCidrs"]);

const shown = (value: unknown, keys: ReadonlyArray<PropertyKey>): string => {
  if (keys.some((key) => secretFields.has(key)) || String(value).includes("alk_")) return "wrong";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number") return `the number ${value}`;
  return Predicate.isObject(value) ? "an object" : `"${String(value).slice(0, 60)}"`;
};
