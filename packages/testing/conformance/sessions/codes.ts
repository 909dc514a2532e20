import type { StoragePorts } from "@accountlink/core";
import { SessionStore } from "@accountlink/core/sessions";
import { Effect, Option } from "effect";
import { deadline, makeSession, uniqueText } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import { atOnce } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { twoVerificationSteps } from "./verification_steps.ts";

const many = Array.from({ length: 20 }, (_, i) => i);

const newCode = () => ({ hash: uniqueText(), sealedSid: uniqueText() });

/** Creates two keys in two scopes, and the operations on session codes. */
const makeSteps = Effect.gen(function* () {
  const sessions = yield* SessionStore;
  const [one, other] = yield* twoVerificationSteps;
  return {
    one,
    other,
    create: (code: ReturnType<typeof newCode>, { key } = one) => {
      const session = makeSession(key);
      return Effect.map(sessions.create({ session, burst: null, code }), ({ _tag }) => ({ _tag, session }));
    },
    find: (hash: string, at = 0) => Effect.map(sessions.findSealedSid(hash, at), Option.getOrNull),
  };
});

export const codes: Cases<StoragePorts> = {
  "findSealedSid finds the open session of a code until its deadline": function* () {
    const steps = yield* makeSteps;
    const [one, other] = [newCode(), newCode()];
    const { session } = yield* steps.create(one);
    yield* steps.create(other, steps.other);
    expectEqual(
      [yield* steps.find(one.hash), yield* steps.find(other.hash)],
      [one.sealedSid, other.sealedSid],
    );
    yield* steps.one.advance(session.id, "opened");
    expectEqual(yield* steps.find(one.hash, deadline - 1), one.sealedSid);
    expectEqual(yield* steps.find(one.hash, deadline), null);
    expectEqual(yield* steps.find(uniqueText()), null);
  },

  "findSealedSid finds no ended session, and its code can be used again": function* () {
    const steps = yield* makeSteps;
    for (const to of ["cancelled", "expired"] as const) {
      const code = newCode();
      const { session } = yield* steps.create(code);
      yield* steps.one.advance(session.id, to, to === "expired" ? deadline : 0);
      expectEqual(yield* steps.find(code.hash), null);
      const again = { ...code, sealedSid: uniqueText() };
      expectEqual((yield* steps.create(again, steps.other))._tag, "Created");
      expectEqual(yield* steps.find(code.hash), again.sealedSid);
    }
  },

  "knowsCode knows the codes of open and ended sessions": function* () {
    const { knowsCode } = yield* SessionStore;
    const steps = yield* makeSteps;
    const code = newCode();
    expectEqual(yield* knowsCode(code.hash), false);
    const { session } = yield* steps.create(code);
    expectEqual(yield* knowsCode(code.hash), true);
    yield* steps.one.advance(session.id, "cancelled");
    expectEqual(yield* knowsCode(code.hash), true);
  },

  "completing or removing a session ends its code": function* () {
    const steps = yield* makeSteps;
    const [completed, removed] = [newCode(), newCode()];
    const { session } = yield* steps.create(completed);
    yield* steps.one.complete(yield* steps.one.proven(session.id));
    expectEqual(yield* steps.find(completed.hash), null);
    yield* steps.create(removed);
    yield* steps.one.links.deleteAll();
    expectEqual(yield* steps.find(removed.hash), null);
  },

  "create refuses the code of another open session, and takes nothing from the burst": function* () {
    const sessions = yield* SessionStore;
    const steps = yield* makeSteps;
    const code = newCode();
    yield* steps.create(code);
    const burst = { capacity: 1, refillMs: 100 };
    const session = makeSession(steps.other.key, { createdAt: 0 });
    expectEqual(yield* sessions.create({ session, burst, code }), { _tag: "CodeTaken" });
    expectEqual(yield* steps.other.find(session.id), null);
    expectEqual(yield* sessions.create({ session, burst, code: newCode() }), { _tag: "Created" });
    expectEqual(yield* steps.find(code.hash), code.sealedSid);
  },

  "concurrent create with one code: exactly one succeeds": function* () {
    const steps = yield* makeSteps;
    const code = newCode();
    const created = yield* Effect.forEach(many, () => steps.create(code), atOnce);
    expectEqual(created.filter(({ _tag }) => _tag === "Created").length, 1);
  },
};
