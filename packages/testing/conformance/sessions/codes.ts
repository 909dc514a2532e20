import type { StoragePorts } from "@accountlink/core";
import { SessionStore } from "@accountlink/core/sessions";
import { Effect, Option } from "effect";
import { deadline, makeSession, uniqueText } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { inState } from "./changes.ts";
import { newVerificationBench, twoVerificationBenches } from "./verification_bench.ts";

const many = Array.from({ length: 20 }, (_, i) => i);

const newCode = () => ({ hash: uniqueText(), sealedSid: uniqueText() });

/** The operations with codes, of the keys of two scopes. */
const makeBench = Effect.gen(function* () {
  const sessions = yield* SessionStore;
  const [one, other] = yield* twoVerificationBenches;
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
  "a code leads to its open session, and to no other": Effect.gen(function* () {
    const bench = yield* makeBench;
    const [one, other] = [newCode(), newCode()];
    const { session } = yield* bench.create(one);
    yield* bench.create(other, bench.other);
    expectEqual(
      [yield* bench.find(one.hash), yield* bench.find(other.hash)],
      [one.sealedSid, other.sealedSid],
    );
    yield* bench.one.advance(session.id, "opened");
    expectEqual(yield* bench.find(one.hash, deadline - 1), one.sealedSid);
    expectEqual(yield* bench.find(one.hash, deadline), null);
    expectEqual(yield* bench.find(uniqueText()), null);
  }),

  "the code of a session that has ended leads nowhere, and is free again": Effect.gen(function* () {
    const bench = yield* makeBench;
    for (const to of ["cancelled", "expired"] as const) {
      const code = newCode();
      const { session } = yield* bench.create(code);
      yield* bench.one.advance(session.id, to, to === "expired" ? deadline : 0);
      expectEqual(yield* bench.find(code.hash), null);
      const again = { ...code, sealedSid: uniqueText() };
      expectEqual((yield* bench.create(again, bench.other))._tag, "Created");
      expectEqual(yield* bench.find(code.hash), again.sealedSid);
    }
  }),

  "removals and completions end codes": Effect.gen(function* () {
    const bench = yield* makeBench;
    const [completed, removed] = [newCode(), newCode()];
    const { session } = yield* bench.create(completed);
    yield* bench.one.complete(yield* bench.one.proven(session.id));
    expectEqual(yield* bench.find(completed.hash), null);
    yield* bench.create(removed);
    yield* bench.one.links.deleteAll();
    expectEqual(yield* bench.find(removed.hash), null);
  }),

  "the code of an open session is refused to another, which takes nothing from the burst": Effect.gen(
    function* () {
      const sessions = yield* SessionStore;
      const bench = yield* makeBench;
      const code = newCode();
      yield* bench.create(code);
      const burst = { capacity: 1, refillMs: 100 };
      const session = makeSession(bench.other.key, { createdAt: 0 });
      expectEqual(yield* sessions.create({ session, burst, code }), { _tag: "CodeTaken" });
      expectEqual(yield* bench.other.find(session.id), null);
      expectEqual(yield* sessions.create({ session, burst, code: newCode() }), { _tag: "Created" });
      expectEqual(yield* bench.find(code.hash), code.sealedSid);
    },
  ),

  "concurrent create with one code: exactly one succeeds": Effect.gen(function* () {
    const bench = yield* makeBench;
    const code = newCode();
    const created = yield* Effect.forEach(many, () => bench.create(code), { concurrency: "unbounded" });
    expectEqual(created.filter(({ _tag }) => _tag === "Created").length, 1);
  }),

  "sessions without a code do not disturb each other": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const [one, other] = [yield* bench.create(), yield* bench.create()];
    expectEqual([yield* bench.find(one.id), yield* bench.find(other.id)], [one, other]);
    expectEqual((yield* inState(bench, "completed")).state, "completed");
  }),
};
