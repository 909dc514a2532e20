import { type StoragePorts } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { hostileTexts, uniquePid, unstorableTexts } from "../../mod.ts";
import { expectDefect, expectEqual } from "../expect.ts";
import { makeScopes, origin } from "../scopes.ts";
import type { Cases } from "../suite.ts";

export const settings: Cases<StoragePorts> = {
  "settings keep every Unicode text, and unstorable text is a defect": function* () {
    const keys = yield* KeyStore;
    const { global } = yield* makeScopes;
    const write = (doneText: string) =>
      keys.updateSettings({ ...origin, pid: global.pid, update: { doneText }, at: 0 });
    for (const text of hostileTexts) expectEqual((yield* write(text)).doneText, text);
    const before = yield* keys.findScopeByPid(global.pid);
    for (const text of unstorableTexts) yield* expectDefect(write(text));
    expectEqual(yield* keys.findScopeByPid(global.pid), before);
    const unknown = { ...origin, pid: uniquePid(), update: { doneText: "x" }, at: 0 };
    yield* expectDefect(keys.updateSettings(unknown));
  },
};
