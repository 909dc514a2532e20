/** The configuration variables that set limits, and the `Limits` that result from their values. */
import { type LimitSettings, Limits, type TierLimits } from "@accountlink/core/limits";
import { Record } from "effect";
import { count, duration, type Values } from "./variables.ts";

const { free, premium, address, dashboardDaily } = Limits.defaultValue();

export const addressVariables = {
  ACCOUNTLINK_IP_PER_SECOND: count("Requests per second of a client address", address.perSecond),
  ACCOUNTLINK_IP_PAGES_PER_SECOND: count(
    "Page requests per second of a client address, counted apart",
    address.pagesPerSecond,
  ),
  ACCOUNTLINK_IP_DAILY: count("Requests per day of a client address", address.daily),
  ACCOUNTLINK_IP_VERIFY_DAILY: count(
    "Verification requests per day of a client address",
    address.verifyDaily,
  ),
  ACCOUNTLINK_IP_AUTH_FAILURES: count(
    "Failed authentications per minute of a client address",
    address.authFailures,
  ),
};

export const dashboardVariables = {
  ACCOUNTLINK_DASHBOARD_DAILY: count("Changes of an account on the dashboard per day", dashboardDaily),
};

const variablesOf = <Tier extends "FREE" | "PREMIUM">(tier: Tier, numbers: TierLimits, window: string) => {
  const [key, account] = [`a ${tier.toLowerCase()} key`, `a ${tier.toLowerCase()} account`];
  const variables = {
    PER_WINDOW: count(`Requests per window of ${key}`, numbers.perWindow),
    WINDOW: duration(`Pacing window of ${key}`, window),
    DAILY: count(`Requests per day of ${key}`, numbers.daily),
    VERIFY_DAILY: count(`Verification requests per day of ${key}`, numbers.verifyDaily),
    KEYS: count(`Keys of ${account}`, numbers.keys),
    LINKS: count(`Links of ${account}, over all its communities`, numbers.links),
  };
  return Record.mapKeys(variables, (name) => `ACCOUNTLINK_${tier}_${name}` as const);
};

export const tierVariables = {
  ...variablesOf("FREE", free, "2 seconds"),
  ...variablesOf("PREMIUM", premium, "1 second"),
};

type LimitConfig = Values<typeof addressVariables & typeof tierVariables & typeof dashboardVariables>;

export const limitsOf = (config: LimitConfig): LimitSettings => ({
  free: tierLimits(config, "FREE"),
  premium: tierLimits(config, "PREMIUM"),
  address: {
    perSecond: config.ACCOUNTLINK_IP_PER_SECOND,
    pagesPerSecond: config.ACCOUNTLINK_IP_PAGES_PER_SECOND,
    daily: config.ACCOUNTLINK_IP_DAILY,
    verifyDaily: config.ACCOUNTLINK_IP_VERIFY_DAILY,
    authFailures: config.ACCOUNTLINK_IP_AUTH_FAILURES,
  },
  dashboardDaily: config.ACCOUNTLINK_DASHBOARD_DAILY,
});

const tierLimits = (config: LimitConfig, tier: "FREE" | "PREMIUM") => ({
  keys: config[`ACCOUNTLINK_${tier}_KEYS`],
  links: config[`ACCOUNTLINK_${tier}_LINKS`],
  perWindow: config[`ACCOUNTLINK_${tier}_PER_WINDOW`],
  windowMs: config[`ACCOUNTLINK_${tier}_WINDOW`],
  daily: config[`ACCOUNTLINK_${tier}_DAILY`],
  verifyDaily: config[`ACCOUNTLINK_${tier}_VERIFY_DAILY`],
});
