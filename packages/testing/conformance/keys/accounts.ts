import { ChatId, GuildId, type ScopeTarget, type StoragePorts } from "@accountlink/core";
import { MemberStore } from "@accountlink/core/accounts";
import { type Account, KeyStore, noSettings } from "@accountlink/core/keys";
import { SignInStore } from "@accountlink/core/sign_ins";
import { Effect, Option } from "effect";
import {
  hostileTexts,
  makeKey,
  makeSignIn,
  uniqueChatId,
  uniquePid,
  uniqueText,
  unstorableTexts,
} from "../../mod.ts";
import { expectDefect, expectEqual, expectThat } from "../expect.ts";
import { atOnce, makeScopes, newestOf, origin } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { insert } from "./keys.ts";

const many = Array.from({ length: 20 }, (_, i) => i);
const global: ScopeTarget = { kind: "global" };
const guild = (id: string): ScopeTarget => ({ kind: "guild", guildId: GuildId.make(id) });

const suspend = (name: string) =>
  KeyStore.use((keys) => keys.updateAccount({ ...origin, name, update: { status: "suspended" }, at: 0 }));

export const accounts: Cases<StoragePorts> = {
  "a new account is the operator's own if it says so, else if it has no chat user": function* () {
    const keys = yield* KeyStore;
    for (const [chatId, operator, expected] of [
      [null, undefined, true],
      [uniqueChatId(), undefined, false],
      [null, false, false],
    ] as const) {
      const name = uniqueText();
      const made = { name, chatId, tier: "free", ...(operator === undefined ? {} : { operator }) } as const;
      expectEqual((yield* keys.ensureAccount(made)).operator, expected);
      expectEqual(Option.getOrThrow(yield* keys.findAccount(name)).operator, expected);
    }
  },

  "renameAccount gives an account a name that no other account has": function* () {
    const keys = yield* KeyStore;
    const [one, other, club] = [uniqueText(), uniqueText(), uniqueText()];
    for (const name of [one, other])
      yield* keys.ensureAccount({ name, chatId: uniqueChatId(), tier: "free" });
    const rename = (name: string, displayName: string) =>
      keys.renameAccount({ ...origin, name, displayName, at: 5 });
    const named = (name: string) =>
      Effect.map(keys.findAccount(name), (found) => Option.getOrThrow(found).displayName);
    expectEqual(yield* rename(uniqueText(), club), "unknown");
    expectEqual(yield* rename(one, club), "renamed");
    expectEqual([yield* named(one), yield* named(other)], [club, undefined]);
    expectEqual(yield* rename(one, club), "unchanged");
    for (const taken of [club, one]) expectEqual(yield* rename(other, taken), "taken");
    expectEqual([yield* rename(one, one), yield* named(one)], ["renamed", undefined]);
    const sought = uniqueText();
    const outcomes = yield* Effect.forEach([one, other], (name) => rename(name, sought), atOnce);
    expectEqual(outcomes.toSorted(), ["renamed", "taken"]);
    const chatId = Option.getOrThrow(yield* keys.findAccount(one)).chatId as ChatId;
    const [membership] = yield* MemberStore.use((members) => members.findByChatId(chatId));
    expectEqual(membership?.account.displayName, yield* named(one));
    const log = yield* newestOf(one);
    expectEqual(
      log.map(({ action, details }) => [action, details["name"]]),
      [
        // Either account wins the race for the name.
        ...(outcomes[0] === "renamed" ? [["account.updated", sought]] : []),
        ["account.updated", one],
        ["account.updated", club],
      ],
    );
    for (const text of unstorableTexts) yield* expectDefect(rename(one, text));
  },

  "endAccount revokes keys, ends memberships and sign-ins, and keeps the log without names and settings":
    function* () {
      const keys = yield* KeyStore;
      const [members, signIns] = [yield* MemberStore, yield* SignInStore];
      const [name, pseudonym, chatId, mate] = [
        uniqueText(),
        `erased:${uniqueText()}`,
        uniqueChatId(),
        uniqueChatId(),
      ];
      const owner = { type: "account", id: name, member: chatId } as const;
      const end = keys.endAccount({ ...origin, actor: owner, name, pseudonym, at: 5 });
      expectEqual(yield* end, Option.none());
      yield* keys.ensureAccount({ name, chatId, tier: "free" });
      yield* keys.renameAccount({ ...origin, name, displayName: uniqueText(), at: 5 });
      yield* members.change({
        ...origin,
        account: name,
        change: { type: "add", chatId: mate, role: "admin" },
        at: 5,
      });
      const scope = yield* keys.ensureScope(name, global, uniquePid());
      const update = { displayName: "Acme", doneText: "Welcome", minGameAgeDays: 3, freshProof: true };
      yield* keys.updateSettings({ ...origin, pid: scope.pid, update, at: 5 });
      const made = makeKey(scope);
      yield* insert(made);
      const signIn = makeSignIn({ chatId: mate, account: name });
      yield* signIns.create(signIn, null);
      expectEqual(yield* end, Option.some([made.id]));
      expectEqual(yield* keys.findAccount(name), Option.none());
      expectEqual((yield* keys.findById(made.id)).pipe(Option.getOrThrow).status, "revoked");
      const left = Option.getOrThrow(yield* keys.findScopeByPid(scope.pid));
      expectEqual(left.settings, noSettings);
      for (const user of [chatId, mate]) expectEqual(yield* members.findByChatId(user), []);
      expectEqual(yield* members.list(pseudonym), []);
      expectEqual(yield* signIns.find("dashboard", signIn.id, signIn.createdAt), Option.none());
      const log = yield* newestOf(pseudonym);
      expectEqual(log[0]?.details, { status: "deleted", revokedKeys: 1 });
      expectThat(
        log.every(({ actor }) => actor.id !== name),
        "no entry names the account",
      );
      expectEqual(yield* end, Option.none());
    },

  "concurrent ensureAccount: all return the one that was created": function* () {
    const keys = yield* KeyStore;
    const name = uniqueText();
    const made = yield* Effect.forEach(
      many,
      (i) => keys.ensureAccount({ name, chatId: ChatId.make(`${10_000 + i}`), tier: "free" }),
      atOnce,
    );
    const stored = Option.getOrThrow(yield* keys.findAccount(name));
    expectEqual(
      made,
      many.map(() => stored),
    );
  },

  "account names keep every Unicode text distinct": function* () {
    const keys = yield* KeyStore;
    const prefix = uniqueText();
    const named = hostileTexts.map(
      (text, i): Account => ({
        // An engine may bound the parts of its keys.
        name: `${prefix}${text.slice(0, 1_000)}`,
        chatId: ChatId.make(`${10_000 + i}`.padEnd(32, "1")),
        tier: i % 2 === 0 ? "free" : "premium",
        status: "active",
        operator: false,
      }),
    );
    for (const account of named) {
      expectEqual(yield* keys.findAccount(account.name), Option.none());
      expectEqual(yield* keys.ensureAccount(account), account);
    }
    for (const account of named) {
      expectEqual(yield* keys.findAccount(account.name), Option.some(account));
      const scope = yield* keys.ensureScope(account.name, global, uniquePid());
      expectEqual(scope.account, account.name);
      expectEqual(yield* keys.findScope(account.name, global), Option.some(scope));
    }
  },

  "an unstorable account name is a defect": function* () {
    const keys = yield* KeyStore;
    const prefix = uniqueText();
    yield* keys.ensureAccount({ name: `${prefix}\uFFFD`, chatId: null, tier: "free" });
    yield* keys.ensureAccount({ name: prefix, chatId: null, tier: "free" });
    for (const text of unstorableTexts) {
      const name = `${prefix}${text}`;
      yield* expectDefect(keys.ensureAccount({ name, chatId: null, tier: "free" }));
      yield* expectDefect(keys.findAccount(name));
      yield* expectDefect(keys.listScopes(name));
    }
  },

  "ensureScope creates one scope for each target of an account": function* () {
    const keys = yield* KeyStore;
    const { account } = yield* makeScopes;
    const targets = [
      global,
      guild("700000000000000001"),
      guild("700000000000000002"),
      guild("0700000000000000001"),
    ];
    const { name } = yield* keys.ensureAccount({ ...account, name: uniqueText() });
    for (const target of targets) {
      expectEqual(yield* keys.findScope(name, target), Option.none());
      const pid = uniquePid();
      const scope = { ...target, pid, account: name };
      expectEqual(yield* keys.ensureScope(name, target, pid), scope);
      expectEqual(yield* keys.ensureScope(name, target, uniquePid()), scope);
      expectEqual(yield* keys.findScope(name, target), Option.some(scope));
      expectEqual(yield* keys.findScopeByPid(scope.pid), Option.some({ scope, settings: noSettings }));
    }
  },

  "concurrent ensureScope: all return the one that was created": function* () {
    const keys = yield* KeyStore;
    const { account } = yield* makeScopes;
    const target = guild("700000000000000009");
    const made = yield* Effect.forEach(
      many,
      () => keys.ensureScope(account.name, target, uniquePid()),
      atOnce,
    );
    const stored = Option.getOrThrow(yield* keys.findScope(account.name, target));
    expectEqual(
      made,
      many.map(() => stored),
    );
  },

  "a scope of an unknown account, or with a duplicate pid, is a defect": function* () {
    const keys = yield* KeyStore;
    const { account, global: taken } = yield* makeScopes;
    const nobody = uniqueText();
    yield* expectDefect(keys.ensureScope(nobody, global, uniquePid()));
    expectEqual(yield* keys.findScope(nobody, global), Option.none());
    const target = guild("700000000000000003");
    yield* expectDefect(keys.ensureScope(account.name, target, taken.pid));
    expectEqual(yield* keys.findScope(account.name, target), Option.none());
  },

  "concurrent insertKey and suspension: every key is suspended": function* () {
    const keys = yield* KeyStore;
    for (let round = 0; round < 10; round++) {
      const { account, global: scope } = yield* makeScopes;
      const made = Array.from({ length: 6 }, () => makeKey(scope));
      yield* Effect.all([Effect.forEach(made, (key) => insert(key), atOnce), suspend(account.name)], atOnce);
      for (const key of made)
        expectEqual(yield* keys.findById(key.id), Option.some({ ...key, suspended: true }));
    }
  },

  "concurrent suspensions: exactly one changes the account": function* () {
    const { account, global: scope } = yield* makeScopes;
    yield* insert(makeKey(scope));
    const updates = yield* Effect.replicateEffect(suspend(account.name), 10, atOnce);
    expectEqual(updates.filter(Option.exists(({ changed }) => changed)).length, 1);
  },

  "listAccounts returns all accounts by name": function* () {
    const keys = yield* KeyStore;
    const [chatId, prefix] = [uniqueChatId(), uniqueText()];
    for (const name of ["b", "a", "c"]) {
      yield* keys.ensureAccount({ name: `${prefix}${name}`, chatId, tier: "free" });
    }
    const named = (name: string) =>
      ({ name: `${prefix}${name}`, chatId, tier: "free", status: "active", operator: false }) as const;
    expectEqual(
      (yield* keys.listAccounts()).filter((account) => account.chatId === chatId),
      ["a", "b", "c"].map(named),
    );
  },
};
