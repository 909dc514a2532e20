import { GameId, type StoragePorts } from "@accountlink/core";
import { MemberStore } from "@accountlink/core/accounts";
import { type AccountStatus, noSettings } from "@accountlink/core/keys";
import { SignInStore } from "@accountlink/core/sign_ins";
import { erasedMark } from "@accountlink/core/users";
import { Effect, Option } from "effect";
import { makeSignIn, uniqueChatId, uniquePid, uniqueText } from "../../mod.ts";
import { expectEqual, pluck } from "../expect.ts";
import { newRequest } from "../idempotency/idempotency_steps.ts";
import { atOnce, bob, chess, origin } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newUserSteps } from "./user_steps.ts";

const rounds = Array.from({ length: 10 }, (_, i) => i);

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

  "erase concurrent with setGame: link and audit entry are both erased, or both remain": function* () {
    const user = yield* newUserSteps;
    for (const round of rounds) {
      const { account, global, guild } = yield* user.newScopes;
      yield* user.set(global, chess);
      const sets = [global, guild].map((scope) => user.set(scope, GameId.make(`${1_000 + round}`)));
      yield* Effect.all([...sets, user.eraseAll], atOnce);
      const { records, entries } = yield* user.find;
      const named = entries.filter((entry) => entry.account === account.name);
      expectEqual(
        new Set(named.map(({ pid }) => pid)),
        new Set(records.map(({ scope }) => scope.pid)),
        "The scopes in the audit log",
      );
      yield* user.eraseAll;
    }
  },

  "erase concurrent with complete: link, sighting and audit entry are all erased, or all remain":
    function* () {
      const user = yield* newUserSteps;
      const { global, guild } = yield* user.newScopes;
      for (const _ of rounds) {
        const flows = [yield* user.prove(global, chess), yield* user.prove(guild, chess)];
        yield* Effect.all([...flows.map((flow) => user.complete(flow, chess)), user.eraseAll], atOnce);
        const { records, sightings, entries } = yield* user.find;
        const pids = records.map(({ scope }) => scope.pid);
        expectEqual(new Set(sightings.map(({ pid }) => pid)), new Set(pids), "The scopes with sightings");
        expectEqual(new Set(entries.map(({ pid }) => pid)), new Set(pids), "The scopes in the audit log");
        yield* user.eraseAll;
      }
    },

  "concurrent erase: each record, sighting and entry is erased once": function* () {
    const user = yield* newUserSteps;
    const { account, global, guild } = yield* user.newScopes;
    for (const scope of [global, guild]) {
      yield* user.set(scope, chess);
      yield* user.see(scope);
    }
    const erased = yield* Effect.all(
      rounds.map(() => user.eraseAll),
      atOnce,
    );
    const sum = (what: "records" | "sightings" | "entries") =>
      erased.reduce((total, each) => total + each[what], 0);
    expectEqual([sum("records"), sum("sightings"), sum("entries")], [2, 2, 2]);
    const ends = (yield* user.entries(account.name)).filter(({ action }) => action === "user.erased");
    expectEqual(ends.length, 2);
  },

  "erase concurrent with a request: its answer remains exactly if its write remains": function* () {
    const user = yield* newUserSteps;
    const { chatId } = user;
    for (const _ of rounds) {
      const { global } = yield* user.newScopes;
      const request = newRequest({ chatIds: [chatId] });
      const commit = user.setOnce(global, chess, request);
      yield* Effect.all([commit, user.eraseAll], atOnce);
      const record = yield* user.recordOf(global);
      const found = yield* user.findRequest(request);
      expectEqual(found?.answer === null, record === null);
      yield* user.eraseAll;
    }
  },
};
