/**
 * The limits of one request: those of its client address and those of its key, decided together.
 */
import { Clock, Context, Effect, Layer } from "effect";
import type { ApiKey } from "../api_key.ts";
import type { ClientAddress } from "../client_address.ts";
import {
  type AddressBucket,
  type KeyBucket,
  RateLimited,
  SharedIpRateLimited,
  type StoreUnavailable,
} from "../errors.ts";
import type { Millis } from "../link.ts";
import { type CounterRule, type CounterState, Counters } from "../ports/counters.ts";
import { Limits, type Quota } from "../quota.ts";

/** Verification traffic (all session routes) has day quotas of its own and no pacing. */
export type Traffic = "mapping" | "verify";

/** What is left of one limit. */
export interface Allowance {
  readonly limit: number;
  readonly remaining: number;
  readonly resetsAt: Millis;
}

/** What is left of each limit after a request; null where there is no such limit. */
export interface LimitReport {
  /** The short window of the key. */
  readonly window: Allowance | null;
  /** The day of the key: of mapping or of verify traffic, as the request was. */
  readonly day: Allowance | null;
  /** The day of the client address, likewise. */
  readonly addressDay: Allowance | null;
}

/** Whether the request may go on, and what is left either way. */
export interface LimitDecision {
  readonly report: LimitReport;
  readonly refusal: RateLimited | SharedIpRateLimited | null;
}

/** Who asks, for the limits. */
export interface Requester {
  readonly key: Pick<ApiKey, "id">;
  readonly quota: Quota;
  readonly address: ClientAddress;
  readonly traffic: Traffic;
}

const dayMs = 86_400_000;
const longestDailyWait = 3_600;

/** Whole seconds until a limit opens again, at least 1. */
export const secondsUntil = (resetsAt: Millis, now: Millis): number =>
  Math.max(1, Math.ceil((resetsAt - now) / 1000));

const waitOf = (bucket: KeyBucket | AddressBucket, resetsAt: Millis, now: Millis): number => {
  const wait = secondsUntil(resetsAt, now);
  return bucket.endsWith("day") ? Math.min(wait, longestDailyWait) : wait;
};

interface LimitRule extends CounterRule {
  readonly bucket: KeyBucket | AddressBucket;
}

/** Admits requests, or says which limit refuses them. */
export class RequestLimits extends Context.Service<
  RequestLimits,
  {
    /**
     * Counts the request against all of its limits, or, when one is full, against none. When several refuse, the
     * address goes before the key, and of two limits the one that opens last is named, so that waiting for it is
     * enough.
     */
    readonly admit: (requester: Requester) => Effect.Effect<LimitDecision, StoreUnavailable>;
  }
>()("@accountlink/core/RequestLimits") {
  static readonly layer = Layer.effect(
    RequestLimits,
    Effect.gen(function* () {
      const counters = yield* Counters;
      const { address: addressLimits } = yield* Limits;

      const rulesFor = ({ key, quota, address, traffic }: Requester, now: Millis): Array<LimitRule> => {
        const untilMidnight = dayMs - (now % dayMs);
        const ofAddress = addressWindows(address);
        const ofKey = keyWindows(key);
        const rules: Array<LimitRule> = [];
        const add = (window: Window, limit: number | null, durationMs: number) => {
          if (limit !== null && limit > 0) rules.push({ ...window, limit, durationMs });
        };
        add(ofAddress.second, addressLimits.perSecond, 1_000);
        if (traffic === "verify") {
          add(ofAddress.verifyDay, addressLimits.verifyDaily, untilMidnight);
          add(ofKey.verifyDay, quota.verifyDaily, untilMidnight);
        } else {
          add(ofAddress.day, addressLimits.daily, untilMidnight);
          add(ofKey.second, quota.perWindow, quota.windowMs);
          add(ofKey.day, quota.daily, untilMidnight);
        }
        return rules;
      };

      return RequestLimits.of({
        admit: (requester) =>
          Clock.clockWith((clock) => {
            const now = clock.currentTimeMillisUnsafe();
            const rules = rulesFor(requester, now);
            return Effect.map(counters.admit(rules, now), ({ admitted, states }) => ({
              report: reportOf(rules, states),
              refusal: admitted ? null : refusalOf(rules, states, now),
            }));
          }),
      });
    }),
  );
}

type Window = Pick<LimitRule, "bucket" | "key">;

/** Names windows once for each subject, as long as that is remembered: every request asks for them. */
const windowsBy = <Subject extends object, Windows>(make: (subject: Subject) => Windows) => {
  const made = new WeakMap<Subject, Windows>();
  return (subject: Subject): Windows => {
    let windows = made.get(subject);
    if (windows === undefined) {
      windows = make(subject);
      made.set(subject, windows);
    }
    return windows;
  };
};

const window = (bucket: LimitRule["bucket"], subject: string): Window => ({
  bucket,
  key: `${bucket}:${subject}`,
});

const addressWindows = windowsBy(({ countedAs }: ClientAddress) => ({
  second: window("ip_second", countedAs),
  day: window("ip_day", countedAs),
  verifyDay: window("ip_verify_day", countedAs),
}));

const keyWindows = windowsBy(({ id }: Pick<ApiKey, "id">) => ({
  second: window("second", id),
  day: window("day", id),
  verifyDay: window("verify_day", id),
}));

const reportOf = (rules: ReadonlyArray<LimitRule>, states: ReadonlyArray<CounterState>): LimitReport => {
  const report: { -readonly [Field in keyof LimitReport]: LimitReport[Field] } = {
    window: null,
    day: null,
    addressDay: null,
  };
  for (let index = 0; index < rules.length; index++) {
    const rule = rules[index] as LimitRule;
    const field = reportFields[rule.bucket];
    if (field !== undefined) report[field] = allowanceOf(rule, states[index] as CounterState);
  }
  return report;
};

const reportFields: Partial<Record<LimitRule["bucket"], keyof LimitReport>> = {
  second: "window",
  day: "day",
  verify_day: "day",
  ip_day: "addressDay",
  ip_verify_day: "addressDay",
};

const allowanceOf = ({ limit }: LimitRule, { count, resetsAt }: CounterState): Allowance => ({
  limit,
  remaining: Math.max(0, limit - count),
  resetsAt,
});

const isAddressBucket = (bucket: LimitRule["bucket"]): bucket is AddressBucket => bucket.startsWith("ip_");

const refusalOf = (rules: ReadonlyArray<LimitRule>, states: ReadonlyArray<CounterState>, now: Millis) => {
  const full = rules
    .map(({ bucket, limit }, index) => ({ bucket, limit, ...(states[index] as CounterState) }))
    .filter(({ count, limit }) => count >= limit);
  const ofAddress = full.filter(({ bucket }) => isAddressBucket(bucket));
  const refusing = (ofAddress.length > 0 ? ofAddress : full).reduce((last, next) =>
    next.resetsAt > last.resetsAt ? next : last,
  );
  const { bucket, limit, resetsAt } = refusing;
  const retryAfter = waitOf(bucket, resetsAt, now);
  return isAddressBucket(bucket)
    ? new SharedIpRateLimited({ bucket, limit, resetsAt, retryAfter })
    : new RateLimited({ bucket, limit, resetsAt, retryAfter });
};
