import { describe, expect, it } from "@effect/vitest";
import { Effect } from "effect";
import { flagOf, readConfig, variables } from "./config.ts";

/** The defaults as the documentation lists them. */
const defaults = {
  ACCOUNTLINK_HOST: "127.0.0.1",
  ACCOUNTLINK_PORT: 8_080,
  ACCOUNTLINK_PUBLIC_URL: null,
  ACCOUNTLINK_STORAGE: null,
  ACCOUNTLINK_DATA_DIR: "data",
  ACCOUNTLINK_DATABASE_URL: null,
  ACCOUNTLINK_DATABASE_CONNECTIONS: 10,
  ACCOUNTLINK_DATABASE_START_TIMEOUT: 20_000,
  ACCOUNTLINK_CACHE: "memory",
  ACCOUNTLINK_REDIS_URL: null,
  ACCOUNTLINK_REDIS_PREFIX: "accountlink:",
  ACCOUNTLINK_SECRET: null,
  ACCOUNTLINK_ADDRESS_KEYS: new Map(),
  ACCOUNTLINK_PLATFORM: null,
  ACCOUNTLINK_CHAT_BOT_TOKEN: null,
  ACCOUNTLINK_CHAT_CLIENT_ID: null,
  ACCOUNTLINK_CHAT_CLIENT_SECRET: null,
  ACCOUNTLINK_CHAT_API_URL: null,
  ACCOUNTLINK_CHAT_AUTHORIZATION_URL: null,
  ACCOUNTLINK_GAME_CLIENT_ID: null,
  ACCOUNTLINK_GAME_CLIENT_SECRET: null,
  ACCOUNTLINK_GAME_API_URL: null,
  ACCOUNTLINK_GAME_AUTHORIZATION_URL: null,
  ACCOUNTLINK_CHAT_NAME: null,
  ACCOUNTLINK_GAME_NAME: null,
  ACCOUNTLINK_PRIVACY_URL: null,
  ACCOUNTLINK_CONTACT: null,
  ACCOUNTLINK_FIXTURE: null,
  ACCOUNTLINK_TRUSTED_PROXIES: [],
  ACCOUNTLINK_SESSION_TTL: 300_000,
  ACCOUNTLINK_POLL_INTERVAL: 2_000,
  ACCOUNTLINK_POLL_LIMIT: 150,
  ACCOUNTLINK_LONG_POLL_MAX: 25_000,
  ACCOUNTLINK_STREAM_MAX: 30_000,
  ACCOUNTLINK_IP_PER_SECOND: 20,
  ACCOUNTLINK_IP_DAILY: 10_000,
  ACCOUNTLINK_IP_VERIFY_DAILY: 10_000,
  ACCOUNTLINK_IP_AUTH_FAILURES: 30,
  ACCOUNTLINK_SESSION_CREATE_BURST: 6,
  ACCOUNTLINK_SESSION_CREATE_REFILL: 10_000,
  ACCOUNTLINK_FREE_PER_WINDOW: 1,
  ACCOUNTLINK_FREE_WINDOW: 2_000,
  ACCOUNTLINK_FREE_DAILY: 500,
  ACCOUNTLINK_FREE_VERIFY_DAILY: 2_000,
  ACCOUNTLINK_FREE_KEYS: 2,
  ACCOUNTLINK_PREMIUM_PER_WINDOW: 1,
  ACCOUNTLINK_PREMIUM_WINDOW: 1_000,
  ACCOUNTLINK_PREMIUM_DAILY: 2_500,
  ACCOUNTLINK_PREMIUM_VERIFY_DAILY: 10_000,
  ACCOUNTLINK_PREMIUM_KEYS: 10,
  ACCOUNTLINK_SHARED_NETWORKS: null,
  ACCOUNTLINK_VPN_DATABASE: null,
  ACCOUNTLINK_VPN_NETWORKS: null,
  ACCOUNTLINK_SIGHTING_RETENTION: 15_552_000_000,
  ACCOUNTLINK_AUDIT_RETENTION: 34_560_000_000,
  ACCOUNTLINK_CONNECTIONS_PER_IP: 256,
  ACCOUNTLINK_CONNECTIONS: 10_000,
  ACCOUNTLINK_HEADER_TIMEOUT: 10_000,
  ACCOUNTLINK_REQUEST_TIMEOUT: 30_000,
  ACCOUNTLINK_WRITE_TIMEOUT: 30_000,
  ACCOUNTLINK_IDLE_TIMEOUT: 5_000,
  ACCOUNTLINK_LOG_LEVEL: "info",
  ACCOUNTLINK_OPERATOR_PORT: null,
  ACCOUNTLINK_DRAIN_DELAY: 0,
  ACCOUNTLINK_DEV_PLATFORM_PORT: 0,
};

describe("readConfig", () => {
  it.effect("has the documented defaults, also for empty variables", () =>
    Effect.gen(function* () {
      expect(yield* readConfig({})).toEqual(defaults);
      const empty = Object.fromEntries(Object.keys(variables).map((name) => [name, "  "]));
      expect(yield* readConfig(empty)).toEqual(defaults);
    }),
  );

  it.effect("reads its variables and ignores others", () =>
    Effect.gen(function* () {
      const config = yield* readConfig({
        ACCOUNTLINK_PORT: " 9090 ",
        ACCOUNTLINK_FREE_WINDOW: "1 minute",
        PORT: "1",
      });
      expect(config).toEqual({ ...defaults, ACCOUNTLINK_PORT: 9_090, ACCOUNTLINK_FREE_WINDOW: 60_000 });
    }),
  );

  it.effect("names every wrong variable, its value and the accepted ones", () =>
    Effect.gen(function* () {
      const wrong = readConfig({ ACCOUNTLINK_CACHE: "disk", ACCOUNTLINK_STORAGE: "disk" });
      expect(yield* Effect.flip(wrong)).toMatchObject({
        problem: 'ACCOUNTLINK_STORAGE is "disk", expected one of embedded, memory, postgres',
        others: ['ACCOUNTLINK_CACHE is "disk", expected one of memory, redis'],
      });
    }),
  );

  it.effect("does not repeat a password in an address", () =>
    Effect.gen(function* () {
      const wrong = readConfig({ ACCOUNTLINK_PUBLIC_URL: "https://ada:pass@links.example" });
      expect((yield* Effect.flip(wrong)).message).toBe(
        'ACCOUNTLINK_PUBLIC_URL is "https://…@links.example", expected an http or https URL without credentials, path, query and fragment',
      );
    }),
  );

  it.effect.each([
    {
      name: "ACCOUNTLINK_DATABASE_URL",
      value: "mysql://ada:pass@db.internal",
      expected: "postgres://user:password@host:port/database",
    },
    { name: "ACCOUNTLINK_DATABASE_URL", value: "postgres://ada:pass@:x/", expected: "postgres://" },
    { name: "ACCOUNTLINK_REDIS_URL", value: "http://:pass@cache.internal", expected: "redis://[[user]" },
    { name: "ACCOUNTLINK_REDIS_URL", value: "redis://:pass@", expected: "or redis+sentinel://" },
  ])("does not repeat a wrong $name, which may hold a password", ({ name, value, expected }) =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(readConfig({ [name]: value }));
      expect(message).toContain(`${name} is a value of ${value.length} characters, expected `);
      expect(message).toContain(expected);
      expect(message).not.toContain("pass@");
    }),
  );

  it.effect("does not repeat a secret", () =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(readConfig({ ACCOUNTLINK_SECRET: "too-short" }));
      expect(message).toBe(
        "ACCOUNTLINK_SECRET is a value of 9 characters, expected 32 or more bytes in base64, or new,old while it is rotated",
      );
    }),
  );
});

describe("flagOf", () => {
  it("is the variable without its prefix", () => {
    expect(flagOf("ACCOUNTLINK_FREE_VERIFY_DAILY")).toBe("free-verify-daily");
  });
});
