import type { StoragePorts } from "@accountlink/core";
import { SessionStore } from "@accountlink/core/sessions";
import { Effect, Option } from "effect";
import { deadline, makeSession, uniqueText } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { twoVerificationFixtures } from "./verification_fixture.ts";

const many = Array.from({ length: 20 }, (_, i) => i);

const newCode = () => ({ hash: uniqueText(), sealedSid: uniqueText() });

/** Creates two keys in two scopes, and the operations on session codes. */
const makeFixture = Effect.gen(function* () {
  const sessions = yield* SessionStore;
  const [one, other] = yield* twoVerificationFixtures;
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
  "findSealedSid finds the open session of a code until its deadline": Effect.gen(function* () {
    const fixture = yield* makeFixture;
    const [one, other] = [newCode(), newCode()];
    const { session } = yield* fixture.create(one);
    yield* fixture.create(other, fixture.other);
    expectEqual(
      [yield* fixture.find(one.hash), yield* fixture.find(other.hash)],
      [one.sealedSid, other.sealedSid],
    );
    yield* fixture.one.advance(session.id, "opened");
    expectEqual(yield* fixture.find(one.hash, deadline - 1), one.sealedSid);
    expectEqual(yield* fixture.find(one.hash, deadline), null);
    expectEqual(yield* fixture.find(uniqueText()), null);
  }),

  "findSealedSid finds no ended session, and its code can be used again": Effect.gen(function* () {
    const fixture = yield* makeFixture;
    for (const to of ["cancelled", "expired"] as const) {
      const code = newCode();
      const { session } = yield* fixture.create(code);
      yield* fixture.one.advance(session.id, to, to === "expired" ? deadline : 0);
      expectEqual(yield* fixture.find(code.hash), null);
      const again = { ...code, sealedSid: uniqueText() };
      expectEqual((yield* fixture.create(again, fixture.other))._tag, "Created");
      expectEqual(yield* fixture.find(code.hash), again.sealedSid);
    }
  }),

  "knowsCode knows the codes of open and ended sessions": Effect.gen(function* () {
    const { knowsCode } = yield* SessionStore;
    const fixture = yield* makeFixture;
    const code = newCode();
    expectEqual(yield* knowsCode(code.hash), false);
    const { session } = yield* fixture.create(code);
    expectEqual(yield* knowsCode(code.hash), true);
    yield* fixture.one.advance(session.id, "cancelled");
    expectEqual(yield* knowsCode(code.hash), true);
  }),

  "completing or removing a session ends its code": Effect.gen(function* () {
    const fixture = yield* makeFixture;
    const [completed, removed] = [newCode(), newCode()];
    const { session } = yield* fixture.create(completed);
    yield* fixture.one.complete(yield* fixture.one.proven(session.id));
    expectEqual(yield* fixture.find(completed.hash), null);
    yield* fixture.create(removed);
    yield* fixture.one.links.deleteAll();
    expectEqual(yield* fixture.find(removed.hash), null);
  }),

  "create refuses the code of another open session, and takes nothing from the burst": Effect.gen(
    function* () {
      const sessions = yield* SessionStore;
      const fixture = yield* makeFixture;
      const code = newCode();
      yield* fixture.create(code);
      const burst = { capacity: 1, refillMs: 100 };
      const session = makeSession(fixture.other.key, { createdAt: 0 });
      expectEqual(yield* sessions.create({ session, burst, code }), { _tag: "CodeTaken" });
      expectEqual(yield* fixture.other.find(session.id), null);
      expectEqual(yield* sessions.create({ session, burst, code: newCode() }), { _tag: "Created" });
      expectEqual(yield* fixture.find(code.hash), code.sealedSid);
    },
  ),

  "concurrent create with one code: exactly one succeeds": Effect.gen(function* () {
    const fixture = yield* makeFixture;
    const code = newCode();
    const created = yield* Effect.forEach(many, () => fixture.create(code), { concurrency: "unbounded" });
    expectEqual(created.filter(({ _tag }) => _tag === "Created").length, 1);
  }),
};
