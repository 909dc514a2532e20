import { describe, expect, it } from "@effect/vitest";
import { Effect } from "effect";
import { readConfig } from "./config.ts";
import { planOf } from "./plan.ts";

const plan = (environment: Readonly<Record<string, string>>) =>
  Effect.flatMap(readConfig(environment), planOf);

describe("planOf", () => {
  it.effect("is a demo in a folder of its own when nothing is named", () =>
    Effect.gen(function* () {
      expect(yield* plan({})).toMatchObject({
        demo: true,
        storage: { kind: "embedded", folder: "data/demo" },
      });
      expect(yield* plan({ ACCOUNTLINK_DATA_DIR: "/srv/links", ACCOUNTLINK_PORT: "1" })).toMatchObject({
        demo: true,
        storage: { folder: "/srv/links/demo" },
      });
    }),
  );

  it.effect("has nothing of the demo as soon as a storage or a fixture is named", () =>
    Effect.gen(function* () {
      expect(yield* plan({ ACCOUNTLINK_FIXTURE: "a.json", ACCOUNTLINK_DATA_DIR: "./data" })).toMatchObject({
        demo: false,
        storage: { kind: "embedded", folder: "data" },
      });
      expect(yield* plan({ ACCOUNTLINK_STORAGE: "embedded", ACCOUNTLINK_PLATFORM: "dev" })).toMatchObject({
        demo: false,
        storage: { kind: "embedded", folder: "data" },
      });
      expect(yield* plan({ ACCOUNTLINK_STORAGE: "memory", ACCOUNTLINK_FIXTURE: "a.json" })).toMatchObject({
        demo: false,
        storage: { kind: "memory" },
      });
    }),
  );

  it.effect("is refused when no platform is named and there is no demo or fixture that would tell", () =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(plan({ ACCOUNTLINK_STORAGE: "embedded" }));
      expect(message).toContain("ACCOUNTLINK_PLATFORM is not set, expected dev");
    }),
  );

  it.effect("has the limits that are configured", () =>
    Effect.gen(function* () {
      const { limits } = yield* plan({
        ACCOUNTLINK_PREMIUM_WINDOW: "250 millis",
        ACCOUNTLINK_FREE_KEYS: "7",
        ACCOUNTLINK_IP_AUTH_FAILURES: "0",
      });
      expect(limits).toEqual({
        free: { keys: 7, perWindow: 1, windowMs: 2_000, daily: 500, verifyDaily: 2_000 },
        premium: { keys: 10, perWindow: 1, windowMs: 250, daily: 2_500, verifyDaily: 10_000 },
        address: { perSecond: 20, daily: 10_000, verifyDaily: 10_000, authFailures: 0 },
      });
    }),
  );
});
