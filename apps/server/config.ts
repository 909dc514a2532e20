/**
 * The configuration: every variable of the environment, each also a flag of `accountlink serve`.
 */
import { Data, Effect, Option } from "effect";
import {
  choice,
  count,
  duration,
  namedSecrets,
  networks,
  notYet,
  port,
  secret,
  text,
  type Variable,
  webAddress,
} from "./variables.ts";

const tierLimits = (
  tier: string,
  numbers: { keys: number; window: string; daily: number; verifyDaily: number },
) => ({
  perWindow: count({ description: `Requests per window of a ${tier} key`, fallback: 1 }),
  window: duration({ description: `Pacing window of a ${tier} key`, fallback: numbers.window }),
  daily: count({ description: `Requests per day of a ${tier} key`, fallback: numbers.daily }),
  verifyDaily: notYet(
    count({
      description: `Verification requests per day of a ${tier} key`,
      fallback: numbers.verifyDaily,
    }),
  ),
  keys: count({ description: `Keys of a ${tier} account`, fallback: numbers.keys }),
});

const free = tierLimits("free", { keys: 2, window: "2 seconds", daily: 500, verifyDaily: 2_000 });
const premium = tierLimits("premium", { keys: 10, window: "1 second", daily: 2_500, verifyDaily: 10_000 });

/** Every variable by its name, in the order in which the documentation lists them. */
export const variables = {
  ACCOUNTLINK_HOST: text("an address to listen on", {
    description: "Address to listen on",
    fallback: "127.0.0.1",
  }),
  ACCOUNTLINK_PORT: port({ description: "Port to listen on, 0 for a free one", fallback: 8080 }),
  ACCOUNTLINK_PUBLIC_URL: webAddress({ description: "Where users reach the service", fallback: null }),
  ACCOUNTLINK_STORAGE: choice(["embedded", "memory"], {
    description: "Where links and keys live",
    fallback: null,
  }),
  ACCOUNTLINK_DATA_DIR: text("a path", {
    description: "Data folder of the embedded storage",
    fallback: "data",
  }),
  ACCOUNTLINK_CACHE: choice(["memory"], { description: "Where limits are counted", fallback: "memory" }),
  ACCOUNTLINK_SECRET: secret({ description: "Hashes keys and makes link hashes", fallback: null }),
  ACCOUNTLINK_ADDRESS_KEYS: notYet(
    namedSecrets({
      description: "Keys that protect stored addresses; else derived from the secret",
      fallback: new Map(),
    }),
  ),
  ACCOUNTLINK_PLATFORM: choice(["dev"], {
    description: "The platforms that the service asks",
    fallback: null,
  }),
  ACCOUNTLINK_FIXTURE: text("a path", { description: "Fixture file to load at start", fallback: null }),
  ACCOUNTLINK_TRUSTED_PROXIES: networks({
    description: "Proxies whose X-Forwarded-For is believed",
    fallback: [],
  }),
  ACCOUNTLINK_SESSION_TTL: notYet(
    duration({ description: "Life of a verification session", fallback: "5 minutes" }),
  ),
  ACCOUNTLINK_POLL_INTERVAL: notYet(
    duration({ description: "Least time between two polls", fallback: "2 seconds" }),
  ),
  ACCOUNTLINK_POLL_LIMIT: notYet(count({ description: "Polls of one session", fallback: 150 })),
  ACCOUNTLINK_LONG_POLL_MAX: notYet(
    duration({ description: "Longest wait of a poll", fallback: "25 seconds" }),
  ),
  ACCOUNTLINK_STREAM_MAX: notYet(duration({ description: "Longest stream", fallback: "30 seconds" })),
  ACCOUNTLINK_IP_PER_SECOND: count({ description: "Requests per second of a client address", fallback: 20 }),
  ACCOUNTLINK_IP_DAILY: count({ description: "Requests per day of a client address", fallback: 10_000 }),
  ACCOUNTLINK_IP_VERIFY_DAILY: notYet(
    count({
      description: "Verification requests per day of a client address",
      fallback: 10_000,
    }),
  ),
  ACCOUNTLINK_IP_AUTH_FAILURES: count({
    description: "Failed authentications per minute of a client address",
    fallback: 30,
  }),
  ACCOUNTLINK_SESSION_CREATE_BURST: notYet(
    count({
      description: "Sessions that a key may create at once",
      fallback: 6,
    }),
  ),
  ACCOUNTLINK_SESSION_CREATE_REFILL: notYet(
    duration({
      description: "Time until a key may create one more session",
      fallback: "10 seconds",
    }),
  ),
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
  ACCOUNTLINK_SIGHTING_RETENTION: notYet(
    duration({
      description: "How long sightings are kept",
      fallback: "180 days",
    }),
  ),
  ACCOUNTLINK_LOG_LEVEL: choice(["trace", "debug", "info", "warn", "error"], {
    description: "Least severe log line that is printed",
    fallback: "info",
  }),
  ACCOUNTLINK_DEV_PLATFORM_PORT: port({
    description: "Port of the dev platform, 0 for a free one",
    fallback: 0,
  }),
};

/** The name of a variable. */
export type VariableName = keyof typeof variables;

/** The value of every variable. */
export type Config = {
  readonly [Name in VariableName]: (typeof variables)[Name] extends Variable<infer A> ? A : never;
};

/** A variable has a value that it does not take, or one that turns out not to work. */
export class InvalidConfig extends Data.TaggedError("InvalidConfig")<{ readonly problem: string }> {
  override readonly message = this.problem;
}

const shown = (variable: Variable<unknown>, value: string): string =>
  variable.secret
    ? `a value of ${value.length} characters`
    : // A web address may carry a password.
      `"${value.replace(/\/\/[^/]*@/, "//…@")}"`;

/**
 * Reads the configuration. An empty value is the same as none.
 *
 * @param environment values by variable name
 */
export const readConfig = (
  environment: Readonly<Record<string, string | undefined>>,
): Effect.Effect<Config, InvalidConfig> => {
  const values: Record<string, unknown> = {};
  for (const [name, variable] of Object.entries<Variable<unknown>>(variables)) {
    const value = environment[name]?.trim() ?? "";
    const parsed = value === "" ? Option.some(variable.fallback) : variable.parse(value);
    if (Option.isNone(parsed)) {
      return Effect.fail(
        new InvalidConfig({ problem: `${name} is ${shown(variable, value)}, expected ${variable.expected}` }),
      );
    }
    values[name] = parsed.value;
  }
  return Effect.succeed(values as Config);
};

/** The names of variables that are set and have no effect yet. */
export const withoutEffect = (
  environment: Readonly<Record<string, string | undefined>>,
): ReadonlyArray<string> =>
  Object.entries<Variable<unknown>>(variables)
    .filter(([name, { hasEffect }]) => !hasEffect && (environment[name] ?? "").trim() !== "")
    .map(([name]) => name);

/** The flag of `serve` that stands for a variable: `--port` for `ACCOUNTLINK_PORT`. */
export const flagOf = (name: string): string =>
  name
    .replace(/^ACCOUNTLINK_/, "")
    .toLowerCase()
    .replaceAll("_", "-");
