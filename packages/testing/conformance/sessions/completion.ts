import type { ChatId, Pid, StoragePorts } from "@accountlink/core";
import { SightingStore } from "@accountlink/core/alts";
import { FlowStore } from "@accountlink/core/flow";
import { SessionStore } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { uniquePid, unstorableTexts } from "../../mod.ts";
import { expectDefect, expectEqual } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { ada, bob } from "../world.ts";
import { newVerificationBench } from "./verification_bench.ts";

const address = { hash: "hash", sealed: "sealed", addressKeyId: "k1" };

export const completion: Cases<StoragePorts> = {
  "complete logs the user as the actor": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const actor = { type: "user", id: ada } as const;
    yield* bench.complete(yield* bench.proven(), { actor, requestId: null });
    expectEqual(
      (yield* bench.entries).map(({ actor: who, requestId }) => [who, requestId]),
      [[actor, null]],
    );
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
