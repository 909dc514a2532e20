import type { StoragePorts } from "@accountlink/core";
import { FlowStore, type Proof } from "@accountlink/core/flow";
import { Effect, Option } from "effect";
import { makeFlow, uniqueFlowId, uniqueText } from "../mod.ts";
import { expectDefect, expectEqual, pluck } from "./expect.ts";
import { ada, atOnce, chess } from "./scopes.ts";
import type { Cases } from "./suite.ts";
import { newVerificationSteps } from "./verification_steps.ts";

const chatProof: Proof = { step: "chat", chatId: ada };

/** As many sign-ins of a flow as are pending at most: 20, or fewer on an engine of fewer changes. */
const pendingOf = (maxChanges = 1_000): number => Math.min(20, Math.max(10, Math.floor(maxChanges / 25)));

const cases = (pending: number): Cases<StoragePorts> => ({
  "begin with a taken ID is a defect, and replaces nothing": function* () {
    const flows = yield* FlowStore;
    const { key, findFlow } = yield* newVerificationSteps;
    const flow = makeFlow(key.scope, { redirect: "first" });
    yield* flows.begin(flow);
    yield* expectDefect(flows.begin({ ...flow, redirect: "second" }));
    expectEqual(yield* findFlow(flow.id), flow);
  },

  "begin stores a flow with its challenge, or neither": function* () {
    const flows = yield* FlowStore;
    const { key, findFlow } = yield* newVerificationSteps;
    const [flow, other] = [makeFlow(key.scope), makeFlow(key.scope)];
    const challenge = { stateHash: uniqueText(), step: "chat", expiresAt: 100 } as const;
    yield* flows.begin(flow, { ...challenge, flow: flow.id });
    yield* expectDefect(flows.begin(other, { ...challenge, flow: other.id }));
    expectEqual(yield* findFlow(other.id), null);
    expectEqual(Option.isSome(yield* flows.takeChallenge(flow.id, challenge.stateHash, 0)), true);
  },

  [`at most ${pending} sign-ins of a flow are pending: a further one ends the one that ends first`]:
    function* () {
      const flows = yield* FlowStore;
      const flow = makeFlow((yield* newVerificationSteps).key.scope);
      yield* flows.begin(flow);
      const hashes = Array.from({ length: pending + 1 }, uniqueText);
      for (const [index, stateHash] of hashes.entries()) {
        yield* flows.challenge({ stateHash, flow: flow.id, step: "chat", expiresAt: 100 + index });
      }
      const taken = yield* Effect.forEach(hashes, (stateHash) => flows.takeChallenge(flow.id, stateHash, 0));
      expectEqual(
        taken.map(Option.isSome),
        hashes.map((_, index) => index > 0),
      );
    },

  "concurrent prove: exactly one succeeds": function* () {
    const steps = yield* newVerificationSteps;
    const flow = yield* steps.begin();
    const ids = Array.from({ length: 20 }, uniqueFlowId);
    const proofs = yield* Effect.forEach(ids, (id) => steps.prove(flow, chatProof, 0, id), atOnce);
    const winners = ids.filter((_, i) => proofs[i] !== null);
    expectEqual(winners.length, 1);
    const found = yield* Effect.forEach(ids, (id) => steps.findFlow(id));
    expectEqual(
      pluck(
        found.filter((each) => each !== null),
        "id",
      ),
      winners,
    );
  },

  "name refuses a flow without a chat account, and a flow after its deadline": function* () {
    const flows = yield* FlowStore;
    const steps = yield* newVerificationSteps;
    const id = yield* steps.begin(null, { expiresAt: 100 });
    expectEqual(yield* flows.name(id, chess, 0), false);
    yield* steps.prove(id, chatProof);
    expectEqual([yield* flows.name(id, chess, 99), yield* flows.name(id, chess, 100)], [true, false]);
  },

  "concurrent takeChallenge: exactly one succeeds": function* () {
    const steps = yield* newVerificationSteps;
    const [flow, state] = [yield* steps.begin(), uniqueText()];
    yield* steps.challenge(flow, state);
    const taken = yield* Effect.replicateEffect(steps.takeChallenge(flow, state), 20, atOnce);
    expectEqual(taken.filter((challenge) => challenge !== null).length, 1);
  },
});

/** `storagePropertySuite` tests proofs, names, challenges and deadlines. */
export const flowCases = (maxChanges?: number): Cases<StoragePorts> => cases(pendingOf(maxChanges));
