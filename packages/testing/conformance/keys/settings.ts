import { AuditLog, type StoragePorts } from "@accountlink/core";
import { KeyStore, noSettings } from "@accountlink/core/keys";
import { Option } from "effect";
import { hostileTexts, uniquePid, uniqueText, unstorableTexts } from "../../mod.ts";
import { expectDefect, expectEqual } from "../expect.ts";
import { makeScopes, origin } from "../scopes.ts";
import type { Cases } from "../suite.ts";

export const settings: Cases<StoragePorts> = {
  "listScopes returns the scopes of an account, global first, initially without settings": function* () {
    const keys = yield* KeyStore;
    const { account, global, guild } = yield* makeScopes;
    yield* makeScopes;
    expectEqual(yield* keys.listScopes(account.name), [
      { scope: global, settings: noSettings },
      { scope: guild, settings: noSettings },
    ]);
    expectEqual(yield* keys.listScopes(uniqueText()), []);
    expectEqual(yield* keys.findScopeByPid(uniquePid()), Option.none());
  },

  "updateSettings changes only the given fields, and logs the changed ones": function* () {
    const [keys, log] = [yield* KeyStore, yield* AuditLog];
    const { account, global, guild } = yield* makeScopes;
    const write = (update: Partial<typeof noSettings>) =>
      keys.updateSettings({ ...origin, pid: guild.pid, update, at: 7 });
    const first = { ...noSettings, displayName: "Makers", doneText: "Say hello." };
    expectEqual(yield* write({ displayName: "Makers", doneText: "Say hello.", supportUrl: null }), first);
    expectEqual(yield* write({ displayName: "Makers" }), first);
    const second = { displayName: null, supportUrl: "https://help.example/", doneText: "Say hello." };
    expectEqual(yield* write({ displayName: null, supportUrl: "https://help.example/" }), second);
    expectEqual(yield* keys.findScopeByPid(guild.pid), Option.some({ scope: guild, settings: second }));
    expectEqual(yield* keys.listScopes(account.name), [
      { scope: global, settings: noSettings },
      { scope: guild, settings: second },
    ]);
    const entryOf = (details: Partial<typeof noSettings>) => ({
      ...origin,
      at: 7,
      account: account.name,
      pid: guild.pid,
      action: "account.updated",
      details,
    });
    const entries = yield* log.list(account.name, null, 10);
    expectEqual<ReadonlyArray<unknown>>(entries.map(({ sequence: _, ...entry }) => entry).toReversed(), [
      entryOf({ displayName: "Makers", doneText: "Say hello." }),
      entryOf({ displayName: null, supportUrl: "https://help.example/" }),
    ]);
  },

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
