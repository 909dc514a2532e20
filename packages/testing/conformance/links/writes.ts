import { ChatId, type StoragePorts } from "@accountlink/core";
import { Effect } from "effect";
import { uniquePid } from "../../mod.ts";
import { expectDefect, expectEqual } from "../expect.ts";
import { ada, chess, makeScopes } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { line, linkSteps, newLinkSteps } from "./link_steps.ts";

export const writes: Cases<StoragePorts> = {
  "deleteScope deletes a large scope, counts its records and logs one audit entry": function* () {
    const links = yield* newLinkSteps;
    const lines = Array.from({ length: 1_300 }, (_, i) => line(ChatId.make(`${100_000 + i}`), chess));
    yield* links.load(lines);
    expectEqual(yield* links.deleteAll(), 1_300);
    expectEqual(yield* links.all, []);
    const details = (yield* links.entries).filter(({ action }) => action === "scope.deleted");
    expectEqual(
      details.map((entry) => entry.details),
      [{ deletedRecords: 1_300 }],
    );
  },

  "a write to an unknown scope is a defect, and stores nothing": function* () {
    const { global } = yield* makeScopes;
    const links = yield* linkSteps({ ...global, pid: uniquePid() });
    const source = { source: links.pid, position: 1 };
    yield* expectDefect(links.set(ada, chess));
    yield* expectDefect(links.load([line(ada, chess)], "replace", source));
    yield* expectDefect(links.deleteAll());
    expectEqual(yield* links.find(ada), null);
    expectEqual(yield* links.position(source.source), 0);
    expectEqual(yield* links.entries, []);
  },
};
