import type { StoragePorts } from "@accountlink/core";
import { FlowStore } from "@accountlink/core/flow";
import { type GameProof, gameProofs } from "@accountlink/core/links";
import { SessionStore } from "@accountlink/core/sessions";
import { uniquePid, unstorableTexts } from "../../mod.ts";
import { expectDefect, expectEqual } from "../expect.ts";
import { ada, chess, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newVerificationSteps } from "./verification_steps.ts";

const address = { hash: "hash", sealed: "sealed", addressKeyId: "k1" };

const wrongProof = (proof: GameProof): GameProof => (proof === "oauth" ? "session" : "oauth");

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

  "complete stores how the game account was proven": function* () {
    const steps = yield* newVerificationSteps;
    for (const [at, proof] of gameProofs.entries()) {
      const session = yield* steps.create();
      const flow = yield* steps.begin(session.id);
      const game = { gameId: at % 2 === 0 ? chess : poker, gameProof: proof };
      // One flow proves both accounts together, the next one proves one after the other.
      yield* steps.prove(flow, { step: "chat", chatId: ada, ...(at % 2 === 0 && { game }) });
      if (at % 2 !== 0) yield* steps.prove(flow, { step: "game", game });
      const { gameId } = game;
      expectEqual((yield* steps.complete(flow, { gameId, proof: wrongProof(proof) }))._tag, "FlowGone");
      expectEqual((yield* steps.complete(flow, { gameId, proof, at }))._tag, "Completed");
      expectEqual((yield* steps.find(session.id))?.proof, proof, "The proof of the session");
      expectEqual((yield* steps.links.find(ada))?.proof, proof, "The proof of the link");
      expectEqual((yield* steps.entries).at(-1)?.details["proof"], proof, "The proof in the audit entry");
    }
    const session = yield* steps.create();
    const kept = yield* steps.proven(session.id);
    yield* steps.complete(kept, { keeps: true });
    expectEqual((yield* steps.find(session.id))?.proof, null, "The proof of a link that is kept");
  },

  "complete refuses another game user than the one whom the session names": function* () {
    const steps = yield* newVerificationSteps;
    const session = yield* steps.create({ gameId: poker });
    expectEqual(yield* steps.find(session.id), session);
    const flow = yield* steps.proven(session.id);
    expectEqual((yield* steps.complete(flow))._tag, "FlowGone");
    expectEqual(yield* steps.find(session.id), session);
    const game = { gameId: poker, gameProof: "session" } as const;
    const named = yield* steps.prove(flow, { step: "chat", chatId: ada, game });
    expectEqual([named?.gameId, named?.gameProof, named?.seenVersion], [poker, "session", 0]);
    expectEqual((yield* steps.complete(flow, { gameId: poker, proof: "session" }))._tag, "Completed");
  },
};
