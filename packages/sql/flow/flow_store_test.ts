import { FlowStore } from "@accountlink/core/flow";
import { Effect } from "effect";
import { expect } from "vitest";
import { flowOf, gameId, storeProven } from "../sessions/test_verification.ts";
import { Tampering, test } from "../sqlite/test_tampering.ts";

const { id } = flowOf(1);

const unavailable = <A>(effect: Effect.Effect<A, unknown>) =>
  Effect.map(Effect.flip(effect), (error) => {
    expect(error).toMatchObject({ _tag: "StoreUnavailable", cause: { _tag: "UnreadableRow" } });
  });

test.each(["chat_id = 'ada'", "game_id = ''", "sid = 'vs_'", "guild_id = '1'"])(
  "a flow is refused when its row has %s",
  function* (damage) {
    const { tamper } = yield* Tampering;
    const flows = yield* FlowStore;
    yield* storeProven(1);
    tamper(`UPDATE verification_flows SET ${damage}`);
    yield* unavailable(flows.find(id, 0));
    if (!damage.startsWith("game_id")) {
      yield* unavailable(flows.prove(id, { step: "game", game: { gameId, gameProof: "oauth" } }, 0, id));
    }
  },
);

test("a flow with a damaged challenge is refused", function* () {
  const { tamper } = yield* Tampering;
  const flows = yield* FlowStore;
  yield* storeProven(1);
  yield* flows.challenge({ stateHash: "state", flow: id, step: "chat", expiresAt: 9 });
  tamper("UPDATE sign_ins SET step = 'both'");
  yield* unavailable(flows.takeChallenge(id, "state", 1));
});
