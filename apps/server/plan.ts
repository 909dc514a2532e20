/**
 * What a configuration amounts to: which storage, which platform, which data.
 */
import { join } from "node:path";
import type { LimitSettings } from "@accountlink/core";
import { Effect } from "effect";
import { type Config, InvalidConfig } from "./config.ts";

/** Where links and keys live. */
export type Storage = { readonly kind: "memory" } | { readonly kind: "embedded"; readonly folder: string };

/** What to run, worked out from the configuration. */
export interface Plan {
  readonly config: Config;
  /** With nothing named, a demo: its own folder, its own fixture and keys. */
  readonly demo: boolean;
  readonly storage: Storage;
  readonly limits: LimitSettings;
}

/** Works out the storage. It is all that the command line needs to know. */
export const storageOf = (config: Config): Storage =>
  config.ACCOUNTLINK_STORAGE === "memory"
    ? { kind: "memory" }
    : {
        kind: "embedded",
        // Joined also when alone, so that a path reads the same wherever it is told.
        folder: join(config.ACCOUNTLINK_DATA_DIR, isDemo(config) ? "demo" : ""),
      };

/** Whether nothing is named that a service of one's own would have. */
export const isDemo = (config: Config): boolean =>
  config.ACCOUNTLINK_STORAGE === null && config.ACCOUNTLINK_FIXTURE === null;

/** Works out what to run, or refuses what does not go together. */
export const planOf = (config: Config): Effect.Effect<Plan, InvalidConfig> => {
  const demo = isDemo(config);
  if (config.ACCOUNTLINK_PLATFORM === null && !demo && config.ACCOUNTLINK_FIXTURE === null) {
    return Effect.fail(
      new InvalidConfig({
        problem: "ACCOUNTLINK_PLATFORM is not set, expected dev (or a fixture, or the demo)",
      }),
    );
  }
  return Effect.succeed({ config, demo, storage: storageOf(config), limits: limitsOf(config) });
};

/** The limits that the configuration sets. */
export const limitsOf = (config: Config): LimitSettings => ({
  free: tierLimits(config, "FREE"),
  premium: tierLimits(config, "PREMIUM"),
  address: {
    perSecond: config.ACCOUNTLINK_IP_PER_SECOND,
    daily: config.ACCOUNTLINK_IP_DAILY,
    verifyDaily: config.ACCOUNTLINK_IP_VERIFY_DAILY,
    authFailures: config.ACCOUNTLINK_IP_AUTH_FAILURES,
  },
});

const tierLimits = (config: Config, tier: "FREE" | "PREMIUM") => ({
  keys: config[`ACCOUNTLINK_${tier}_KEYS`],
  perWindow: config[`ACCOUNTLINK_${tier}_PER_WINDOW`],
  windowMs: config[`ACCOUNTLINK_${tier}_WINDOW`],
  daily: config[`ACCOUNTLINK_${tier}_DAILY`],
  verifyDaily: config[`ACCOUNTLINK_${tier}_VERIFY_DAILY`],
});
