import { Clock, Context, Effect, Layer } from "effect";
import type { ClientAddress } from "../addresses/client_address.ts";
import { type AddressBucket, type KeyBucket, RateLimited, SharedIpRateLimited } from "../errors.ts";
import type { ChatId, GuildId, KeyId, Pid } from "../ids.ts";
import { Secrets } from "../secrets/secrets.ts";
import { dayMs, type Millis } from "../timestamp.ts";
import { type Admission, type CounterRule, type CounterState, Counters } from "./counters.ts";
import { type KeyKind, Limits, type Quota, type Traffic } from "./quota.ts";

export interface Allowance {
  readonly bucket: KeyBucket | AddressBucket;
  readonly limit: number;
  readonly remaining: number;
  readonly resetsAt: Millis;
}

/** The remaining part of each limit after a request; null where no limit applies. */
export interface LimitReport {
  /** The limit of the key's short window. Verification traffic has no short window, so its daily limit is used here. */
  readonly window: Allowance | null;
  /** The key's daily limit for the request's kind of traffic. */
  readonly day: Allowance | null;
  /** The client address's daily limit for the request's kind of traffic; null for partner and staff keys. */
  readonly addressDay: Allowance | null;
}

export interface Requester {
  readonly key: { readonly id: KeyId; readonly kind: KeyKind };
  readonly quota: Quota;
  /** Null if the address is unknown. Then only the limits of the API key apply. */
  readonly address: ClientAddress | null;
  readonly traffic: Traffic;
}

/**
 * How many addresses have their windows cached. The names of these windows contain a hash of the address, and the cache
 * saves the time to compute it.
 */
const maxCachedAddresses = 10_000;

const maxDayRetrySeconds = 3_600;

/** How many sweeps of a role plan people may ask for per hour, and how many may start because they changed the plan. */
const sweepsHourly = { asked: 4, changed: 60 };
const hourMs = 3_600_000;

/** How many exports of their own data a user may download per day. */
const exportsDaily = 10;

/** How many keys an account may make per day, and a chat user over all accounts. @internal */
export const keysPerDay = 20;

/**
 * Returns the seconds until a limit resets, rounded up: at least 1, and at most the window's duration. Without this
 * upper bound, a window that was started by a node with a faster clock would seem to last too long.
 *
 * @param windowMs the window's duration in milliseconds
 * @internal
 */
export const secondsUntil = (resetsAt: Millis, now: Millis, windowMs: number): number =>
  Math.max(1, Math.ceil(Math.min(resetsAt - now, windowMs) / 1000));

interface LimitRule extends CounterRule {
  readonly bucket: KeyBucket | AddressBucket;
  readonly isDay: boolean;
}

/**
 * Decides on the limits of a request's client address and key together: admits the request, or returns the limit that
 * refuses it.
 *
 * @example
 * ```ts
 * import { KeyId } from "@accountlink/core";
 * import { memoryWorld } from "@accountlink/testing";
 * import { Effect } from "effect";
 *
 * const world = await memoryWorld();
 * const request = {
 *   key: { id: KeyId.make("Aa0Bb1Cc2Dd3"), kind: "normal" },
 *   quota: { perWindow: 1, windowMs: 2_000, daily: 500, verifyDaily: 2_000 },
 *   address: null,
 *   traffic: "mapping",
 * } as const;
 * const admit = Effect.flatMap(RequestLimits, (limits) => limits.admit(request));
 * (await world.run(admit)).refusal; // null
 * (await world.run(admit)).refusal?.message; // "Please wait 2 seconds before your next request"
 * await world.close();
 * ```
 */
export class RequestLimits extends Context.Service<RequestLimits>()("@accountlink/core/RequestLimits", {
  make: Effect.gen(function* () {
    const counters = yield* Counters;
    const { address: addressLimits, dashboardDaily } = yield* Limits;
    const secrets = yield* Secrets;
    const knownAddresses = new Map<string, AddressWindows>();
    const { perSecond: second, pagesPerSecond: page, verifyDaily: verifyDay } = addressLimits;
    const keylessLimits = { second, page, verifyDay };

    const windowsOfAddress = (address: ClientAddress): Effect.Effect<AddressWindows> => {
      const known = knownAddresses.get(address.countedAs);
      if (known !== undefined) return Effect.succeed(known);
      return Effect.map(secrets.addressName(address), (name) => {
        const windows = addressWindows(name);
        if (knownAddresses.size >= maxCachedAddresses) knownAddresses.clear();
        knownAddresses.set(address.countedAs, windows);
        return windows;
      });
    };

    const rulesFor = (
      { key, quota, traffic }: Requester,
      ofAddress: AddressWindows | null,
      now: Millis,
    ): Array<LimitRule> => {
      const rules: Array<LimitRule> = [];
      const add = (window: Window, limit: number | null, windowMs?: number) => {
        if (limit !== null && limit > 0) rules.push(ruleOf(window, limit, now, windowMs));
      };
      const isVerify = traffic === "verify";
      // Partner and staff keys have no address limits, because they belong to large bots that send everything from
      // one host.
      if (key.kind === "normal" && ofAddress !== null) {
        add(ofAddress.second, addressLimits.perSecond);
        if (isVerify) add(ofAddress.verifyDay, addressLimits.verifyDaily);
        else add(ofAddress.day, addressLimits.daily);
      }
      if (isVerify) {
        add(windowOf("verify_day", key.id), quota.verifyDaily);
      } else {
        add(windowOf("second", key.id), quota.perWindow, quota.windowMs);
        add(windowOf("day", key.id), quota.daily);
      }
      return rules;
    };

    /** Counts a request against one limit, or refuses it. */
    const admitOne = Effect.fnUntraced(function* (window: Window, limit: number, windowMs?: number) {
      const now = yield* Clock.currentTimeMillis;
      const rule = ruleOf(window, limit, now, windowMs);
      const { admitted, states } = yield* counters.admit([rule], now);
      if (!admitted) return yield* refusalOf([rule], states, now);
    });

    const admitDaily = (bucket: KeyBucket, subject: string, limit: number) =>
      secrets.counterName(subject).pipe(
        Effect.flatMap((name) => admitOne(windowOf(bucket, name), limit)),
        Effect.catchTag("SharedIpRateLimited", Effect.die),
      );

    const { hasRoom } = counters;

    return {
      /**
       * Counts the request against all of its limits, or against none if one is full. `refusal` is null if the
       * request is admitted. It names a full limit of the address, or of the key if no limit of the address is full. Of
       * several such limits, it names the one that resets last.
       */
      admit: Effect.fnUntraced(function* (requester: Requester) {
        const { address } = requester;
        const ofAddress = address === null ? null : yield* windowsOfAddress(address);
        const now = yield* Clock.currentTimeMillis;
        const rules = rulesFor(requester, ofAddress, now);
        return decided(rules, yield* counters.admit(rules, now), now);
      }),

      /**
       * Returns how to count a request, as `admit` does, if its work may begin meanwhile: no limit is full, as far as this
       * process knows. Returns null otherwise. Null if counting takes no round trip.
       */
      admitBeside:
        hasRoom === undefined
          ? null
          : Effect.fnUntraced(function* (requester: Requester) {
              const { address } = requester;
              const now = yield* Clock.currentTimeMillis;
              const ofAddress = address === null ? null : yield* windowsOfAddress(address);
              const rules = rulesFor(requester, ofAddress, now);
              if (rules.length === 0 || !(yield* hasRoom(rules, now))) return null;
              return Effect.map(counters.admit(rules, now), (admission) => decided(rules, admission, now));
            }),

      /**
       * Counts a request without a key against one limit of its address, if the address is known. `page` is the limit of
       * pages per second; `verifyDay` counts verification flows without a session.
       */
      admitAddress: Effect.fnUntraced(function* (
        address: ClientAddress | null,
        window: "second" | "page" | "verifyDay",
      ) {
        const limit = keylessLimits[window];
        if (limit === 0 || address === null) return;
        const windows = yield* windowsOfAddress(address);
        // A full window of an address refuses with `SharedIpRateLimited`, a window of a key with `RateLimited`.
        yield* Effect.catchTag(admitOne(windows[window], limit), "RateLimited", Effect.die);
      }),

      /**
       * Counts a request of a flow against a limit of the flow, and against the verify day of its address if the address
       * is known. Returns false if the limit of the flow is full.
       *
       * @param flow the name of the limit in this flow
       * @param endsAt when the flow ends
       */
      admitFlow: Effect.fnUntraced(function* (
        address: ClientAddress | null,
        flow: { readonly name: string; readonly limit: number; readonly endsAt: Millis },
      ) {
        const now = yield* Clock.currentTimeMillis;
        const ofFlow = { bucket: "ip_verify_day", key: `flow:${flow.name}`, isDay: false } as const;
        const rules = [ruleOf(ofFlow, flow.limit, now, Math.max(1, flow.endsAt - now))];
        if (address !== null && keylessLimits.verifyDay > 0) {
          const { verifyDay: window } = yield* windowsOfAddress(address);
          rules.push(ruleOf(window, keylessLimits.verifyDay, now));
        }
        const { admitted, states } = yield* counters.admit(rules, now);
        if (admitted) return true;
        if ((states[0]?.count ?? 0) >= flow.limit) return false;
        const refusal = refusalOf(rules, states, now);
        return yield* refusal._tag === "RateLimited" ? Effect.die(refusal) : refusal;
      }),

      /** Counts a sweep of a role plan that somebody asked for, or started by changing the plan. */
      admitSweep: (
        plan: { readonly pid: Pid; readonly guildId: GuildId },
        reason: keyof typeof sweepsHourly,
      ) =>
        Effect.catchTag(
          admitOne(windowOf("sweeps", `${reason}:${plan.pid}:${plan.guildId}`), sweepsHourly[reason], hourMs),
          "SharedIpRateLimited",
          Effect.die,
        ),

      /** Counts an export of a user's own data against the user's daily limit of exports. */
      admitExport: (chatId: ChatId) => admitDaily("day", `export ${chatId}`, exportsDaily),

      /** Counts a new key against the daily limit of its maker, whichever account gets the key. */
      admitNewKey: (chatId: ChatId) => admitDaily("day", `key ${chatId}`, keysPerDay),

      /** Counts a change on the dashboard against the daily limit of the account. */
      admitDashboardWrite: (account: string) =>
        dashboardDaily === 0
          ? Effect.void
          : admitDaily("dashboard_day", `dashboard ${account}`, dashboardDaily),
    };
  }),
}) {
  static readonly layer = Layer.effect(RequestLimits, RequestLimits.make);
}

const decided = (rules: ReadonlyArray<LimitRule>, { admitted, states }: Admission, now: Millis) => ({
  report: reportOf(rules, states),
  refusal: admitted ? null : refusalOf(rules, states, now),
});

type Window = Pick<LimitRule, "bucket" | "key" | "isDay">;

const windowOf = (bucket: LimitRule["bucket"], subject: string): Window => ({
  bucket,
  key: `${bucket}:${subject}`,
  isDay: bucket.endsWith("day"),
});

/** @param windowMs the duration of a window that is not a day, in milliseconds */
const ruleOf = (window: Window, limit: number, now: Millis, windowMs = 1_000): LimitRule => ({
  ...window,
  limit,
  durationMs: window.isDay ? dayMs - (now % dayMs) : windowMs,
});

type AddressWindows = ReturnType<typeof addressWindows>;

const addressWindows = (name: string) => ({
  second: windowOf("ip_second", name),
  // Counted apart from requests, and refused with the same bucket.
  page: { ...windowOf("ip_second", name), key: `ip_page:${name}` },
  day: windowOf("ip_day", name),
  verifyDay: windowOf("ip_verify_day", name),
});

const reportOf = (rules: ReadonlyArray<LimitRule>, states: ReadonlyArray<CounterState>): LimitReport => {
  /** Returns the allowance of the one bucket of these that applies to the request. */
  const allowanceOf = (...buckets: ReadonlyArray<LimitRule["bucket"]>): Allowance | null => {
    const index = rules.findIndex(({ bucket }) => buckets.includes(bucket));
    if (index === -1) return null;
    const { bucket, limit } = rules[index] as LimitRule;
    const { count, resetsAt } = states[index] as CounterState;
    return { bucket, limit, remaining: Math.max(0, limit - count), resetsAt };
  };
  return {
    window: allowanceOf("second", "verify_day"),
    day: allowanceOf("day", "verify_day"),
    addressDay: allowanceOf("ip_day", "ip_verify_day"),
  };
};

const isAddressBucket = (bucket: LimitRule["bucket"]): bucket is AddressBucket => bucket.startsWith("ip_");

const refusalOf = (rules: ReadonlyArray<LimitRule>, states: ReadonlyArray<CounterState>, now: Millis) => {
  const full = rules
    .map((rule, index) => ({ ...rule, ...(states[index] as CounterState) }))
    .filter(({ count, limit }) => count >= limit);
  const ofAddress = full.filter(({ bucket }) => isAddressBucket(bucket));
  const refusing = (ofAddress.length > 0 ? ofAddress : full).reduce((last, next) =>
    next.resetsAt > last.resetsAt ? next : last,
  );
  const { bucket, limit, resetsAt, durationMs, isDay } = refusing;
  const wait = secondsUntil(resetsAt, now, durationMs);
  const retryAfter = isDay ? Math.min(wait, maxDayRetrySeconds) : wait;
  return isAddressBucket(bucket)
    ? new SharedIpRateLimited({ bucket, limit, resetsAt, retryAfter })
    : new RateLimited({ bucket, limit, resetsAt, retryAfter });
};
