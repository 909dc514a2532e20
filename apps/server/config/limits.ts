/** The configuration variables that set limits, and the `Limits` that result from their values. */
import { type LimitSettings, Limits, type TierLimits } from "@accountlink/core/limits";
import { count, duration, type Values } from "./variables.ts";

const { free, premium, address } = Limits.defaultValue();

export const addressVariables = {
  ACCOUNTLINK_IP_PER_SECOND: count("Requests per second of a client address", address.perSecond),
  ACCOUNTLINK_IP_PAGES_PER_SECOND: count(
    "Requests per second of a client address for pages, counted on their own",
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

const variablesOf = (tier: string, numbers: TierLimits, window: string) => ({
  perWindow: count(`Requests per window of a ${tier} key`, numbers.perWindow),
  window: duration(`Pacing window of a ${tier} key`, window),
  daily: count(`Requests per day of a ${tier} key`, numbers.daily),
  verifyDaily: count(`Verification requests per day of a ${tier} key`, numbers.verifyDaily),
  keys: count(`Keys of a ${tier} account`, numbers.keys),
  links: count(`Links of a ${tier} account, over all its communities`, numbers.links),
});

const ofFree = variablesOf("free", free, "2 seconds");
const ofPremium = variablesOf("premium", premium, "1 second");

export const tierVariables = {
  ACCOUNTLINK_FREE_PER_WINDOW: ofFree.perWindow,
  ACCOUNTLINK_FREE_WINDOW: ofFree.window,
  ACCOUNTLINK_FREE_DAILY: ofFree.daily,
  ACCOUNTLINK_FREE_VERIFY_DAILY: ofFree.verifyDaily,
  ACCOUNTLINK_FREE_KEYS: ofFree.keys,
  ACCOUNTLINK_FREE_LINKS: ofFree.links,
  ACCOUNTLINK_PREMIUM_PER_WINDOW: ofPremium.perWindow,
  ACCOUNTLINK_PREMIUM_WINDOW: ofPremium.window,
  ACCOUNTLINK_PREMIUM_DAILY: ofPremium.daily,
  ACCOUNTLINK_PREMIUM_VERIFY_DAILY: ofPremium.verifyDaily,
  ACCOUNTLINK_PREMIUM_KEYS: ofPremium.keys,
  ACCOUNTLINK_PREMIUM_LINKS: ofPremium.links,
};

type LimitConfig = Values<typeof addressVariables & typeof tierVariables>;

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
});

const tierLimits = (config: LimitConfig, tier: "FREE" | "PREMIUM") => ({
  keys: config[`ACCOUNTLINK_${tier}_KEYS`],
  links: config[`ACCOUNTLINK_${tier}_LINKS`],
  perWindow: config[`ACCOUNTLINK_${tier}_PER_WINDOW`],
  windowMs: config[`ACCOUNTLINK_${tier}_WINDOW`],
  daily: config[`ACCOUNTLINK_${tier}_DAILY`],
  verifyDaily: config[`ACCOUNTLINK_${tier}_VERIFY_DAILY`],
});
