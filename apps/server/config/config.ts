/**
 * The configuration: the environment variables, each also a flag of `accountlink serve`. It does
 * not use `effect/Config`, since an invalid start has to report every wrong variable at once, one
 * line each, and the same table makes the flags, the doctor and the documentation.
 */
import { parse as parseRedisUrl, forms as redisForms } from "@accountlink/cache-redis/redis_url";
import { Data, Effect, Option } from "effect";
import {
  choice,
  count,
  credential,
  days,
  duration,
  lifetime,
  namedSecrets,
  networks,
  port,
  positive,
  prefix,
  secrets,
  serverAddress,
  serviceAddress,
  text,
  type Variable,
  webAddress,
  webOrigin,
  webPage,
} from "./variables.ts";

const tierLimits = (
  tier: string,
  numbers: { keys: number; window: string; daily: number; verifyDaily: number },
) => ({
  perWindow: count({ description: `Requests per window of a ${tier} key`, fallback: 1 }),
  window: duration({ description: `Pacing window of a ${tier} key`, fallback: numbers.window }),
  daily: count({ description: `Requests per day of a ${tier} key`, fallback: numbers.daily }),
  verifyDaily: count({
    description: `Verification requests per day of a ${tier} key`,
    fallback: numbers.verifyDaily,
  }),
  keys: count({ description: `Keys of a ${tier} account`, fallback: numbers.keys }),
});

const free = tierLimits("free", { keys: 2, window: "2 seconds", daily: 500, verifyDaily: 2_000 });
const premium = tierLimits("premium", { keys: 10, window: "1 second", daily: 2_500, verifyDaily: 10_000 });

const postgresForm = "postgres://user:password@host:port/database";

const isPostgresUrl = (url: string): boolean => /^postgres(ql)?:\/\//.test(url) && URL.canParse(url);

/** In the order of the documentation. */
export const variables = {
  ACCOUNTLINK_HOST: text("an address to listen on", {
    description: "Address to listen on",
    fallback: "127.0.0.1",
  }),
  ACCOUNTLINK_PORT: port({ description: "Port to listen on, 0 for a free one", fallback: 8080 }),
  ACCOUNTLINK_PUBLIC_URL: webOrigin({ description: "Where users reach the service", fallback: null }),
  ACCOUNTLINK_STORAGE: choice(["embedded", "memory", "postgres"], {
    description: "Where links and keys live",
    fallback: null,
  }),
  ACCOUNTLINK_DATA_DIR: text("a path", {
    description: "Data folder of the embedded storage",
    fallback: "data",
  }),
  ACCOUNTLINK_DATABASE_URL: serverAddress(postgresForm, isPostgresUrl, {
    description: "Database of the postgres storage",
    fallback: null,
  }),
  ACCOUNTLINK_DATABASE_CONNECTIONS: positive({
    description: "Connections to the database at most",
    fallback: 10,
  }),
  ACCOUNTLINK_DATABASE_START_TIMEOUT: duration({
    description: "How long a start waits for the database",
    fallback: "20 seconds",
  }),
  ACCOUNTLINK_CACHE: choice(["memory", "redis"], {
    description: "Where limits are counted and nodes tell each other of changes",
    fallback: "memory",
  }),
  ACCOUNTLINK_REDIS_URL: serverAddress(redisForms.join(" or "), (url) => Option.isSome(parseRedisUrl(url)), {
    description: "Redis of the redis cache; rediss is TLS",
    fallback: null,
  }),
  ACCOUNTLINK_REDIS_PREFIX: prefix({
    description: "Prefix of every name in Redis",
    fallback: "accountlink:",
  }),
  ACCOUNTLINK_SECRET: secrets({ description: "Unlocks the root key of the storage", fallback: null }),
  ACCOUNTLINK_ADDRESS_KEYS: namedSecrets({
    description: "Keys that protect stored addresses",
    fallback: new Map(),
  }),
  ACCOUNTLINK_PLATFORM: choice(["dev", "live"], {
    description: "The platforms that the service asks",
    fallback: null,
  }),
  ACCOUNTLINK_CHAT_BOT_TOKEN: credential("a token", {
    description: "Bot that asks the live chat platform",
    fallback: null,
  }),
  ACCOUNTLINK_CHAT_CLIENT_ID: text("an ID", {
    description: "Application at which chat users sign in",
    fallback: null,
  }),
  ACCOUNTLINK_CHAT_CLIENT_SECRET: credential("a secret", {
    description: "Secret of that application",
    fallback: null,
  }),
  ACCOUNTLINK_CHAT_API_URL: webAddress({
    description: "Another address of the chat platform's API",
    fallback: null,
  }),
  ACCOUNTLINK_CHAT_AUTHORIZATION_URL: webAddress({
    description: "Another address of the chat platform's sign-in page",
    fallback: null,
  }),
  ACCOUNTLINK_GAME_CLIENT_ID: text("an ID", {
    description: "Application at which game users sign in",
    fallback: null,
  }),
  ACCOUNTLINK_GAME_CLIENT_SECRET: credential("a secret", {
    description: "Secret of that application",
    fallback: null,
  }),
  ACCOUNTLINK_GAME_API_URL: serviceAddress({
    description: "Another address of the game platform's APIs",
    fallback: null,
  }),
  ACCOUNTLINK_GAME_AUTHORIZATION_URL: webAddress({
    description: "Another address of the game platform's sign-in page",
    fallback: null,
  }),
  ACCOUNTLINK_CHAT_NAME: text("a name", {
    description: "What users call the chat platform",
    fallback: null,
  }),
  ACCOUNTLINK_GAME_NAME: text("a name", {
    description: "What users call the game platform",
    fallback: null,
  }),
  ACCOUNTLINK_PRIVACY_URL: webPage({
    description: "Privacy policy, linked on every page of the flow",
    fallback: null,
  }),
  ACCOUNTLINK_CONTACT: text("an e-mail address, a web address or a text", {
    description: "How users reach the operator, shown on every page of the flow",
    fallback: null,
  }),
  ACCOUNTLINK_FIXTURE: text("a path", { description: "Fixture file to load at start", fallback: null }),
  ACCOUNTLINK_TRUSTED_PROXIES: networks({
    description: "Proxies whose X-Forwarded-For is believed",
    fallback: [],
  }),
  ACCOUNTLINK_SESSION_TTL: lifetime({ description: "Life of a verification session", fallback: "5 minutes" }),
  ACCOUNTLINK_POLL_INTERVAL: duration({
    description: "Least time from the end of one read of a session to the next",
    fallback: "2 seconds",
  }),
  ACCOUNTLINK_POLL_LIMIT: count({ description: "Reads of one session", fallback: 150 }),
  ACCOUNTLINK_LONG_POLL_MAX: duration({ description: "Longest wait of a long poll", fallback: "25 seconds" }),
  ACCOUNTLINK_STREAM_MAX: duration({ description: "Longest stream", fallback: "30 seconds" }),
  ACCOUNTLINK_IP_PER_SECOND: count({ description: "Requests per second of a client address", fallback: 20 }),
  ACCOUNTLINK_IP_DAILY: count({ description: "Requests per day of a client address", fallback: 10_000 }),
  ACCOUNTLINK_IP_VERIFY_DAILY: count({
    description: "Verification requests per day of a client address",
    fallback: 10_000,
  }),
  ACCOUNTLINK_IP_AUTH_FAILURES: count({
    description: "Failed authentications per minute of a client address",
    fallback: 30,
  }),
  ACCOUNTLINK_SESSION_CREATE_BURST: count({
    description: "Sessions that a key may create at once",
    fallback: 6,
  }),
  ACCOUNTLINK_SESSION_CREATE_REFILL: duration({
    description: "Time until a key may create one more session",
    fallback: "10 seconds",
  }),
  ACCOUNTLINK_FREE_PER_WINDOW: free.perWindow,
  ACCOUNTLINK_FREE_WINDOW: free.window,
  ACCOUNTLINK_FREE_DAILY: free.daily,
  ACCOUNTLINK_FREE_VERIFY_DAILY: free.verifyDaily,
  ACCOUNTLINK_FREE_KEYS: free.keys,
  ACCOUNTLINK_PREMIUM_PER_WINDOW: premium.perWindow,
  ACCOUNTLINK_PREMIUM_WINDOW: premium.window,
  ACCOUNTLINK_PREMIUM_DAILY: premium.daily,
  ACCOUNTLINK_PREMIUM_VERIFY_DAILY: premium.verifyDaily,
  ACCOUNTLINK_PREMIUM_KEYS: premium.keys,
  ACCOUNTLINK_SIGHTING_RETENTION: duration({
    description: "How long sightings are kept, 0 seconds for not at all",
    fallback: "180 days",
  }),
  ACCOUNTLINK_AUDIT_RETENTION: duration({
    description: "How long the audit log is kept, 0 seconds for ever",
    fallback: "400 days",
  }),
  ACCOUNTLINK_EVENT_RETENTION: days({
    description: "How long events are kept for readers of the feed, at least 1 day",
    fallback: "30 days",
  }),
  ACCOUNTLINK_WEBHOOK_NETWORKS: networks({
    description: "Private networks that webhooks may reach, also by http",
    fallback: [],
  }),
  ACCOUNTLINK_VPN_NETWORKS: text("a path", {
    description: "List of the networks of VPNs",
    fallback: null,
  }),
  ACCOUNTLINK_VPN_DATABASE: text("a path", {
    description: "Database of the networks of VPNs, in mmdb format",
    fallback: null,
  }),
  ACCOUNTLINK_SHARED_NETWORKS: text("a path", {
    description: "List of networks that strangers share",
    fallback: null,
  }),
  ACCOUNTLINK_CONNECTIONS_PER_IP: count({
    description: "Open connections of a client address",
    fallback: 256,
  }),
  ACCOUNTLINK_CONNECTIONS: positive({
    description: "Open connections in all",
    fallback: 10_000,
  }),
  ACCOUNTLINK_HEADER_TIMEOUT: duration({
    description: "How long the head of a request may take",
    fallback: "10 seconds",
  }),
  ACCOUNTLINK_REQUEST_TIMEOUT: duration({
    description: "How long a whole request may take",
    fallback: "30 seconds",
  }),
  ACCOUNTLINK_WRITE_TIMEOUT: duration({
    description: "How long written data may stay unread",
    fallback: "30 seconds",
  }),
  ACCOUNTLINK_IDLE_TIMEOUT: duration({
    description: "How long a connection may be idle",
    fallback: "5 seconds",
  }),
  ACCOUNTLINK_LOG_LEVEL: choice(["trace", "debug", "info", "warn", "error"], {
    description: "Least severe log line that is printed",
    fallback: "info",
  }),
  ACCOUNTLINK_OPERATOR_PORT: port({
    description: "Port of /metrics and the health checks",
    fallback: null,
  }),
  ACCOUNTLINK_DRAIN_DELAY: duration({
    description: "How long /readyz is 503 before a stop",
    fallback: "0 seconds",
  }),
  ACCOUNTLINK_DEV_PLATFORM_PORT: port({
    description: "Port of the dev platform, 0 for a free one",
    fallback: 0,
  }),
};

export type VariableName = keyof typeof variables;

export type Config = {
  readonly [Name in VariableName]: (typeof variables)[Name] extends Variable<infer A> ? A : never;
};

/** A variable has an invalid value, or one that turns out not to work. */
export class InvalidConfig extends Data.TaggedError("InvalidConfig")<{
  readonly problem: string;
  /** Problems of other variables. */
  readonly others?: ReadonlyArray<string>;
}> {
  override readonly message = this.problem;
}

/**
 * The error for a required variable that is not set.
 *
 * @param because why it is required
 */
export const missing = (name: VariableName, because: string): Effect.Effect<never, InvalidConfig> =>
  Effect.fail(
    new InvalidConfig({
      problem: `${name} is not set, expected ${variables[name].expected} (${because})`,
    }),
  );

const describeValue = (variable: Variable<unknown>, value: string): string =>
  variable.secret
    ? `a value of ${value.length} characters`
    : // A URL may contain a password.
      `"${value.replace(/\/\/[^/]*@/, "//…@")}"`;

/** Reads the configuration. An empty variable is the same as none. */
export const readConfig = (environment: Environment): Effect.Effect<Config, InvalidConfig> => {
  const { config, problems } = parseConfig(environment);
  const [problem = "", ...others] = problems.map((invalid) => invalid.problem);
  return config === null ? Effect.fail(new InvalidConfig({ problem, others })) : Effect.succeed(config);
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the configuration, with the problem of each invalid variable; it is null if there is one.
 */
export const parseConfig = (environment: Environment) => {
  const values: Record<string, unknown> = {};
  const problems: Array<{ readonly name: string; readonly problem: string }> = [];
  for (const [name, variable] of Object.entries<Variable<unknown>>(variables)) {
    const value = environment[name]?.trim() ?? "";
    const parsed = value === "" ? Option.some(variable.fallback) : variable.parse(value);
    if (Option.isSome(parsed)) values[name] = parsed.value;
    else {
      const problem = `${name} is ${describeValue(variable, value)}, expected ${variable.expected}`;
      problems.push({ name, problem });
    }
  }
  return { config: problems.length === 0 ? (values as Config) : null, problems };
};

/** The flag of `serve` that stands for a variable: `--port` for `ACCOUNTLINK_PORT`. */
export const flagOf = (name: string): string =>
  name
    .replace(/^ACCOUNTLINK_/, "")
    .toLowerCase()
    .replaceAll("_", "-");
