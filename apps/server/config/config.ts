/**
 * The configuration: environment variables, each of which is also a flag of `accountlink serve`. This file does not use
 * `effect/Config`: all wrong variables must be reported at once, one per line, and the flags, the doctor's checks and
 * the documentation must come from the same table.
 */
import { gameWays } from "@accountlink/core/flow";
import { Data, Effect, Option } from "effect";
import { addressVariables, dashboardVariables, tierVariables } from "./limits.ts";
import { cacheForms, isCacheUrl, isPostgresUrl, isStorageUrl, storageForms } from "./store_url.ts";
import {
  choice,
  choices,
  count,
  credential,
  days,
  duration,
  hiddenText,
  lifetime,
  matching,
  namedSecrets,
  networks,
  port,
  positive,
  privateAddress,
  secrets,
  serviceAddress,
  text,
  type Values,
  type Variable,
  webAddress,
  webOrigin,
  webPage,
} from "./variables.ts";

/** Letters, digits and some signs. */
const word = /^[\w:./-]{1,200}$/u;

/** The variables, in the order of the documentation. */
export const variables = {
  ACCOUNTLINK_HOST: text("Address to listen on", "an IP address or a host name", "127.0.0.1"),
  ACCOUNTLINK_PORT: port("Port to listen on, 0 for a free one", 8080),
  ACCOUNTLINK_PUBLIC_URL: webOrigin("Where users reach the service"),
  ACCOUNTLINK_STORAGE: choice("Where links and keys live", ["embedded", "memory", "postgres", "redis"], null),
  ACCOUNTLINK_DATA_DIR: text("Data folder of the embedded storage", "a path", "data"),
  ACCOUNTLINK_DATABASE_URL: hiddenText(
    "Database of the postgres or redis storage",
    storageForms.join(" or "),
    (url) => isPostgresUrl(url) || isStorageUrl(url),
  ),
  ACCOUNTLINK_DATABASE_CONNECTIONS: positive("Most connections to the database", 10),
  ACCOUNTLINK_DATABASE_START_TIMEOUT: duration("How long a start waits for the database", "20 seconds"),
  ACCOUNTLINK_CACHE: choice(
    "Where nodes count limits and tell each other of changes",
    ["memory", "redis"],
    "memory",
  ),
  ACCOUNTLINK_REDIS_URL: hiddenText("Redis of the redis cache", cacheForms.join(" or "), isCacheUrl),
  ACCOUNTLINK_REDIS_PREFIX: matching(
    "Prefix of every name in Redis",
    "letters, digits, and : . _ -",
    /^[\w:.-]+$/,
    "accountlink:",
  ),
  ACCOUNTLINK_SECRET: secrets("Unlocks the root key of the storage"),
  ACCOUNTLINK_DEPLOYMENT: text("Identity that the storage has to have", "an identity"),
  ACCOUNTLINK_BACKUP_DIR: text("Folder of the backups that the server makes", "a path"),
  ACCOUNTLINK_BACKUP_EVERY: lifetime("How often the server makes a backup", "1 day"),
  ACCOUNTLINK_BACKUP_KEEP: positive("How many backups are kept", 14),
  ACCOUNTLINK_ADDRESS_KEYS: namedSecrets("Keys that protect stored addresses"),
  ACCOUNTLINK_PLATFORM: choice("The platforms that the service asks", ["dev", "live", "none"], null),
  ACCOUNTLINK_CHAT_BOT_TOKEN: credential("Bot that asks the live chat platform", "a token"),
  ACCOUNTLINK_CHAT_CLIENT_ID: text("Application at which chat users sign in", "an ID"),
  ACCOUNTLINK_CHAT_CLIENT_SECRET: credential("Secret of that application", "a secret"),
  ACCOUNTLINK_CHAT_COMMANDS: choice("Commands of members and managers in chat", ["on", "off"], "on"),
  ACCOUNTLINK_CHAT_COMMANDS_PER_MINUTE: count("Commands of a chat user per minute", 20),
  ACCOUNTLINK_REMINDERS_PER_MINUTE: positive("Private messages per minute to unlinked members", 10),
  ACCOUNTLINK_CHAT_GATEWAY: choice(
    "Roles for new members at once, not at the daily sweep",
    ["on", "off"],
    "off",
  ),
  ACCOUNTLINK_CHAT_PUBLIC_KEY: matching(
    "Key that signs commands, by default asked of the chat platform",
    "64 hexadecimal digits",
    /^[\da-f]{64}$/i,
  ),
  ACCOUNTLINK_CHAT_API_URL: webAddress("Another address of the chat platform's API"),
  ACCOUNTLINK_CHAT_AUTHORIZATION_URL: webAddress("Another address of the chat platform's sign-in page"),
  ACCOUNTLINK_GAME_PROOFS: choices(
    "Ways to prove a game account, in the order of the pages; oauth needs ACCOUNTLINK_GAME_CLIENT_ID",
    gameWays,
  ),
  ACCOUNTLINK_KNOWN_FOR: duration(
    "How long a proof is offered to other communities, 0 seconds for not at all",
    "180 days",
  ),
  ACCOUNTLINK_GAME_CLIENT_ID: text("Application at which game users sign in", "an ID"),
  ACCOUNTLINK_GAME_CLIENT_SECRET: credential("Secret of that application", "a secret"),
  ACCOUNTLINK_GAME_API_KEY: credential("Key for the game platform's Open Cloud", "a key"),
  ACCOUNTLINK_GAME_API_URL: serviceAddress("Another address of the game platform's APIs"),
  ACCOUNTLINK_GAME_AUTHORIZATION_URL: webAddress("Another address of the game platform's sign-in page"),
  ACCOUNTLINK_GAME_URL: privateAddress("A game of your own over HTTP in place of Roblox"),
  ACCOUNTLINK_GAME_TOKEN: credential("What proves this service to that game", "a token"),
  ACCOUNTLINK_GAME_CONNECTION: matching(
    "Kind of connections at the chat platform for that game",
    "a kind of connections, such as steam",
    word,
  ),
  ACCOUNTLINK_GAME_ISSUER: privateAddress("OpenID Connect issuer where players of that game sign in"),
  ACCOUNTLINK_GAME_CLAIM: matching(
    "Claim with the game ID in that issuer's ID tokens",
    "the name of a claim",
    word,
  ),
  ACCOUNTLINK_CHAT_NAME: text("What users call the chat platform", "a name"),
  ACCOUNTLINK_GAME_NAME: text("What users call the game platform", "a name"),
  ACCOUNTLINK_PRIVACY_URL: webPage("Privacy policy, linked on every page of the flow"),
  ACCOUNTLINK_CONTACT: text(
    "How users reach the operator, shown on every page of the flow",
    "an e-mail address, a web address or a text",
  ),
  ACCOUNTLINK_DATA: choice(
    "Data of the demo; big is a year of 50,000 links and 200 keys",
    ["small", "big"],
    "small",
  ),
  ACCOUNTLINK_FIXTURE: text("Fixture file to load at start", "a path"),
  ACCOUNTLINK_TRUSTED_PROXIES: networks("Proxies whose X-Forwarded-For is believed"),
  ACCOUNTLINK_SESSION_TTL: lifetime("Life of a verification session", "5 minutes"),
  ACCOUNTLINK_POLL_INTERVAL: duration("Least time between the starts of two reads of a session", "2 seconds"),
  ACCOUNTLINK_POLL_LIMIT: count("Reads of one session", 150),
  ACCOUNTLINK_LONG_POLL_MAX: duration("Longest wait of a long poll", "25 seconds"),
  ACCOUNTLINK_STREAM_MAX: duration("Longest stream", "30 seconds"),
  ...addressVariables,
  ACCOUNTLINK_SESSION_CREATE_BURST: count("Sessions that a key may create at once", 6),
  ACCOUNTLINK_SESSION_CREATE_REFILL: duration("Time until a key may create one more session", "10 seconds"),
  ...tierVariables,
  ...dashboardVariables,
  ACCOUNTLINK_SIGHTING_RETENTION: duration(
    "How long sightings are kept, 0 seconds for not at all",
    "180 days",
  ),
  ACCOUNTLINK_AUDIT_RETENTION: duration("How long the audit log is kept, 0 seconds for ever", "400 days"),
  ACCOUNTLINK_EVENT_RETENTION: days("How long events are kept, at least 1 day", "30 days"),
  ACCOUNTLINK_WEBHOOK_NETWORKS: networks("Private networks that webhooks may reach, also by http"),
  ACCOUNTLINK_VPN_NETWORKS: text("List of the networks of VPNs", "a path"),
  ACCOUNTLINK_VPN_DATABASE: text("Database of the networks of VPNs, in mmdb format", "a path"),
  ACCOUNTLINK_SHARED_NETWORKS: text("List of networks that strangers share", "a path"),
  ACCOUNTLINK_CONNECTIONS_PER_IP: count("Open connections of a client address", 256),
  ACCOUNTLINK_CONNECTIONS: positive("Open connections in all", 10_000),
  ACCOUNTLINK_HEADER_TIMEOUT: duration("How long the head of a request may take", "10 seconds"),
  ACCOUNTLINK_REQUEST_TIMEOUT: duration("How long a whole request may take", "30 seconds"),
  ACCOUNTLINK_WRITE_TIMEOUT: duration("How long written data may stay unread", "30 seconds"),
  ACCOUNTLINK_IDLE_TIMEOUT: duration("How long a connection may be idle", "5 seconds"),
  ACCOUNTLINK_LOG_LEVEL: choice(
    "Least severe log line that is printed",
    ["trace", "debug", "info", "warn", "error"],
    "info",
  ),
  ACCOUNTLINK_OPERATOR_PORT: port("Port of /metrics and the health checks", null),
  ACCOUNTLINK_DRAIN_DELAY: duration("How long /readyz is 503 before a stop", "0 seconds"),
  ACCOUNTLINK_DEV_PLATFORM_PORT: port("Port of the dev platform, 0 for a free one", 0),
};

export type VariableName = keyof typeof variables;

export type Config = Values<typeof variables>;

/** A variable has an invalid value, or a valid value that cannot be used, such as a port that is in use. */
export class InvalidConfig extends Data.TaggedError("InvalidConfig")<{
  readonly problem: string;
  readonly others?: ReadonlyArray<string>;
}> {
  override readonly message = this.problem;
}

/** Fails because required variables are not set; `because` says why they are required. */
export const missing = (
  name: VariableName,
  because: string,
  others: ReadonlyArray<VariableName> = [],
): Effect.Effect<never, InvalidConfig> => {
  const problemOf = (each: VariableName) =>
    `${each} is not set, expected ${variables[each].expected} (${because})`;
  return Effect.fail(new InvalidConfig({ problem: problemOf(name), others: others.map(problemOf) }));
};

const describeValue = (variable: Variable<unknown>, value: string): string =>
  variable.secret
    ? `a value of ${value.length} characters`
    : // A URL may contain a password.
      `"${value.replace(/\/\/[^/]*@/, "//…@")}"`;

/**
 * Whether a variable has the form of the links that Docker and Kubernetes put into each container beside a service
 * named `accountlink…`, such as `ACCOUNTLINK_PORT=tcp://10.0.0.1:80`. They are no settings.
 */
export const isContainerLink = (name: string, value = ""): boolean =>
  linkName.test(name) || (/^ACCOUNTLINK_(?:.*_)?PORT$/.test(name) && /^\s*(?:tcp|udp|sctp):\/\//.test(value));

const linkName =
  /^ACCOUNTLINK_(?:.*_)?(?:SERVICE_(?:HOST|PORT)(?:_.*)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;

/** Reads the configuration. An empty variable counts as unset. */
export const readConfig = (environment: Environment): Effect.Effect<Config, InvalidConfig> => {
  const { config, problems } = parseConfig(environment);
  const [problem = "", ...others] = problems.map((invalid) => invalid.problem);
  return config === null ? Effect.fail(new InvalidConfig({ problem, others })) : Effect.succeed(config);
};

export type Environment = Readonly<Record<string, string | undefined>>;

/** Parses the configuration. Returns the problem of each invalid variable; if there is one, `config` is null. */
export const parseConfig = (environment: Environment) => {
  const values: Record<string, unknown> = {};
  const problems: Array<{ readonly name: string; readonly problem: string }> = [];
  for (const [name, variable] of Object.entries<Variable<unknown>>(variables)) {
    const given = environment[name]?.trim() ?? "";
    const value = isContainerLink(name, given) ? "" : given;
    const parsed = value === "" ? Option.some(variable.fallback) : variable.parse(value);
    if (Option.isSome(parsed)) values[name] = parsed.value;
    else {
      const problem = `${name} is ${describeValue(variable, value)}, expected ${variable.expected}`;
      problems.push({ name, problem });
    }
  }
  return { config: problems.length === 0 ? (values as Config) : null, problems };
};

/** The flag of `serve` for a variable: `--port` for `ACCOUNTLINK_PORT`. */
export const flagOf = (name: string): string =>
  name
    .replace(/^ACCOUNTLINK_/, "")
    .toLowerCase()
    .replaceAll("_", "-");
