import type { StoragePorts } from "@accountlink/core";
import { MemberStore } from "@accountlink/core/accounts";
import type { AccountStatus } from "@accountlink/core/keys";
import { erasedMark } from "@accountlink/core/users";
import { Effect, Option } from "effect";
import { uniqueChatId, uniquePid, uniqueText } from "../../mod.ts";
import { expectEqual, pluck } from "../expect.ts";
import { bob, chess, cyd, origin, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newUserSteps } from "./user_steps.ts";

const nothing = {
  messages: 0,
  records: 0,
  sightings: 0,
  browsers: 0,
  reviews: 0,
  entries: 0,
  accounts: 0,
  revokedKeys: [],
};

export const erasures: Cases<StoragePorts> = {
  "erase deletes only the user's records and sightings, in every scope": function* () {
    const user = yield* newUserSteps;
    const { global, guild } = yield* user.newScopes;
    for (const scope of [global, guild]) {
      yield* user.set(scope, chess);
      yield* user.set(scope, chess, bob);
      yield* user.see(scope, "hash");
      yield* user.see(scope, "other");
      yield* user.seeIn(scope, "browser");
    }
    yield* user.remove(guild);
    const erased = yield* user.erase([global.pid, guild.pid]);
    expectEqual(erased, { ...nothing, records: 2, sightings: 4, browsers: 2, entries: 3 });
    const { records, sightings, browsers } = yield* user.find;
    expectEqual([records, sightings, browsers], [[], [], []]);
    for (const scope of [global, guild]) {
      expectEqual(yield* user.recordOf(scope), null);
      expectEqual(yield* user.chatsOf(scope, chess), new Map([[chess, [bob]]]));
    }
    const { record } = yield* user.set(global, poker);
    expectEqual(record.linkVersion, 1);
  },

  "erase deletes only the reviews of pairs with the user": function* () {
    const user = yield* newUserSteps;
    const { account, global, guild } = yield* user.newScopes;
    const other = uniqueChatId();
    for (const scope of [global, guild]) yield* user.review(scope, bob);
    yield* user.review(guild, cyd);
    yield* user.review(guild, bob, other);
    expectEqual(yield* user.erase([]), { ...nothing, reviews: 3, entries: 3 });
    expectEqual((yield* user.find).reviews, []);
    expectEqual(yield* user.reviewsOf(global, bob), []);
    expectEqual(pluck(yield* user.reviewsOf(guild, bob), "otherChatId"), [other]);
    const ends = (yield* user.entries(account.name)).filter(({ action }) => action === "user.erased");
    expectEqual(new Set(ends.map(({ details }) => details["reviews"])), new Set([1, 2]));
  },

  "erase deletes only the user's sign-ins": function* () {
    const user = yield* newUserSteps;
    const [theirs, others] = [yield* user.signIn(), yield* user.signIn(bob)];
    yield* user.erase([]);
    expectEqual(yield* user.findSignIn(theirs), null);
    expectEqual(yield* user.findSignIn(others), others);
    expectEqual((yield* user.find).signIns, []);
  },

  "erase replaces the user with [erased] in every audit log, and logs an entry in each scope": function* () {
    const user = yield* newUserSteps;
    const { chatId } = user;
    const [one, other] = [yield* user.newScopes, yield* user.newScopes];
    yield* user.set(one.global, chess);
    yield* user.set(one.global, poker);
    yield* user.move(one.global, chatId, bob);
    yield* user.set(one.global, poker, bob);
    yield* user.complete(yield* user.prove(other.guild, chess), chess);
    yield* user.erase([one.global.pid, other.guild.pid]);

    const { entries } = yield* user.find;
    expectEqual(entries, []);
    const [set, replaced, moved, end, ...rest] = yield* user.entries(one.account.name);
    expectEqual(set?.details, { chatId: erasedMark, gameId: erasedMark, previousGameId: null });
    expectEqual(replaced?.details, { chatId: erasedMark, gameId: erasedMark, previousGameId: erasedMark });
    expectEqual(moved?.details, { chatId: erasedMark, newChatId: bob, gameId: erasedMark });
    expectEqual(rest, []);
    expectEqual(
      [end?.action, end?.pid, end?.at, end?.actor, end?.requestId],
      ["user.erased", one.global.pid, 7, origin.actor, origin.requestId],
    );
    expectEqual(end?.details, { records: 1, sightings: 0, browsers: 0, reviews: 0, entries: 3 });
    const [proven, last] = yield* user.entries(other.account.name);
    expectEqual<unknown>(proven?.actor, { type: "user", id: erasedMark });
    expectEqual(last?.details, { records: 1, sightings: 1, browsers: 1, reviews: 0, entries: 1 });
  },

  "erase ends the user's unfinished sessions and flows, and deletes final sessions": function* () {
    const user = yield* newUserSteps;
    const { chatId } = user;
    const { global, guild } = yield* user.newScopes;
    const [named, proven] = [yield* user.create(global, { chatId }), yield* user.create(guild)];
    const untouched = yield* user.create(global, { chatId: bob });
    const [cancelled, done] = [yield* user.create(guild, { chatId }), yield* user.create(guild)];
    yield* user.cancel(cancelled);
    yield* user.complete(yield* user.prove(guild, chess, done), chess);
    const flows = [yield* user.prove(guild, poker, proven), yield* user.prove(global, poker)];
    yield* user.erase([guild.pid]);

    for (const session of [named, proven]) {
      const found = yield* user.findSession(session);
      expectEqual([found?.state, found?.error, found?.chatId], ["failed", "link_removed", null]);
    }
    for (const session of [cancelled, done]) expectEqual(yield* user.findSession(session), null);
    expectEqual(yield* user.findSession(untouched), untouched);
    const found = yield* user.find;
    expectEqual([found.sessions, found.flows], [[], []]);
    for (const flow of flows) {
      const { _tag } = yield* user.complete(flow, poker);
      expectEqual(_tag === "SessionOver" || _tag === "LinkChanged", true, `That ${_tag} is a refusal`);
    }
    expectEqual(yield* user.recordOf(global), null);
  },

  "erase removes the names of the user's accounts, and revokes their keys": function* () {
    const user = yield* newUserSteps;
    const { chatId, keys } = user;
    const { account, global } = yield* user.newScopes;
    const own = { name: `chat:${chatId}`, chatId, tier: "premium" } as const;
    yield* keys.ensureAccount(own);
    const scope = yield* keys.ensureScope(own.name, { kind: "global" }, uniquePid());
    const [theirs, others] = [yield* user.insertKey(scope), yield* user.insertKey(global)];
    yield* user.set(scope, chess, bob);
    const pseudonym = `erased:${uniqueText()}`;
    const erased = yield* user.erase([], pseudonym);
    expectEqual(erased, { ...nothing, accounts: 1, revokedKeys: [theirs.key.id] });

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
    });
    expectEqual(Option.getOrThrow(yield* keys.findByHash(others.hash)).key, others.key);
    expectEqual(yield* keys.findScope(own.name, { kind: "global" }), Option.none());
    expectEqual((yield* user.recordOf(scope, bob))?.gameId, chess);

    expectEqual(yield* user.entries(own.name), []);
    const entries = yield* user.entries(pseudonym);
    expectEqual(
      entries.map(({ action, account: owner }) => [action, owner]),
      [
        ["key.created", pseudonym],
        ["link.set", pseudonym],
        ["user.erased", pseudonym],
      ],
    );
    expectEqual(entries.at(-1)?.details, { revokedKeys: 1 });
    const logged = yield* user.entries(account.name);
    expectEqual(logged.length, 1);
    expectEqual(yield* keys.ensureAccount(own), { ...own, status: "active", operator: false });
    expectEqual(yield* keys.listKeys(own.name, 0), []);
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

  "erase changes nothing if the user has a record in a scope that it does not name": function* () {
    const user = yield* newUserSteps;
    const { account, global, guild } = yield* user.newScopes;
    yield* user.set(global, chess);
    yield* user.set(guild, poker);
    yield* user.see(guild, "hash");
    const before = [yield* user.find, yield* user.entries(account.name)];
    expectEqual(yield* user.erase([guild.pid]), null);
    expectEqual([yield* user.find, yield* user.entries(account.name)], before);
  },

  "erase of an unknown user logs nothing": function* () {
    const user = yield* newUserSteps;
    const { account, global } = yield* user.newScopes;
    expectEqual(yield* user.erase([global.pid]), nothing);
    expectEqual(yield* user.entries(account.name), []);
    yield* user.set(global, chess);
    yield* user.erase([global.pid]);
    const entries = yield* user.entries(account.name);
    expectEqual(yield* user.erase([global.pid]), nothing);
    expectEqual(yield* user.entries(account.name), entries);
  },
};
