import { LinkStore, type StoragePorts } from "@accountlink/core";
import { isVoided } from "@accountlink/core/flow";
import type { SessionId } from "@accountlink/core/ids";
import { Effect, Option } from "effect";
import { expectEqual } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { ada, bob, chess, origin, poker } from "../world.ts";
import { inState } from "./changes.ts";
import {
  newVerificationBench,
  twoVerificationBenches,
  type VerificationBench,
} from "./verification_bench.ts";

/** Removes Ada's link, and returns the sessions that ended. */
const removal = ({ pid }: VerificationBench, at = 7) =>
  Effect.gen(function* () {
    const links = yield* LinkStore;
    const removed = yield* links.removeGame({ ...origin, pid, chatId: ada, at });
    return Option.match(removed, { onNone: () => null, onSome: ({ ended }) => new Set(ended) });
  });

/** Deletes the scope, and returns the sessions that ended. */
const deletion = ({ pid }: VerificationBench) =>
  Effect.gen(function* () {
    const links = yield* LinkStore;
    return new Set((yield* links.deleteScope({ ...origin, pid, at: 7 })).ended);
  });

const expectFailed = Effect.fnUntraced(function* (bench: VerificationBench, ids: ReadonlyArray<SessionId>) {
  for (const id of ids) {
    const session = yield* bench.find(id);
    expectEqual([session?.state, session?.error, session?.change], ["failed", "link_removed", 2]);
  }
});

const expectUntouched = Effect.fnUntraced(function* (
  bench: VerificationBench,
  ids: ReadonlyArray<SessionId>,
) {
  for (const id of ids) {
    const session = yield* bench.find(id);
    expectEqual([session?.state, session?.error, session?.change], ["pending", null, 1]);
  }
});

/** What removeGame and deleteScope do to sessions and flows. */
export const removals: Cases<StoragePorts> = {
  "removeGame fails the unfinished sessions of its chat user in the scope": Effect.gen(function* () {
    const [bench, other] = yield* twoVerificationBenches;
    for (const { links } of [bench, other]) yield* links.set(ada, chess);
    const named = yield* bench.create({ chatId: ada });
    const [proven, half] = [yield* bench.create(), yield* bench.create()];
    yield* bench.proven(proven.id);
    yield* bench.proven(proven.id, bob);
    yield* bench.prove(yield* bench.begin(half.id), { step: "chat", chatId: ada });
    const [forBob, begun] = [yield* bench.create({ chatId: bob }), yield* bench.create()];
    yield* bench.proven(forBob.id, bob);
    yield* bench.begin(begun.id);
    const elsewhere = yield* other.create({ chatId: ada });
    yield* other.proven(elsewhere.id);

    expectEqual(yield* removal(bench), new Set([named.id, proven.id, half.id]));
    yield* expectFailed(bench, [named.id, proven.id, half.id]);
    yield* expectUntouched(bench, [forBob.id, begun.id, elsewhere.id]);
  }),

  "removeGame keeps final sessions": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const ended = [
      yield* inState(bench, "cancelled"),
      yield* inState(bench, "expired"),
      yield* inState(bench, "completed"),
    ];
    expectEqual(yield* removal(bench), new Set());
    for (const session of ended) expectEqual(yield* bench.find(session.id), session);
  }),

  "removeGame removes the proofs of its chat user, and the flow can restart": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    yield* bench.links.set(ada, poker);
    const { id } = yield* bench.create({ chatId: ada });
    const [alone, withSession] = [yield* bench.proven(), yield* bench.proven(id)];
    const ofBob = yield* bench.proven(null, bob);
    yield* removal(bench);
    for (const flow of [alone, withSession]) {
      const found = yield* bench.findFlow(flow);
      expectEqual([found?.chatId, found?.gameId, found && isVoided(found)], [null, null, true]);
    }
    expectEqual(yield* bench.complete(alone), { _tag: "LinkChanged" });
    const over = yield* bench.complete(withSession);
    expectEqual(over._tag === "SessionOver" && over.session.error, "link_removed");
    expectEqual((yield* bench.links.find(ada))?.gameId, null);

    expectEqual((yield* bench.complete(ofBob, { chatId: bob }))._tag, "Completed");
    expectEqual(yield* bench.prove(alone, { step: "game", gameId: chess }), null);
    const again = yield* bench.prove(alone, { step: "chat", chatId: ada });
    expectEqual(again && isVoided(again), false);
    yield* bench.prove(alone, { step: "game", gameId: chess });
    expectEqual((yield* bench.complete(alone))._tag, "Completed");
  }),

  "removeGame without a link ends no session": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const { id } = yield* bench.create({ chatId: ada });
    const flow = yield* bench.proven(id);
    expectEqual(yield* removal(bench), null);
    yield* expectUntouched(bench, [id]);
    expectEqual((yield* bench.complete(flow))._tag, "Completed");
  }),

  "deleteScope fails all unfinished sessions of the scope, and removes all proofs": Effect.gen(function* () {
    const [bench, other] = yield* twoVerificationBenches;
    const final = yield* inState(bench, "cancelled");
    const [plain, named] = [yield* bench.create(), yield* bench.create({ chatId: bob })];
    const flows = [yield* bench.proven(plain.id), yield* bench.proven(null, bob)];
    const elsewhere = yield* other.create();
    const flowElsewhere = yield* other.proven(elsewhere.id);

    expectEqual(yield* deletion(bench), new Set([plain.id, named.id]));
    yield* expectFailed(bench, [plain.id, named.id]);
    expectEqual(yield* bench.find(final.id), final);
    for (const flow of flows) expectEqual((yield* bench.findFlow(flow))?.chatId, null);
    yield* expectUntouched(other, [elsewhere.id]);
    expectEqual((yield* other.complete(flowElsewhere))._tag, "Completed");
  }),

  "no proof survives deleteScope, although versions restart": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const flow = yield* bench.proven();
    yield* bench.links.set(bob, poker);
    const ofBob = yield* bench.proven(null, bob);
    yield* deletion(bench);
    yield* bench.links.set(bob, poker);
    expectEqual(yield* bench.complete(flow), { _tag: "LinkChanged" });
    expectEqual(yield* bench.complete(ofBob, { chatId: bob }), { _tag: "LinkChanged" });
    expectEqual(yield* bench.links.find(ada), null);
    expectEqual((yield* bench.links.find(bob))?.gameId, poker);
  }),
};
