import type { ChatId, Pid, StoragePorts } from "@accountlink/core";
import { SightingStore } from "@accountlink/core/alts";
import { FlowStore } from "@accountlink/core/flow";
import {
  type CompleteFlow,
  type FlowCompleted,
  type SessionState,
  SessionStore,
} from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { deadline, uniqueFlowId, uniquePid, unstorableTexts } from "@accountlink/testing";
import { Effect } from "effect";
import { expectDefect, expectEqual } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { ada, bob, chess, poker } from "../world.ts";
import { inState } from "./changes.ts";
import { newVerificationBench, twoVerificationBenches } from "./verification_bench.ts";

const address = { hash: "hash", sealed: "sealed", addressKeyId: "k1" };
const gone: FlowCompleted = { _tag: "FlowGone" };
const changed: FlowCompleted = { _tag: "LinkChanged" };

export const completion: Cases<StoragePorts> = {
  "complete stores the link and completes the session, once": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const session = yield* bench.create();
    yield* bench.advance(session.id, "opened");
    const flow = yield* bench.proven(session.id);
    yield* bench.challenge(flow, `${flow} state`);
    const record = { chatId: ada, gameId: chess, linkVersion: 1, linkedAt: 20, lastVerifiedAt: 20 };
    const completed = {
      ...session,
      state: "completed",
      chatId: ada,
      gameId: chess,
      linkChanged: true,
      completedAt: 20,
      change: 3,
    } as const;
    const answer = { _tag: "Completed", gameId: chess, previousGameId: null } as const;
    expectEqual(yield* bench.complete(flow, { at: 20, address }), answer);
    expectEqual(yield* bench.find(session.id), completed);
    expectEqual(yield* bench.links.find(ada), record);
    expectEqual(
      (yield* bench.entries).map(({ sequence: _, account: __, ...entry }) => entry),
      [
        {
          at: 20,
          pid: bench.pid,
          actor: { type: "operator", id: "conformance" },
          requestId: "req_conformance",
          action: "link.set",
          details: { chatId: ada, gameId: chess, previousGameId: null },
        },
      ],
    );
    expectEqual(yield* bench.findFlow(flow), null);
    expectEqual(yield* bench.complete(flow, { at: 20 }), gone);
    yield* bench.begin(null, { id: flow });
    expectEqual(yield* bench.takeChallenge(flow, `${flow} state`), null);
  }),

  "complete logs the user as the actor": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const actor = { type: "user", id: ada } as const;
    yield* bench.complete(yield* bench.proven(), { actor, requestId: null });
    expectEqual(
      (yield* bench.entries).map(({ actor: who, requestId }) => [who, requestId]),
      [[actor, null]],
    );
  }),

  "complete replaces another game, and returns it": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    yield* bench.links.set(ada, poker, 1);
    const { id } = yield* bench.create();
    const completed = yield* bench.complete(yield* bench.proven(id), { at: 2 });
    const record = { chatId: ada, gameId: chess, linkVersion: 2, linkedAt: 2, lastVerifiedAt: 2 };
    const session = yield* bench.find(id);
    expectEqual(completed, { _tag: "Completed", gameId: chess, previousGameId: poker });
    expectEqual([session?.linkChanged, session?.previousGameId], [true, poker]);
    expectEqual(yield* bench.links.find(ada), record);
  }),

  "complete with the same game only updates the verification time": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    yield* bench.links.set(ada, chess, 1);
    const { id } = yield* bench.create({ chatId: ada });
    const completed = yield* bench.complete(yield* bench.proven(id), { at: 2 });
    const record = { chatId: ada, gameId: chess, linkVersion: 1, linkedAt: 1, lastVerifiedAt: 2 };
    const session = yield* bench.find(id);
    expectEqual(completed, { _tag: "Completed", gameId: chess, previousGameId: chess });
    expectEqual(yield* bench.links.find(ada), record);
    expectEqual([session?.linkChanged, session?.previousGameId], [false, chess]);
    expectEqual((yield* bench.entries).length, 1);
  }),

  "complete that keeps the link writes nothing else, and completes the session with it": Effect.gen(
    function* () {
      const bench = yield* newVerificationBench;
      yield* bench.links.set(ada, poker, 1);
      const [record, entries] = [yield* bench.links.find(ada), yield* bench.entries];
      const session = yield* bench.create();
      const flow = yield* bench.proven(session.id);
      const kept = {
        ...session,
        state: "completed",
        chatId: ada,
        gameId: poker,
        linkChanged: false,
        previousGameId: null,
        completedAt: 2,
        change: 2,
      } as const;
      const answer = { _tag: "Completed", gameId: poker, previousGameId: poker } as const;
      expectEqual(yield* bench.complete(flow, { at: 2, keeps: true }), answer);
      expectEqual(yield* bench.find(session.id), kept);
      expectEqual([yield* bench.links.find(ada), yield* bench.entries], [record, entries]);
      expectEqual(yield* bench.complete(flow, { at: 2, keeps: true }), gone);
      const alone = yield* bench.proven();
      expectEqual(yield* bench.complete(alone, { keeps: true }), answer);
    },
  ),

  "complete that keeps refuses without a link, or after one changed": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const { id } = yield* bench.create();
    const first = yield* bench.proven(id);
    expectEqual(yield* bench.complete(first, { keeps: true }), changed);
    yield* bench.links.set(ada, poker);
    expectEqual(yield* bench.complete(first, { keeps: true }), changed);
    expectEqual((yield* bench.find(id))?.state, "pending");
    expectEqual((yield* bench.links.find(ada))?.gameId, poker);
    expectEqual(yield* bench.complete(uniqueFlowId(), { keeps: true }), gone);
  }),

  "complete after a removal increments the version, and replaces no game": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    yield* bench.links.set(ada, poker, 1);
    yield* bench.links.remove(ada, 2);
    expectEqual(yield* bench.complete(yield* bench.proven(), { at: 3 }), {
      _tag: "Completed",
      gameId: chess,
      previousGameId: null,
    });
    const record = { chatId: ada, gameId: chess, linkVersion: 3, linkedAt: 3, lastVerifiedAt: 3 };
    expectEqual(yield* bench.links.find(ada), record);
  }),

  "complete requires both proofs of the flow, in its scope": Effect.gen(function* () {
    const [bench, other] = yield* twoVerificationBenches;
    const { id } = yield* bench.create();
    const flow = yield* bench.proven(id);
    const [empty, half] = [yield* bench.begin(id), yield* bench.begin(id)];
    yield* bench.prove(half, { step: "chat", chatId: ada });
    const attempts: ReadonlyArray<Partial<CompleteFlow>> = [
      { flow: uniqueFlowId() },
      { flow: empty },
      { flow: half },
      { flow, chatId: bob },
      { flow, gameId: poker },
      { flow, pid: other.pid },
    ];
    for (const attempt of attempts) expectEqual(yield* bench.complete(flow, attempt), gone);
    expectEqual(yield* bench.links.all, []);
    expectEqual(yield* other.links.all, []);
    expectEqual((yield* bench.find(id))?.state, "pending");
    expectEqual((yield* bench.complete(flow))._tag, "Completed");
  }),

  "complete refuses another chat user than that of the session": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const { id } = yield* bench.create({ chatId: ada });
    const flow = yield* bench.proven(id, bob);
    expectEqual(yield* bench.complete(flow, { chatId: bob }), gone);
    expectEqual(yield* bench.links.all, []);
    expectEqual((yield* bench.complete(yield* bench.proven(id)))._tag, "Completed");
  }),

  "complete refuses an expired flow and its session": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const session = yield* bench.create();
    const [alone, withSession] = [yield* bench.proven(), yield* bench.proven(session.id)];
    expectEqual(yield* bench.complete(alone, { at: deadline }), gone);
    expectEqual(yield* bench.complete(withSession, { at: deadline }), { _tag: "SessionOver", session });
    expectEqual(yield* bench.find(session.id), session);
    expectEqual(yield* bench.links.all, []);
    expectEqual((yield* bench.complete(withSession, { at: deadline - 1 }))._tag, "Completed");
  }),

  "complete refuses a final session": Effect.gen(function* () {
    const ends: ReadonlyArray<SessionState> = ["completed", "cancelled", "failed", "expired"];
    for (const state of ends) {
      const bench = yield* newVerificationBench;
      const session = yield* inState(bench, state);
      const before = yield* bench.links.find(ada);
      const flow = yield* bench.proven(session.id, ada, poker);
      expectEqual(yield* bench.complete(flow, { gameId: poker, at: 5 }), { _tag: "SessionOver", session });
      expectEqual(yield* bench.find(session.id), session);
      expectEqual(yield* bench.links.find(ada), before);
    }
  }),

  "complete refuses a record that changed after the proofs": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const { id } = yield* bench.create();
    const first = yield* bench.proven(id);
    yield* bench.links.set(ada, poker);
    expectEqual(yield* bench.complete(first), changed);

    const second = yield* bench.proven(id);
    yield* bench.links.move(ada, bob);
    expectEqual(yield* bench.complete(second), changed);

    const third = yield* bench.proven(id);
    yield* bench.links.set(ada, chess);
    yield* bench.links.set(ada, poker);
    expectEqual(yield* bench.complete(third), changed);
    expectEqual((yield* bench.links.find(ada))?.gameId, poker);
    expectEqual((yield* bench.find(id))?.state, "pending");

    const fourth = yield* bench.proven(id);
    yield* bench.links.set(ada, poker);
    expectEqual((yield* bench.complete(fourth))._tag, "Completed");
    expectEqual((yield* bench.complete(first))._tag, "SessionOver");
  }),

  "a flow with renewed proofs completes over the current record": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const flow = yield* bench.proven();
    yield* bench.links.set(ada, poker);
    expectEqual(yield* bench.complete(flow), changed);
    yield* bench.prove(flow, { step: "game", gameId: chess });
    expectEqual((yield* bench.complete(flow))._tag, "Completed");
  }),

  "complete with unstorable text is a defect, and stores nothing": Effect.gen(function* () {
    const flows = yield* FlowStore;
    const bench = yield* newVerificationBench;
    const session = yield* bench.create();
    const flow = yield* bench.proven(session.id);
    const before = yield* flows.find(flow, 0);
    for (const text of unstorableTexts) {
      yield* expectDefect(bench.complete(flow, { requestId: text }));
      yield* expectDefect(bench.complete(flow, { address: { ...address, hash: text } }));
      yield* expectDefect(bench.complete(flow, { address: { ...address, sealed: text } }));
      yield* expectDefect(bench.complete(flow, { address: { ...address, addressKeyId: text } }));
    }
    expectEqual(yield* flows.find(flow, 0), before);
    expectEqual(yield* bench.find(session.id), session);
    expectEqual(yield* bench.links.find(ada), null);
    expectEqual(yield* bench.entries, []);
  }),

  "recordSightings keeps the latest of each chat user at each address": Effect.gen(function* () {
    const sessions = yield* SessionStore;
    const { pid } = yield* newVerificationBench;
    yield* sessions.recordSightings(pid, []);
    yield* sessions.recordSightings(pid, [seen(ada, 10), seen(bob, 20)]);
    yield* sessions.recordSightings(pid, [
      seen(ada, 30),
      seen(ada, 25),
      seen(bob, 15),
      seen(bob, 5, "elsewhere"),
    ]);
    expectEqual(yield* sightingsIn(pid), [seen(bob, 5, "elsewhere"), seen(bob, 20), seen(ada, 30)]);
  }),

  "recordSightings in an unknown scope, or with unstorable text, is a defect": Effect.gen(function* () {
    const sessions = yield* SessionStore;
    const { pid } = yield* newVerificationBench;
    const sighting = { chatId: ada, address, seenAt: 0 };
    yield* expectDefect(sessions.recordSightings(uniquePid(), [sighting]));
    for (const text of unstorableTexts) {
      for (const part of ["hash", "sealed", "addressKeyId"]) {
        const spoilt = { ...sighting, address: { ...address, [part]: text } };
        yield* expectDefect(sessions.recordSightings(pid, [sighting, spoilt]));
      }
    }
  }),

  "complete keeps the latest sighting of each chat user at each address": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    for (const sighting of [
      seen(ada, 2),
      seen(ada, 1),
      seen(bob, 3),
      seen(ada, 5),
      seen(ada, 4, "elsewhere"),
    ]) {
      const { chatId, seenAt: at, address: place } = sighting;
      const flow = yield* bench.proven(null, chatId);
      expectEqual((yield* bench.complete(flow, { chatId, at, address: place }))._tag, "Completed");
    }
    expectEqual(yield* sightingsIn(bench.pid), [seen(bob, 3), seen(ada, 4, "elsewhere"), seen(ada, 5)]);
  }),
};

const seen = (chatId: ChatId, seenAt: Millis, hash = "hash") => ({
  chatId,
  address: { hash, sealed: `sealed ${seenAt}`, addressKeyId: "k1" },
  seenAt,
});

const sightingsIn = Effect.fnUntraced(function* (pid: Pid) {
  const found = yield* (yield* SightingStore).findByChatIds(pid, [ada, bob]);
  return found.toSorted((one, other) => one.seenAt - other.seenAt);
});
