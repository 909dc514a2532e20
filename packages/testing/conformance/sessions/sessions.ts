import { EventStore, type StoragePorts } from "@accountlink/core";
import { SuspectStore } from "@accountlink/core/alts";
import { FlowStore } from "@accountlink/core/flow";
import { type SessionCreated, SessionStore } from "@accountlink/core/sessions";
import { Effect, Option } from "effect";
import { deadline, makeSession, uniqueKeyId, uniquePid, uniqueText, unstorableTexts } from "../../mod.ts";
import { expectDefect, expectEqual, pluck } from "../expect.ts";
import { allowOne } from "../links/races.ts";
import { newLinksOf } from "../property/people_operations.ts";
import { ada, atOnce, bob, chess, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newVerificationSteps, twoVerificationSteps } from "../verification_steps.ts";

const burst = { capacity: 3, refillMs: 100 };
const many = Array.from({ length: 30 }, (_, i) => i);

const refusedUntil = (readyAt: number): SessionCreated => ({ _tag: "TooMany", readyAt });
const made: SessionCreated = { _tag: "Created" };

const address = { hash: "hash", sealed: "sealed", addressKeyId: "k1" };

export const sessionCases: Cases<StoragePorts> = {
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
      const find = (at = 0) => sessions.findByCode(hash, at);
      expectEqual(yield* find(), null);
      yield* sessions.create({ session: first, burst: null, code: { hash, sealedSid: "first" } });
      // A refused creation takes nothing from the burst.
      const create = Effect.suspend(() => {
        const code = { hash, sealedSid: "again" };
        return sessions.create({ session: makeSession(key), burst: { capacity: 1, refillMs: 100 }, code });
      });
      expectEqual(yield* create, { _tag: "CodeTaken" });
      const ended = { sealedSid: null };
      expectEqual([yield* find(deadline - 1), yield* find(deadline)], [{ sealedSid: "first" }, ended]);
      yield* advance(first.id, "cancelled");
      expectEqual(yield* find(), ended);
      expectEqual(yield* create, made);
      expectEqual(yield* find(), { sealedSid: "again" });
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

  "complete with unstorable text is a defect, and stores nothing": function* () {
    const flows = yield* FlowStore;
    const steps = yield* newVerificationSteps;
    const session = yield* steps.create();
    const flow = yield* steps.proven(session.id);
    const before = yield* flows.find(flow, 0);
    for (const text of unstorableTexts) {
      yield* expectDefect(steps.complete(flow, { address: { ...address, hash: text } }));
      yield* expectDefect(steps.complete(flow, { address: { ...address, sealed: text } }));
      yield* expectDefect(steps.complete(flow, { address: { ...address, addressKeyId: text } }));
    }
    expectEqual(yield* flows.find(flow, 0), before);
    expectEqual(yield* steps.find(session.id), session);
    expectEqual(yield* steps.links.find(ada), null);
    expectEqual(yield* steps.entries, []);
  },

  "a new link is due until its alts were counted, and one of several nodes takes it": function* () {
    const suspects = yield* SuspectStore;
    const steps = yield* newVerificationSteps;
    const { pid, key } = steps;
    const due = newLinksOf(suspects, pid);
    const link = { pid, chatId: ada, gameId: chess, at: 3, dueAt: 3 };
    yield* steps.complete(yield* steps.proven(), { at: 3 });
    expectEqual(yield* due, [{ ...link, scope: key.scope }]);
    const taken = yield* Effect.forEach([1, 2, 3], () => suspects.settleLink(link, 5), atOnce);
    expectEqual(taken.filter(Boolean).length, 1);
    expectEqual(yield* due, [{ ...link, dueAt: 5, scope: key.scope }]);
    expectEqual(yield* suspects.settleLink({ ...link, dueAt: 5 }, null), true);
    yield* steps.complete(yield* steps.proven(), { at: 4 });
    expectEqual(yield* due, []);
  },

  "complete refuses another proof or game user, and stores the proof unless the link is kept": function* () {
    const steps = yield* newVerificationSteps;
    const named = yield* steps.create({ gameId: poker });
    expectEqual((yield* steps.complete(yield* steps.proven(named.id)))._tag, "FlowGone");
    const { id } = yield* steps.create();
    const flow = yield* steps.proven(id);
    expectEqual((yield* steps.complete(flow, { proof: "session" }))._tag, "FlowGone");
    expectEqual((yield* steps.complete(flow))._tag, "Completed");
    expectEqual((yield* steps.find(id))?.proof, "oauth");
    const kept = yield* steps.create();
    yield* steps.complete(yield* steps.proven(kept.id), { keeps: true });
    expectEqual((yield* steps.find(kept.id))?.proof, null);
  },

  "a removal lets an open session fail, and one past its deadline expire without an event": function* () {
    const steps = yield* newVerificationSteps;
    yield* steps.links.set(ada, chess);
    const open = yield* steps.create({ chatId: ada, expiresAt: 10 });
    const late = yield* steps.create({ chatId: ada, expiresAt: 9 });
    yield* steps.links.remove(ada, 9);
    const [failed, expired] = [yield* steps.find(open.id), yield* steps.find(late.id)];
    expectEqual([failed?.state, failed?.error], ["failed", "link_removed"]);
    expectEqual([expired?.state, expired?.error, expired?.change], ["expired", null, late.change + 1]);
    const events = Option.getOrThrow(yield* (yield* EventStore).read(steps.pid, 0, 10));
    // Sessions end first on every storage, since some end many sessions before they remove the link.
    expectEqual(pluck(events, "type"), ["link.set", "session.failed", "link.removed"]);
  },

  "a move completes its session, although the other user was proven in it too, and ends that user's others":
    function* () {
      const steps = yield* newVerificationSteps;
      yield* allowOne(steps.pid);
      yield* steps.links.set(bob, chess);
      const [{ id }, other] = [yield* steps.create(), yield* steps.create({ chatId: bob })];
      yield* steps.prove(yield* steps.begin(id), { step: "chat", chatId: bob });
      const completed = yield* steps.complete(yield* steps.proven(id), { moves: true });
      const losers = [{ chatId: bob, ended: [other.id] }];
      expectEqual(completed, { _tag: "Completed", gameId: chess, previousGameId: null, losers });
      expectEqual((yield* steps.find(id))?.state, "completed");
    },

  "a completion confirms a link that is there, and takes it from nobody, if the scope allows one":
    function* () {
      const steps = yield* newVerificationSteps;
      for (const chatId of [ada, bob]) yield* steps.links.set(chatId, chess);
      yield* allowOne(steps.pid);
      for (const moves of [false, true]) {
        const completed = yield* steps.complete(yield* steps.proven(), { moves });
        expectEqual(completed, { _tag: "Completed", gameId: chess, previousGameId: chess, losers: [] });
      }
      expectEqual((yield* steps.links.find(bob))?.gameId, chess);
    },
};
