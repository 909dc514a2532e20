/** Warnings about likely mistakes in the configuration, for `serve` and the doctor. */
import { Duration } from "effect";
import { type Config, type Environment, isContainerLink, type VariableName, variables } from "./config.ts";
import { isDemo } from "./resolved_config.ts";

export interface ConfigWarning {
  readonly problem: string;
  readonly advice: string;
}

export const configWarnings = (environment: Environment, config: Config): ReadonlyArray<ConfigWarning> => [
  ...containerLinks(environment),
  ...unknownVariables(environment),
  ...withoutEffect(environment),
  ...mistakes(config).flatMap(([isLikely, problem, advice]) => (isLikely ? [{ problem, advice }] : [])),
];

/** One warning for all links of Docker or Kubernetes. */
const containerLinks = (environment: Environment): ReadonlyArray<ConfigWarning> => {
  const names = Object.keys(environment).filter((name) => isContainerLink(name, environment[name]));
  if (names.length === 0) return [];
  const problem = `Links of Docker or Kubernetes are no settings, and are passed over: ${names.toSorted().join(", ")}`;
  return [{ problem, advice: "Turn them off with enableServiceLinks: false, or let them be" }];
};

export const unknownVariables = (environment: Environment): ReadonlyArray<ConfigWarning> =>
  Object.keys(environment)
    .filter(
      (name) => name.startsWith("ACCOUNTLINK_") && !(name in variables) && name !== "ACCOUNTLINK_MOVE_TO",
    )
    .filter((name) => !isContainerLink(name, environment[name]))
    .map((name) => {
      const meant = nearestVariable(name);
      const problem = `${name} is set, but no such variable exists`;
      return meant === null
        ? { problem, advice: "Correct its name or remove it" }
        : { problem: `${problem}, expected perhaps ${meant}`, advice: `Correct its name to ${meant}` };
    });

const mostDifferences = 3;

const nearestVariable = (name: string): string | null => {
  const [nearest] = Object.keys(variables)
    .map((known) => ({ known, distance: editDistance(name, known) }))
    .filter(({ distance }) => distance <= mostDifferences)
    .toSorted((one, other) => one.distance - other.distance);
  return nearest?.known ?? null;
};

/** The number of letters to add, remove or replace to turn one text into the other (Levenshtein distance). */
const editDistance = (one: string, other: string): number => {
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [row, letter] of Array.from(one).entries()) {
    const current = [row + 1];
    for (let column = 0; column < other.length; column++) {
      const replaced = (previous[column] as number) + (letter === other[column] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column + 1] as number) + 1, (current[column] as number) + 1));
    }
    previous = current;
  }
  return previous[other.length] as number;
};

/** Variables whose names begin with `start` have no effect unless the variable `chooser` has one of these values. */
const purposes: ReadonlyArray<
  readonly [start: string, chooser: VariableName, ...values: ReadonlyArray<string>]
> = [
  ["ACCOUNTLINK_DATABASE_CONNECTIONS", "ACCOUNTLINK_STORAGE", "postgres"],
  ["ACCOUNTLINK_DATABASE_", "ACCOUNTLINK_STORAGE", "postgres", "redis"],
  ["ACCOUNTLINK_REDIS_", "ACCOUNTLINK_CACHE", "redis"],
  ["ACCOUNTLINK_BACKUP_", "ACCOUNTLINK_STORAGE", "embedded", ""],
  ["ACCOUNTLINK_CHAT_", "ACCOUNTLINK_PLATFORM", "live"],
  ["ACCOUNTLINK_GAME_", "ACCOUNTLINK_PLATFORM", "live"],
];

/** The exceptions to `purposes`: these variables have an effect whichever platform is chosen. */
const forEveryPlatform: ReadonlySet<string> = new Set([
  "ACCOUNTLINK_CHAT_COMMANDS",
  "ACCOUNTLINK_CHAT_COMMANDS_PER_MINUTE",
  "ACCOUNTLINK_CHAT_GATEWAY",
  "ACCOUNTLINK_CHAT_NAME",
  "ACCOUNTLINK_CHAT_PUBLIC_KEY",
  "ACCOUNTLINK_GAME_NAME",
  "ACCOUNTLINK_GAME_PROOFS",
]);

/** Warns of variables for a storage, a cache or platforms that were not chosen. */
export const withoutEffect = (environment: Environment): ReadonlyArray<ConfigWarning> => {
  const valueOf = (name: VariableName): string => (environment[name] ?? "").trim();
  return (Object.keys(variables) as ReadonlyArray<VariableName>).flatMap((name) => {
    const [, chooser, ...values] = purposes.find(([start]) => name.startsWith(start)) ?? [];
    if (forEveryPlatform.has(name)) return [];
    // The storage in Redis uses the prefix too.
    if (name === "ACCOUNTLINK_REDIS_PREFIX" && valueOf("ACCOUNTLINK_STORAGE") === "redis") return [];
    if (chooser === undefined || valueOf(name) === "" || values.includes(valueOf(chooser))) return [];
    const problem = `${name} is set, and has no effect: ${chooser} is not ${values.filter((value) => value !== "").join(" or ")}`;
    return [{ problem, advice: "Remove it, or set what it is for" }];
  });
};

const mistakes = (
  config: Config,
): ReadonlyArray<readonly [isLikely: boolean, problem: string, advice: string]> => {
  const { ACCOUNTLINK_TRUSTED_PROXIES: proxies, ACCOUNTLINK_PLATFORM: platform } = config;
  const { ACCOUNTLINK_PUBLIC_URL: publicUrl, ACCOUNTLINK_STORAGE: storage } = config;
  const isHttps = publicUrl?.startsWith("https:") === true;
  return [
    [
      proxies.some(({ prefixLength }) => prefixLength === 0),
      "ACCOUNTLINK_TRUSTED_PROXIES contains every address, so any client can forge the address that limits and lists apply to",
      "Name the networks of the proxies only",
    ],
    [
      // The server itself does no TLS, so a public https URL is the URL of a proxy.
      isHttps && proxies.length === 0,
      "ACCOUNTLINK_TRUSTED_PROXIES is not set, so all clients behind the proxy of " +
        "ACCOUNTLINK_PUBLIC_URL share one address, in limits and in alt detection",
      "Set it to the address of the proxy",
    ],
    [
      // Browsers send keys, cookies and proofs unencrypted.
      publicUrl !== null && !isHttps && !isLocal(new URL(publicUrl)),
      `ACCOUNTLINK_PUBLIC_URL is "${publicUrl}", expected https: others can read along, and platforms may refuse it`,
      "Set it to an https address of a proxy that does TLS",
    ],
    [
      platform === "none",
      "ACCOUNTLINK_PLATFORM is none, so keys can link any game user to any member of any guild, and nobody can sign in",
      "Set it to live once the applications at the platforms are registered, or let it be",
    ],
    [
      // A database or an https URL suggests that this is production.
      (storage === "postgres" || storage === "redis" || isHttps) &&
        platform === null &&
        config.ACCOUNTLINK_FIXTURE !== null,
      "ACCOUNTLINK_PLATFORM is not set, so it is dev because of ACCOUNTLINK_FIXTURE: anyone can sign in as anybody",
      "Set it to live or none, or to dev if this is a test",
    ],
    [
      Duration.toMillis(config.ACCOUNTLINK_DRAIN_DELAY) > 10_000,
      "ACCOUNTLINK_DRAIN_DELAY is more than 10 seconds, and the files of deploy/ kill a server 20 seconds after SIGTERM, of which requests in flight need 10",
      "Set TimeoutStopSec, stop_grace_period or terminationGracePeriodSeconds to 10 seconds more than it",
    ],
    [
      config.ACCOUNTLINK_DATA === "big" && !isDemo(config),
      "ACCOUNTLINK_DATA is set, and has no effect: this is not the demo",
      "Remove it, or start without storage, fixture and platform",
    ],
  ];
};

export const isLocal = ({ hostname }: URL): boolean =>
  /^(?:(?:.*\.)?localhost|127\..*|\[::1\])$/.test(hostname);
