/**
 * `VerificationFlows.enterByCode`: finds the session of a code that a user typed.
 */
import { Clock, Effect, Option } from "effect";
import type { ClientAddress } from "../addresses/client_address.ts";
import { SharedIpRateLimited } from "../errors.ts";
import { type CounterRule, type CounterState, Counters } from "../limits/counters.ts";
import { secondsUntil } from "../limits/request_limits.ts";
import { Secrets } from "../secrets/secrets.ts";
import { readCode } from "../secrets/session_code.ts";
import { SessionStore } from "../sessions/session_store.ts";
import type { Millis } from "../timestamp.ts";
import { FlowRefused } from "./flow_refusal.ts";

/** Wrong codes that an address may send within the window. */
const limit = 10;
const durationMs = 60_000;

export const makeEnterByCode = Effect.gen(function* () {
  const sessions = yield* SessionStore;
  const secrets = yield* Secrets;
  const counters = yield* Counters;

  const ruleOf = (address: ClientAddress): Effect.Effect<CounterRule> =>
    Effect.map(secrets.addressName(address), (name) => ({ key: `code:${name}`, limit, durationMs }));

  /** Refuses an address that has sent too many wrong codes, without a look at this one. */
  const check = Effect.fnUntraced(function* (rule: CounterRule | null, now: Millis) {
    if (rule === null) return;
    const [state] = yield* counters.read([rule], now);
    if (state !== undefined && state.count >= limit) return yield* refusalOf(state, now);
  });

  const refuse = Effect.fnUntraced(function* (rule: CounterRule | null, now: Millis) {
    if (rule !== null) {
      const { admitted, states } = yield* counters.admit([rule], now);
      if (!admitted) return yield* refusalOf(states[0] as CounterState, now);
    }
    return yield* new FlowRefused({ reason: "unknown_code", entry: null });
  });

  const find = Effect.fnUntraced(function* (code: string, now: Millis) {
    const sealed = yield* sessions.findSealedSid(yield* secrets.codeHash(code), now);
    return Option.isNone(sealed) ? Option.none() : yield* secrets.openSid(code, sealed.value);
  });

  return Effect.fn("VerificationFlows.enterByCode")(function* (typed: string, address: ClientAddress | null) {
    const now = yield* Clock.currentTimeMillis;
    const rule = address === null ? null : yield* ruleOf(address);
    yield* check(rule, now);
    const code = readCode(typed);
    const sid = code === null ? Option.none() : yield* find(code, now);
    return Option.isSome(sid) ? { entry: { sid: sid.value } } : yield* refuse(rule, now);
  });
});

const refusalOf = ({ resetsAt }: CounterState, now: Millis) => {
  const retryAfter = secondsUntil(resetsAt, now, durationMs);
  return new SharedIpRateLimited({ bucket: "ip_auth", limit, resetsAt, retryAfter });
};
