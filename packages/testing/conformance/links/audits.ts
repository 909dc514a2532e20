import { type StoragePorts } from "@accountlink/core";
import { unstorableTexts } from "../../mod.ts";
import { expectDefect, expectEqual } from "../expect.ts";
import { ada, chess, makeScopes } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { line, linkSteps } from "./link_steps.ts";

export const audits: Cases<StoragePorts> = {
  "an import from an unstorable source is a defect, and stores nothing": function* () {
    const { global } = yield* makeScopes;
    const links = yield* linkSteps(global);
    for (const text of unstorableTexts) {
      yield* expectDefect(links.load([line(ada, chess)], "keep", { source: text, position: 1 }));
    }
    expectEqual(yield* links.find(ada), null);
    expectEqual(yield* links.entries, []);
  },
};
