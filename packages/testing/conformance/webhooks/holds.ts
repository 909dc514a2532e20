import type { StoragePorts } from "@accountlink/core";
import { Effect } from "effect";
import { uniqueText } from "../../mod.ts";
import { expectEqual, expectThat } from "../expect.ts";
import { atOnce } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newWebhookSteps, start } from "./webhook_steps.ts";

export const holds: Cases<StoragePorts> = {
  "concurrent hold: exactly one node holds the webhook": function* () {
    const { add, hold, held } = yield* newWebhookSteps;
    const { id } = yield* add();
    const nodes = Array.from({ length: 5 }, uniqueText);
    const holding = yield* Effect.forEach(
      nodes,
      (node) => Effect.map(hold(node), (all) => held(id, all)),
      atOnce,
    );
    expectEqual(holding.filter((webhook) => webhook !== null).length, 1);
  },

  "hold takes at most its limit of new webhooks per call": function* () {
    const { add, hold } = yield* newWebhookSteps;
    for (let count = 0; count < 3; count++) yield* add();
    const node = uniqueText();
    expectEqual((yield* hold(node, start, start + 7_000, 2)).length, 2);
    expectThat((yield* hold(node, start, start + 7_000, 2)).length > 2, "another call takes more");
  },
};
