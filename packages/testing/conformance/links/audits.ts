import { AuditLog, type StoragePorts } from "@accountlink/core";
import type { AuditFilter } from "@accountlink/core/audit";
import { Effect } from "effect";
import { uniqueKeyId, unstorableTexts } from "../../mod.ts";
import { expectDefect, expectEqual } from "../expect.ts";
import { ada, bob, chess, cyd, makeScopes } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { line, linkSteps, newLinkSteps } from "./link_steps.ts";

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

  "list filters by chat user, together with scope, action and page": function* () {
    const log = yield* AuditLog;
    const { account, global, guild } = yield* makeScopes;
    const [links, elsewhere] = [yield* linkSteps(global), yield* newLinkSteps];
    yield* links.set(ada, chess, 1);
    yield* links.set(bob, chess, 2);
    yield* links.remove(bob, 3);
    yield* links.move(ada, bob, 4);
    yield* links.load([line(cyd, chess)], "keep", null, 5);
    yield* elsewhere.set(bob, chess, 6);
    const timesOf = (filter: AuditFilter, limit = 10, before: number | null = null) =>
      Effect.map(log.list(account.name, before, limit, filter), (entries) => entries.map(({ at }) => at));
    const all = { action: null, keyId: null };
    expectEqual(yield* timesOf({ ...all, chatId: ada }), [4, 1]);
    expectEqual(yield* timesOf({ ...all, chatId: bob }), [4, 3, 2]);
    expectEqual(yield* timesOf({ ...all, chatId: cyd }), []);
    expectEqual(yield* timesOf({ ...all, chatId: bob, action: "link.set" }), [2]);
    expectEqual(yield* timesOf({ ...all, chatId: bob, keyId: uniqueKeyId() }), []);
    expectEqual(yield* timesOf({ ...all, chatId: bob, pid: global.pid }), [4, 3, 2]);
    expectEqual(yield* timesOf({ ...all, chatId: bob, pid: guild.pid }), []);
    const [newest] = yield* log.list(account.name, null, 1, { ...all, chatId: bob });
    expectEqual(yield* timesOf({ ...all, chatId: bob }, 1, newest?.sequence ?? 0), [3]);
  },
};
