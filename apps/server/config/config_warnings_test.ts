import { expect, test } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { readConfig } from "./config.ts";
import { configWarnings } from "./config_warnings.ts";

const problemsOf = (environment: Readonly<Record<string, string>>) =>
  Effect.map(readConfig(environment), (config) =>
    configWarnings(environment, config).map(({ problem }) => problem),
  );

test("configWarnings does not warn of known variables that have an effect", function* () {
  expect(
    yield* problemsOf({ ACCOUNTLINK_PORT: "1", ACCOUNTLINK_REDIS_PREFIX: " ", PORT: "2", PATH: "/bin" }),
  ).toEqual([]);
});

test("configWarnings names misspelled variables, and suggests similar ones", function* () {
  const unknown = "is set, but no such variable exists";
  expect(
    yield* problemsOf({
      ACCOUNTLINK_PROT: "1",
      ACCOUNTLINK_PUBLICURL: "https://links.example",
      ACCOUNTLINK_IP_PERSECOND: "5",
      ACCOUNTLINK_SERVICE_HOST: "10.0.0.1",
    }),
  ).toEqual([
    `ACCOUNTLINK_PROT ${unknown}, expected perhaps ACCOUNTLINK_PORT`,
    `ACCOUNTLINK_PUBLICURL ${unknown}, expected perhaps ACCOUNTLINK_PUBLIC_URL`,
    `ACCOUNTLINK_IP_PERSECOND ${unknown}, expected perhaps ACCOUNTLINK_IP_PER_SECOND`,
    `ACCOUNTLINK_SERVICE_HOST ${unknown}`,
  ]);
});

test("configWarnings reports that only the demo has an amount of data", function* () {
  expect(yield* problemsOf({ ACCOUNTLINK_DATA: "big" })).toEqual([]);
  expect(yield* problemsOf({ ACCOUNTLINK_DATA: "big", ACCOUNTLINK_STORAGE: "embedded" })).toEqual([
    "ACCOUNTLINK_DATA is set, and has no effect: this is not the demo",
  ]);
});

test("configWarnings reports a database or Redis URL that has no effect", function* () {
  const urls = {
    ACCOUNTLINK_DATABASE_URL: "postgres://db/links",
    ACCOUNTLINK_REDIS_URL: "redis://cache",
  };
  expect(yield* problemsOf(urls)).toEqual([
    "ACCOUNTLINK_DATABASE_URL is set, and has no effect: ACCOUNTLINK_STORAGE is not postgres",
    "ACCOUNTLINK_REDIS_URL is set, and has no effect: ACCOUNTLINK_CACHE is not redis",
  ]);
  const chosen = { ACCOUNTLINK_STORAGE: "postgres", ACCOUNTLINK_CACHE: " redis" };
  expect(yield* problemsOf({ ...urls, ...chosen })).toEqual([]);
});

test("configWarnings reports settings of the live platforms if these platforms are not used", function* () {
  const token = { ACCOUNTLINK_CHAT_BOT_TOKEN: "token" };
  expect(yield* problemsOf({ ...token, ACCOUNTLINK_PLATFORM: "dev" })).toEqual([
    "ACCOUNTLINK_CHAT_BOT_TOKEN is set, and has no effect: ACCOUNTLINK_PLATFORM is not live",
  ]);
  expect(yield* problemsOf({ ...token, ACCOUNTLINK_PLATFORM: "live" })).toEqual([]);
});

test("configWarnings accepts settings of commands in chat with every platform", function* () {
  const commands = {
    ACCOUNTLINK_CHAT_COMMANDS: "on",
    ACCOUNTLINK_CHAT_COMMANDS_PER_MINUTE: "20",
    ACCOUNTLINK_CHAT_PUBLIC_KEY: "0".repeat(64),
  };
  expect(yield* problemsOf({ ...commands, ACCOUNTLINK_PLATFORM: "dev" })).toEqual([]);
});

test("configWarnings warns if a fixture selects the dev platform on what looks like a production server", function* () {
  const fixture = { ACCOUNTLINK_FIXTURE: "a.json" };
  const proxied = {
    ACCOUNTLINK_PUBLIC_URL: "https://links.example",
    ACCOUNTLINK_TRUSTED_PROXIES: "10.0.0.9",
  };
  const production = { ...fixture, ...proxied };
  expect(yield* problemsOf(production)).toEqual([
    "ACCOUNTLINK_PLATFORM is not set, so it is dev because of ACCOUNTLINK_FIXTURE: anyone can sign in as anybody",
  ]);
  expect(yield* problemsOf({ ...production, ACCOUNTLINK_PLATFORM: "dev" })).toEqual([]);
  expect(yield* problemsOf(fixture)).toEqual([]);
});

test("configWarnings reports a public URL that uses http and is not local", function* () {
  for (const host of ["links.example", "192.168.0.7:8080", "localhost.example", "[2001:db8::1]"]) {
    const url = `http://${host}`;
    const [problem, ...others] = yield* problemsOf({ ACCOUNTLINK_PUBLIC_URL: url });
    expect(problem).toBe(
      `ACCOUNTLINK_PUBLIC_URL is "${url}", expected https: others can read along, and platforms may refuse it`,
    );
    expect(others).toEqual([]);
  }
  const fine = ["http://localhost:8080", "http://a.localhost", "http://127.0.0.2", "http://[::1]:80"];
  for (const url of fine) expect(yield* problemsOf({ ACCOUNTLINK_PUBLIC_URL: url })).toEqual([]);
});

test("configWarnings reports a public https URL without trusted proxies, since a proxy does TLS", function* () {
  const environment = { ACCOUNTLINK_PUBLIC_URL: "https://links.example" };
  expect(yield* problemsOf(environment)).toEqual([
    "ACCOUNTLINK_TRUSTED_PROXIES is not set, so all clients behind the proxy of ACCOUNTLINK_PUBLIC_URL share one address, in limits and in alt detection",
  ]);
  expect(yield* problemsOf({ ...environment, ACCOUNTLINK_TRUSTED_PROXIES: "10.0.0.9" })).toEqual([]);
});

test.each(["0.0.0.0/0", "10.0.0.0/8, ::/0"])(
  "configWarnings warns of trusted proxies that include every address: %s",
  function* (proxies) {
    const [problem, ...others] = yield* problemsOf({ ACCOUNTLINK_TRUSTED_PROXIES: proxies });
    expect(problem).toMatch(/^ACCOUNTLINK_TRUSTED_PROXIES contains every address, /);
    expect(others).toEqual([]);
    expect(yield* problemsOf({ ACCOUNTLINK_TRUSTED_PROXIES: "10.0.0.0/8, fd00::/8" })).toEqual([]);
  },
);
