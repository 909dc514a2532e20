import { expect, test } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { readConfig } from "./config.ts";
import { configWarnings } from "./config_warnings.ts";

type Environment = Readonly<Record<string, string>>;

const problemsOf = (environment: Environment) =>
  Effect.map(readConfig(environment), (config) =>
    configWarnings(environment, config).map(({ problem }) => problem),
  );

const urls = { ACCOUNTLINK_DATABASE_URL: "postgres://db/links", ACCOUNTLINK_REDIS_URL: "redis://cache" };
const token = { ACCOUNTLINK_CHAT_BOT_TOKEN: "token" };
const fixture = { ACCOUNTLINK_FIXTURE: "a.json" };
const https = { ACCOUNTLINK_PUBLIC_URL: "https://links.example" };
const production = { ...fixture, ...https, ACCOUNTLINK_TRUSTED_PROXIES: "10.0.0.9" };
const unknown = "is set, but no such variable exists";
const idle = "is set, and has no effect:";

test.each<[environment: Environment, problems: ReadonlyArray<string>]>([
  [
    { ACCOUNTLINK_PROT: "1", ACCOUNTLINK_PUBLICURL: "https://links.example", ACCOUNTLINK_IP_PERSECOND: "5" },
    [
      `ACCOUNTLINK_PROT ${unknown}, expected perhaps ACCOUNTLINK_PORT`,
      `ACCOUNTLINK_PUBLICURL ${unknown}, expected perhaps ACCOUNTLINK_PUBLIC_URL`,
      `ACCOUNTLINK_IP_PERSECOND ${unknown}, expected perhaps ACCOUNTLINK_IP_PER_SECOND`,
    ],
  ],
  [
    { ACCOUNTLINK_DRAIN_DELAY: "11 seconds" },
    [
      "ACCOUNTLINK_DRAIN_DELAY is more than 10 seconds, and the files of deploy/ kill a server 20 seconds after SIGTERM, of which requests in flight need 10",
    ],
  ],
  [{ ACCOUNTLINK_SERVICES: "10.0.0.1" }, [`ACCOUNTLINK_SERVICES ${unknown}`]],
  [
    {
      ACCOUNTLINK_SERVICE_HOST: "10.0.0.1",
      ACCOUNTLINK_PORT: "tcp://10.0.0.1:80",
      ACCOUNTLINK_OPERATOR_PORT: "udp://10.0.0.2:90",
      ACCOUNTLINK_UNREADY_PORT_80_TCP_ADDR: "10.0.0.3",
      ACCOUNTLINK_UNREADY_PORT: "tcp://10.0.0.3:80",
    },
    [
      "Links of Docker or Kubernetes are no settings, and are passed over: ACCOUNTLINK_OPERATOR_PORT, ACCOUNTLINK_PORT, ACCOUNTLINK_SERVICE_HOST, ACCOUNTLINK_UNREADY_PORT, ACCOUNTLINK_UNREADY_PORT_80_TCP_ADDR",
    ],
  ],
  [
    { ACCOUNTLINK_DATA: "big", ACCOUNTLINK_STORAGE: "embedded" },
    [`ACCOUNTLINK_DATA ${idle} this is not the demo`],
  ],
  [
    urls,
    [
      `ACCOUNTLINK_DATABASE_URL ${idle} ACCOUNTLINK_STORAGE is not postgres or redis`,
      `ACCOUNTLINK_REDIS_URL ${idle} ACCOUNTLINK_CACHE is not redis`,
    ],
  ],
  [
    { ...token, ACCOUNTLINK_PLATFORM: "dev" },
    [`ACCOUNTLINK_CHAT_BOT_TOKEN ${idle} ACCOUNTLINK_PLATFORM is not live`],
  ],
  [
    production,
    [
      "ACCOUNTLINK_PLATFORM is not set, so it is dev because of ACCOUNTLINK_FIXTURE: anyone can sign in as anybody",
    ],
  ],
  [
    https,
    [
      "ACCOUNTLINK_TRUSTED_PROXIES is not set, so all clients behind the proxy of ACCOUNTLINK_PUBLIC_URL share one address, in limits and in alt detection",
    ],
  ],
  ...["0.0.0.0/0", "10.0.0.0/8, ::/0"].map((proxies): [Environment, ReadonlyArray<string>] => [
    { ACCOUNTLINK_TRUSTED_PROXIES: proxies },
    [
      "ACCOUNTLINK_TRUSTED_PROXIES contains every address, so any client can forge the address that limits and lists apply to",
    ],
  ]),
])("configWarnings warns of %j", function* ([environment, problems]) {
  expect(yield* problemsOf(environment)).toEqual(problems);
});

test.each<Environment>([
  { ACCOUNTLINK_PORT: "1", ACCOUNTLINK_REDIS_PREFIX: " ", PORT: "2", PATH: "/bin" },
  { ACCOUNTLINK_DATA: "big" },
  { ...urls, ACCOUNTLINK_STORAGE: "postgres", ACCOUNTLINK_CACHE: " redis" },
  { ...token, ACCOUNTLINK_PLATFORM: "live" },
  {
    ACCOUNTLINK_CHAT_COMMANDS: "on",
    ACCOUNTLINK_CHAT_COMMANDS_PER_MINUTE: "20",
    ACCOUNTLINK_CHAT_PUBLIC_KEY: "0".repeat(64),
    ACCOUNTLINK_PLATFORM: "dev",
  },
  { ...production, ACCOUNTLINK_PLATFORM: "dev" },
  fixture,
  { ...https, ACCOUNTLINK_TRUSTED_PROXIES: "10.0.0.9" },
  { ACCOUNTLINK_TRUSTED_PROXIES: "10.0.0.0/8, fd00::/8" },
])("configWarnings does not warn of %j", function* (environment) {
  expect(yield* problemsOf(environment)).toEqual([]);
});

test("configWarnings reports a public URL that uses http and is not local", function* () {
  for (const host of ["links.example", "192.168.0.7:8080", "localhost.example", "[2001:db8::1]"]) {
    expect(yield* problemsOf({ ACCOUNTLINK_PUBLIC_URL: `http://${host}` })).toEqual([
      `ACCOUNTLINK_PUBLIC_URL is "http://${host}", expected https: others can read along, and platforms may refuse it`,
    ]);
  }
  for (const host of ["localhost:8080", "a.localhost", "127.0.0.2", "[::1]:80"])
    expect(yield* problemsOf({ ACCOUNTLINK_PUBLIC_URL: `http://${host}` })).toEqual([]);
});
