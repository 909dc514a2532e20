import { ChatId, GuildId, type StoragePorts } from "@accountlink/core";
import { type SessionCreated, SessionStore } from "@accountlink/core/sessions";
import { Effect, Option } from "effect";
import {
  deadline,
  makeSession,
  uniqueKeyId,
  uniquePid,
  uniqueSessionId,
  uniqueText,
  unstorableTexts,
} from "../../mod.ts";
import { expectDefect, expectEqual } from "../expect.ts";
import { atOnce } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newVerificationSteps, twoVerificationSteps } from "../verification_steps.ts";

const burst = { capacity: 3, refillMs: 100 };
const many = Array.from({ length: 30 }, (_, i) => i);

const refusedUntil = (readyAt: number): SessionCreated => ({ _tag: "TooMany", readyAt });
const made: SessionCreated = { _tag: "Created" };

export const creation: Cases<StoragePorts> = {
  "create stores the session unchanged": function* () {
    const steps = yield* newVerificationSteps;
    const plain = yield* steps.create();
    const full = yield* steps.create({
      guildId: GuildId.make("700000000000000001"),
      chatId: ChatId.make("9".repeat(32)),
      redirect: "https://example.com/?a=%20#b",
      createdAt: 1_767_225_600_123,
      expiresAt: 1_767_225_900_123,
    });
    expectEqual(yield* steps.find(plain.id), plain);
    expectEqual(yield* steps.find(full.id), full);
    expectEqual(yield* steps.find(uniqueSessionId()), null);
  },

  "each key has its own burst, and a null burst is unlimited": function* () {
    const [one, other] = yield* twoVerificationSteps;
    const single = { capacity: 1, refillMs: 100 };
    yield* one.create();
    expectEqual((yield* one.take(single, 0)).created, made);
    expectEqual((yield* one.take(single, 0)).created, refusedUntil(100));
    yield* one.create();
    expectEqual((yield* other.take(single, 0)).created, made);
  },

  "a burst that was taken before the clock was set back is full again": function* () {
    const steps = yield* newVerificationSteps;
    const single = { capacity: 1, refillMs: 100 };
    yield* steps.take(single, 3_600_000);
    expectEqual((yield* steps.take(single, 0)).created, made);
    expectEqual((yield* steps.take(single, 0)).created, refusedUntil(100));
  },

  "concurrent create never exceeds the capacity, and refuses all others until the same time": function* () {
    const steps = yield* newVerificationSteps;
    const results = yield* Effect.forEach(many, () => steps.take(burst, 1_000), atOnce);
    const created = results.filter((result) => result.created._tag === "Created");
    expectEqual(created.length, burst.capacity);
    for (const { created: result, id } of results) {
      if (result._tag === "TooMany") expectEqual(result.readyAt, 1_100);
      expectEqual((yield* steps.find(id)) !== null, result._tag === "Created");
    }
  },

  "a code finds its open session until the deadline, and can be used again once the session has ended":
    function* () {
      const sessions = yield* SessionStore;
      const { key, advance } = yield* newVerificationSteps;
      const hash = uniqueText();
      const first = makeSession(key);
      const find = (at = 0) => Effect.map(sessions.findSealedSid(hash, at), Option.getOrNull);
      expectEqual([yield* sessions.knowsCode(hash), yield* find()], [false, null]);
      yield* sessions.create({ session: first, burst: null, code: { hash, sealedSid: "first" } });
      // A refused creation takes nothing from the burst.
      const create = Effect.suspend(() => {
        const code = { hash, sealedSid: "again" };
        return sessions.create({ session: makeSession(key), burst: { capacity: 1, refillMs: 100 }, code });
      });
      expectEqual(yield* create, { _tag: "CodeTaken" });
      expectEqual([yield* find(deadline - 1), yield* find(deadline)], ["first", null]);
      yield* advance(first.id, "cancelled");
      expectEqual([yield* sessions.knowsCode(hash), yield* find()], [true, null]);
      expectEqual(yield* create, made);
      expectEqual(yield* find(), "again");
    },

  "concurrent create with one code: exactly one succeeds": function* () {
    const sessions = yield* SessionStore;
    const { key } = yield* newVerificationSteps;
    const code = { hash: uniqueText(), sealedSid: uniqueText() };
    const create = Effect.suspend(() => sessions.create({ session: makeSession(key), burst: null, code }));
    const created = yield* Effect.replicateEffect(create, many.length, atOnce);
    expectEqual(created.filter(({ _tag }) => _tag === "Created").length, 1);
  },

  "an invalid create is a defect, and takes nothing from the burst": function* () {
    const sessions = yield* SessionStore;
    const steps = yield* newVerificationSteps;
    const { key } = steps;
    const taken = yield* steps.create();
    const single = { capacity: 1, refillMs: 100 };
    const wrong = [
      makeSession(key, { id: taken.id, clientId: "other" }),
      makeSession(key, { pid: uniquePid() }),
      makeSession({ ...key, id: uniqueKeyId() }),
      ...unstorableTexts.flatMap((text) => [
        makeSession(key, { clientId: text }),
        makeSession(key, { redirect: text }),
      ]),
    ];
    for (const session of wrong) yield* expectDefect(sessions.create({ session, burst: single }));
    expectEqual(yield* steps.find(taken.id), taken);
    for (const { id } of wrong.slice(1)) expectEqual(yield* sessions.find(id), Option.none());
    expectEqual((yield* steps.take(single, 0)).created, made);
  },
};
