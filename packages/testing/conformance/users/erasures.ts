import type { StoragePorts } from "@accountlink/core";
import { MemberStore } from "@accountlink/core/accounts";
import { type AccountStatus, noSettings } from "@accountlink/core/keys";
import { SignInStore } from "@accountlink/core/sign_ins";
import { erasedMark } from "@accountlink/core/users";
import { Effect, Option } from "effect";
import { makeSignIn, uniqueChatId, uniquePid, uniqueText } from "../../mod.ts";
import { expectEqual, pluck } from "../expect.ts";
import { bob, chess, origin } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newUserSteps } from "./user_steps.ts";

export const erasures: Cases<StoragePorts> = {
  "erase removes the names of the user's accounts, and revokes their keys": function* () {
    const user = yield* newUserSteps;
    const { chatId, keys } = user;
    const { account, global } = yield* user.newScopes;
    const own = { name: `chat:${chatId}`, chatId, tier: "premium" } as const;
    yield* keys.ensureAccount(own);
    const scope = yield* keys.ensureScope(own.name, { kind: "global" }, uniquePid());
    const [theirs, others] = [yield* user.insertKey(scope), yield* user.insertKey(global)];
    yield* user.set(scope, chess, bob);
    const rules = { minGameAgeDays: 3, minChatAgeDays: 4, freshProof: true, oneChatUser: true };
    const texts = { displayName: "Acme", supportUrl: "https://a.example", doneText: "Welcome" };
    yield* keys.updateSettings({ ...origin, pid: scope.pid, update: { ...rules, ...texts }, at: 6 });
    const pseudonym = `erased:${uniqueText()}`;
    const erased = yield* user.erase([], pseudonym);
    expectEqual([erased?.accounts, erased?.revokedKeys], [1, [theirs.key.id]]);

    expectEqual(yield* keys.findAccount(own.name), Option.none());
    expectEqual(
      yield* keys.findAccount(pseudonym),
      Option.some({ name: pseudonym, chatId: null, tier: "premium", status: "active", operator: false }),
    );
    const revoked = Option.getOrThrow(yield* keys.findByHash(theirs.hash));
    expectEqual(revoked.key, {
      ...theirs.key,
      scope: { ...scope, account: pseudonym },
      status: "revoked",
      name: "",
      allowIps: [],
      redirectOrigins: [],
      madeBy: null,
    });
    const ofOthers = { ...others.key, madeBy: erasedMark };
    expectEqual(Option.getOrThrow(yield* keys.findByHash(others.hash)).key, ofOthers);
    expectEqual(yield* keys.findScope(own.name, { kind: "global" }), Option.none());
    const { settings } = Option.getOrThrow(yield* keys.findScopeByPid(scope.pid));
    expectEqual(settings, { ...noSettings, ...rules });
    expectEqual((yield* user.recordOf(scope, bob))?.gameId, chess);

    expectEqual(yield* user.entries(own.name), []);
    const entries = yield* user.entries(pseudonym);
    expectEqual(
      entries.map(({ action, account: owner }) => [action, owner]),
      [
        ["key.created", pseudonym],
        ["link.set", pseudonym],
        ["account.updated", pseudonym],
        ["user.erased", pseudonym],
      ],
    );
    expectEqual(entries.at(-1)?.details, { revokedKeys: 1 });
    const logged = yield* user.entries(account.name);
    expectEqual(logged.length, 1);
    expectEqual(yield* keys.ensureAccount(own), { ...own, status: "active", operator: false });
    expectEqual(yield* keys.listKeys(own.name, 0), []);
  },

  "erase takes the user's ID from the name of an account that others own, which goes on": function* () {
    const user = yield* newUserSteps;
    const { chatId, keys } = user;
    const [members, signIns] = [yield* MemberStore, yield* SignInStore];
    const [heir, displayName] = [uniqueChatId(), uniqueText()];
    const [own, founded] = [`chat:${chatId}`, `chat:${chatId}:another`];
    const operators = yield* keys.ensureAccount({ name: own, chatId: null, tier: "free" });
    yield* keys.ensureAccount({ name: founded, chatId, tier: "free" });
    for (const change of [
      { type: "add", chatId: heir, role: "owner" },
      { type: "remove", chatId },
    ] as const)
      yield* members.change({ ...origin, account: founded, change, at: 7 });
    const actor = { type: "account", id: founded, member: heir } as const;
    yield* keys.renameAccount({ ...origin, actor, name: founded, displayName, at: 7 });
    const scope = yield* keys.ensureScope(founded, { kind: "global" }, uniquePid());
    const { hash } = yield* user.insertKey(scope);
    const signIn = makeSignIn({ chatId: heir, account: founded });
    yield* signIns.create(signIn, null);

    const pseudonym = `erased:${uniqueText()}`;
    const erased = yield* user.erase([], pseudonym);
    expectEqual([erased?.accounts, erased?.revokedKeys], [1, []]);
    expectEqual(yield* keys.findAccount(founded), Option.none());
    const account = {
      name: pseudonym,
      chatId: null,
      tier: "free",
      status: "active",
      operator: false,
    } as const;
    expectEqual(yield* keys.findAccount(pseudonym), Option.some({ ...account, displayName }));
    expectEqual(yield* keys.findAccount(own), Option.some(operators));
    expectEqual(pluck(yield* members.list(pseudonym), "chatId"), [heir]);
    const { key } = Option.getOrThrow(yield* keys.findByHash(hash));
    expectEqual([key.status, key.scope.account], ["active", pseudonym]);
    const entries = yield* user.entries(pseudonym);
    expectEqual([entries.length, JSON.stringify(entries).includes(chatId)], [5, false]);
    expectEqual(yield* signIns.find("dashboard", signIn.id, signIn.createdAt), Option.none());
  },

  "the next account of an erased owner of a suspended account is suspended, until it is restored":
    function* () {
      const user = yield* newUserSteps;
      const { chatId, ownerHash, keys } = user;
      const members = yield* MemberStore;
      const next = { name: `chat:${chatId}`, chatId, tier: "free" } as const;
      const statusOfNext = Effect.map(keys.ensureAccount(next, ownerHash), ({ status }) => status);
      const suspend = (name: string, status: AccountStatus) =>
        keys.updateAccount({ ...origin, name, update: { status }, at: 7 });
      yield* keys.ensureAccount(next);
      yield* suspend(next.name, "suspended");
      yield* user.erase([]);
      yield* keys.ensureAccount({ name: uniqueText(), chatId: uniqueChatId(), tier: "free" }, uniqueText());
      expectEqual(yield* statusOfNext, "suspended");
      yield* suspend(next.name, "active");
      yield* user.erase([]);
      expectEqual(yield* statusOfNext, "active");

      const team = uniqueText();
      yield* keys.ensureAccount({ name: team, chatId: uniqueChatId(), tier: "free" });
      yield* suspend(team, "suspended");
      for (const [role, status] of [
        ["admin", "active"],
        ["owner", "suspended"],
      ] as const) {
        const change = { type: "add", chatId, role } as const;
        yield* members.change({ ...origin, account: team, change, at: 7 });
        yield* user.erase([]);
        expectEqual(yield* statusOfNext, status);
      }
    },
};
