import { EventStore, type StoragePorts } from "@accountlink/core";
import { SuspectStore } from "@accountlink/core/alts";
import { FlowStore } from "@accountlink/core/flow";
import { SessionStore } from "@accountlink/core/sessions";
import { Effect, Option } from "effect";
import { uniquePid, unstorableTexts } from "../../mod.ts";
import { expectDefect, expectEqual, pluck } from "../expect.ts";
import { allowOne } from "../links/races.ts";
import { newLinksOf } from "../property/people_operations.ts";
import { ada, atOnce, bob, chess, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newVerificationSteps } from "../verification_steps.ts";

const address = { hash: "hash", sealed: "sealed", addressKeyId: "k1" };

export const completion: Cases<StoragePorts> = {
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

  "recordSightings in an unknown scope is a defect": function* () {
    const sessions = yield* SessionStore;
    const sighting = { chatId: ada, address, seenAt: 0 };
    yield* expectDefect(sessions.recordSightings(uniquePid(), [sighting]));
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
