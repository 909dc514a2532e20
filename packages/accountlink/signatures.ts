/** The arguments of every method, which are checked when a program calls it. Plain JavaScript knows no types. */
import { InvalidParameter } from "@accountlink/core";
import { parseNetwork } from "@accountlink/core/addresses";
import { auditActions } from "@accountlink/core/audit";
import { eventTypes } from "@accountlink/core/events";
import { linkReaders } from "@accountlink/core/links";
import { isOrigin } from "@accountlink/core/origin";
import { isStorable } from "@accountlink/core/storable_text";
import { Duration, Effect, Option, Predicate, Schema, SchemaIssue, Stream } from "effect";

type Argument = readonly [name: string, schema: Schema.Decoder<unknown>];

type Signatures<Service> = {
  readonly [Name in keyof Service]: Service[Name] extends (...args: infer Args) => unknown
    ? { readonly [Index in keyof Required<Args>]: Argument }
    : never;
};

const that = <A>(is: (value: unknown) => value is A, expected: string) => Schema.declare(is, { expected });
const whole = (from: number, to: number, expected: string) =>
  that(
    (value): value is number => Number.isSafeInteger(value) && Number(value) >= from && Number(value) <= to,
    expected,
  );
const textThat = (is: (text: string) => boolean, expected: string) =>
  that((value): value is string => typeof value === "string" && is(value), expected);
const oneOf = (values: ReadonlyArray<string>) =>
  textThat((text) => values.includes(text), `one of ${values.join(", ")}`);
const listOf = <S extends Schema.Top>(item: S) => Schema.Array(item).annotate({ expected: "a list" });
const fields = <const Fields extends Schema.Struct.Fields>(known: Fields) =>
  Schema.Struct(known).annotate({ expected: "an object" });
const maybe = <S extends Schema.Top>(schema: S) => Schema.optional(schema);

const text = textThat(isStorable, "well-formed text without NUL");
const flag = that(Predicate.isBoolean, "true or false");
const count = whole(0, Number.MAX_SAFE_INTEGER, "a whole number, 0 or more");
const network = textThat((given) => Option.isSome(parseNetwork(given)), "an address or a CIDR");
const origin = textThat(isOrigin, 'an origin such as "https://example.com"');
const duration = that(
  (value): value is Duration.Input => Option.isSome(Duration.fromInput(value as Duration.Input)),
  'a duration such as 100 or "10 seconds"',
);

/** IDs, which the methods check themselves. */
const anyId = Schema.Unknown;
const id = ["id", text] as const;
const chatId = ["chatId", anyId] as const;
const gameId = ["gameId", anyId] as const;
const options = <const Fields extends Schema.Struct.Fields>(known: Fields) =>
  ["options", Schema.UndefinedOr(fields(known)).annotate({ expected: "an object" })] as const;

const guild = { guildId: maybe(anyId) };
const acting = { actor: maybe(that(Predicate.isString, "text")) };
const looking = options({ ...guild, resolved: maybe(flag) });
const inGuild = options(guild);
const by = options(acting);
const writing = options({ ...guild, ...acting });

const keyFields = {
  name: maybe(text),
  tier: maybe(oneOf(["free", "premium"])),
  kind: maybe(oneOf(["normal", "partner", "staff"])),
  access: maybe(oneOf(["full", "read", "verify"])),
  expiresAt: maybe(Schema.NullOr(count)),
  limits: maybe(
    Schema.Union([
      Schema.Literal("none"),
      fields({
        perWindow: maybe(count),
        windowMs: maybe(count),
        daily: maybe(count),
        verifyDaily: maybe(count),
      }),
    ]).annotate({ expected: '"none" or an object of limits' }),
  ),
  allowIps: maybe(listOf(network)),
  denyIps: maybe(listOf(network)),
  redirectOrigins: maybe(listOf(origin)),
};
const webhookFields = { types: maybe(listOf(oneOf(eventTypes))), description: maybe(text) };
const file = that(
  (value): value is object =>
    typeof value === "function" || (Predicate.isObject(value) && Symbol.asyncIterator in value),
  "a function that opens the file, or an async iterable",
);

export const signatures = {
  links: {
    get: [chatId, looking],
    getMany: [["chatIds", listOf(anyId)], looking],
    byGame: [gameId, looking],
    byGameMany: [["gameIds", listOf(anyId)], looking],
    verification: [chatId, looking],
    set: [chatId, gameId, writing],
    move: [chatId, ["newChatId", anyId], writing],
    delete: [chatId, writing],
    deleteAll: [by],
    all: [],
    import: [
      ["file", file],
      options({
        ...acting,
        ...guild,
        format: maybe(oneOf(Object.keys(linkReaders))),
        onConflict: maybe(oneOf(["keep", "replace", "newest"])),
        dryRun: maybe(flag),
        strict: maybe(flag),
        fromStart: maybe(flag),
        chatColumn: maybe(text),
        gameColumn: maybe(text),
        timeColumn: maybe(text),
        verifiedColumn: maybe(text),
        ignoreColumns: maybe(listOf(text)),
      }),
    ],
    export: [["format", oneOf(["csv", "ndjson"])]],
  },

  keys: {
    create: [["key", fields(keyFields)], by],
    list: [],
    get: [id],
    update: [
      id,
      ["update", fields({ ...keyFields, status: maybe(oneOf(["active", "disabled", "revoked"])) })],
      by,
    ],
    rotate: [
      id,
      options({ ...acting, graceSeconds: maybe(whole(0, 604_800, "a whole number from 0 to 604800")) }),
    ],
    revoke: [id, by],
  },

  sessions: {
    create: [["request", fields({ ...guild, clientId: text, chatId: maybe(anyId), redirect: maybe(text) })]],
    get: [["sid", text]],
    wait: [["sid", text], options({ within: maybe(duration) })],
    watch: [["sid", text]],
    cancel: [["sid", text]],
  },

  alts: {
    find: [
      ["question", fields({ chatId: maybe(anyId), gameId: maybe(anyId), address: maybe(text) })],
      looking,
    ],
    reviews: [chatId, inGuild],
    review: [
      chatId,
      ["otherChatId", anyId],
      ["verdict", oneOf(["different", "same"])],
      options({ ...guild, ...acting, note: maybe(text) }),
    ],
    deleteReview: [chatId, ["otherChatId", anyId], writing],
  },

  audit: {
    entries: [options({ action: maybe(oneOf(auditActions)), keyId: maybe(anyId), before: maybe(count) })],
  },

  events: {
    follow: [
      options({
        cursor: maybe(text),
        from: maybe(oneOf(["now", "oldest"])),
        types: maybe(listOf(oneOf(eventTypes))),
        chatId: maybe(anyId),
        gameId: maybe(anyId),
      }),
    ],
    now: [],
  },

  webhooks: {
    create: [["webhook", fields({ ...webhookFields, url: text })], by],
    list: [],
    update: [
      id,
      ["update", fields({ ...webhookFields, url: maybe(text), status: maybe(oneOf(["active", "paused"])) })],
      by,
    ],
    delete: [id, by],
    rotate: [id, by],
    test: [id, by],
    deliveries: [
      id,
      options({
        status: maybe(oneOf(["delivered", "failing", "given_up"])),
        before: maybe(text),
        limit: maybe(whole(1, 100, "a whole number from 1 to 100")),
      }),
    ],
    resend: [id, ["eventId", text], by],
  },

  roles: {
    get: [inGuild],
    // `RolePlans.put` checks the settings themselves.
    put: [["settings", that(Predicate.isObject, "an object")], writing],
    delete: [writing],
    list: [inGuild],
    preview: [chatId, inGuild],
    sweep: [inGuild],
    sync: [chatId, inGuild],
  },

  accounts: {
    list: [],
    setTier: [["name", text], ["tier", oneOf(["free", "premium"])], by],
    suspend: [["name", text], by],
    restore: [["name", text], by],
  },

  users: {
    export: [chatId],
    erase: [chatId, by],
  },
} as const;

type Method = (...args: ReadonlyArray<never>) => unknown;

/** Returns the service with methods that fail with `InvalidParameter` if an argument is wrong. */
export const checked = <Service extends Record<keyof Service, Method>>(
  service: Service,
  expected: Signatures<Service>,
): Service =>
  Object.fromEntries(
    Object.entries<Method>(service).map(([name, method]) => [
      name,
      checkedMethod(method, (expected as Record<string, ReadonlyArray<Argument>>)[name] ?? [], name),
    ]),
  ) as Service;

const streams: ReadonlySet<string> = new Set(["all", "export", "watch", "entries", "follow"]);

const checkedMethod = (method: Method, expected: ReadonlyArray<Argument>, name: string) => {
  const readers = expected.map(
    ([argument, schema]) => [argument, Schema.decodeUnknownResult(schema)] as const,
  );
  return (...args: ReadonlyArray<never>) => {
    for (const [index, [argument, read]] of readers.entries()) {
      const result = read(args[index]);
      if (result._tag === "Success") continue;
      const problem = problemOf(argument, result.failure.issue);
      return streams.has(name) ? Stream.fail(problem) : Effect.fail(problem);
    }
    return method(...args);
  };
};

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => {
    if (issue._tag === "MissingKey") return "is missing";
    const expected = issue._tag === "InvalidType" ? issue.ast.annotations?.["expected"] : undefined;
    return `expected ${typeof expected === "string" ? expected : "another value"}`;
  },
});

const problemOf = (argument: string, issue: SchemaIssue.Issue): InvalidParameter => {
  const [first] = formatIssue(issue).issues;
  const path = (first?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part));
  return InvalidParameter.one(path.length === 0 ? argument : path.join("."), first?.message ?? "is wrong");
};
