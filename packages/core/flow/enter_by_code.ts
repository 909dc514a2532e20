import { Clock, Effect, Option } from "effect";
import type { ClientAddress } from "../addresses/client_address.ts";
import { makeFailureLimit } from "../limits/failure_limit.ts";
import { Secrets } from "../secrets/secrets.ts";
import { readCode } from "../secrets/session_code.ts";
import { SessionStore } from "../sessions/session_store.ts";
import { FlowRefused } from "./flow_refusal.ts";

/** Wrong codes that an address may send in a minute. */
const wrongCodeLimit = 10;

export const makeEnterByCode = Effect.gen(function* () {
  const sessions = yield* SessionStore;
  const secrets = yield* Secrets;
  const wrongCodes = yield* makeFailureLimit("code", wrongCodeLimit);

  /** The page may say that a code has ended, because an ended code is useless to an attacker. */
  const reasonOf = Effect.fnUntraced(function* (code: string | null) {
    const hasEnded = code !== null && (yield* sessions.knowsCode(yield* secrets.codeHash(code)));
    return hasEnded ? "ended_code" : "unknown_code";
  });

  const find = Effect.fnUntraced(function* (code: string) {
    const sealed = yield* sessions.findSealedSid(
      yield* secrets.codeHash(code),
      yield* Clock.currentTimeMillis,
    );
    return Option.isNone(sealed) ? Option.none() : yield* secrets.openSid(code, sealed.value);
  });

  return Effect.fn("VerificationFlows.enterByCode")(function* (typed: string, address: ClientAddress | null) {
    // After too many wrong codes, an address is refused before its code is looked up.
    const refusal = yield* wrongCodes.refusal(address);
    if (refusal !== null) return yield* refusal;
    const code = readCode(typed);
    const sid = code === null ? Option.none() : yield* find(code);
    if (Option.isSome(sid)) return { entry: { sid: sid.value } };
    yield* wrongCodes.count(address, 1);
    return yield* new FlowRefused({ reason: yield* reasonOf(code), entry: null });
  });
});
