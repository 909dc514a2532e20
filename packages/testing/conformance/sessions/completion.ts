import type { ChatId, Pid, StoragePorts } from "@accountlink/core";
import { SightingStore } from "@accountlink/core/alts";
import { FlowStore } from "@accountlink/core/flow";
import { SessionStore } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { uniquePid, unstorableTexts } from "../../mod.ts";
import { expectDefect, expectEqual } from "../expect.ts";
import { ada, bob } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newVerificationSteps } from "./verification_steps.ts";

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

  "recordSightings in an unknown scope, or with unstorable text, is a defect": function* () {
    const sessions = yield* SessionStore;
    const { pid } = yield* newVerificationSteps;
    const sighting = { chatId: ada, address, seenAt: 0 };
    yield* expectDefect(sessions.recordSightings(uniquePid(), [sighting]));
    for (const text of unstorableTexts) {
      for (const part of ["hash", "sealed", "addressKeyId"]) {
        const spoilt = { ...sighting, address: { ...address, [part]: text } };
        yield* expectDefect(sessions.recordSightings(pid, [sighting, spoilt]));
      }
    }
  },

  "complete keeps the latest sighting of each chat user at each address": function* () {
    const steps = yield* newVerificationSteps;
    for (const sighting of [
      seen(ada, 2),
      seen(ada, 1),
      seen(bob, 3),
      seen(ada, 5),
      seen(ada, 4, "elsewhere"),
    ]) {
      const { chatId, seenAt: at, address: place } = sighting;
      const flow = yield* steps.proven(null, chatId);
      expectEqual((yield* steps.complete(flow, { chatId, at, address: place }))._tag, "Completed");
    }
    expectEqual(yield* sightingsIn(steps.pid), [seen(bob, 3), seen(ada, 4, "elsewhere"), seen(ada, 5)]);
  },
};

const seen = (chatId: ChatId, seenAt: Millis, hash = "hash") => ({
  chatId,
  address: { hash, sealed: `sealed ${seenAt}`, addressKeyId: "k1" },
  seenAt,
});

const sightingsIn = Effect.fnUntraced(function* (pid: Pid) {
  const found = yield* (yield* SightingStore).findByChatIds(pid, [ada, bob], 10);
  return found.toSorted((one, other) => one.seenAt - other.seenAt);
});
