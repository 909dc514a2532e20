import { FlowStore } from "@accountlink/core/flow";
import { describe, expect, test } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { flowOf, gameId, storeProven } from "../sessions/test_verification.ts";
import { withTampering } from "../sqlite/test_tampering.ts";

const { id } = flowOf(1);

const unavailable = <A>(effect: Effect.Effect<A, unknown>) =>
  Effect.map(Effect.flip(effect), (error) => {
    expect(error).toMatchObject({ _tag: "StoreUnavailable", cause: { _tag: "UnreadableRow" } });
  });

describe("flows", () => {
  test.each(["chat_id = 'ada'", "game_id = ''", "sid = 'vs_'", "guild_id = '1'"])(
    "a flow is refused when its row has %s",
    (damage) =>
      withTampering((tamper) =>
        Effect.gen(function* () {
          const flows = yield* FlowStore;
          yield* storeProven(1);
          tamper(`UPDATE verification_flows SET ${damage}`);
          yield* unavailable(flows.find(id, 0));
          if (!damage.startsWith("game_id")) {
            yield* unavailable(flows.prove(id, { step: "game", gameId }, 0, id));
          }
        }),
      ),
  );

  test("a flow with a damaged challenge is refused", () =>
    withTampering((tamper) =>
      Effect.gen(function* () {
        const flows = yield* FlowStore;
        yield* storeProven(1);
        yield* flows.challenge({ stateHash: "state", flow: id, step: "chat", expiresAt: 9 });
        tamper("UPDATE sign_ins SET step = 'both'");
        yield* unavailable(flows.takeChallenge(id, "state", 1));
      }),
    ));
});
