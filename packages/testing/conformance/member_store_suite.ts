import type { ChatId, StoragePorts } from "@accountlink/core";
import { type MemberChange, type MemberRole, MemberStore, maxMembers } from "@accountlink/core/accounts";
import { KeyStore } from "@accountlink/core/keys";
import { SignInStore, type SiteSignIn } from "@accountlink/core/sign_ins";
import { UserStore } from "@accountlink/core/users";
import { Effect, Option } from "effect";
import { makeKey, makeSignIn, uniqueChatId, uniquePid, uniqueText } from "../mod.ts";
import { expectEqual, expectThat, pluck } from "./expect.ts";
import { ada, atOnce, eraseUser, newestOf, origin } from "./scopes.ts";
import type { Cases } from "./suite.ts";

const changed = { revokedKeys: [] };

/** Changes the members of an account. The actor is ada. */
const change = (account: string, asked: MemberChange, at = 7) => {
  const actor = { type: "account", id: account, member: ada } as const;
  return MemberStore.use((store) => store.change({ actor, requestId: null, account, change: asked, at }));
};

const add = (account: string, chatId: ChatId, role: MemberRole, at = 7) =>
  change(account, { type: "add", chatId, role }, at);

const rolesOf = (account: string) =>
  MemberStore.use((store) =>
    Effect.map(store.list(account), (members) => members.map(({ chatId, role }) => [chatId, role] as const)),
  );

const accountsOf = (chatId: ChatId) =>
  MemberStore.use((store) =>
    Effect.map(store.findByChatId(chatId), (found) => found.map(({ account }) => account.name)),
  );

/** Adds a member as an operator does: the user counts as having accepted. */
const addAccepted = (account: string, chatId: ChatId, role: MemberRole) =>
  MemberStore.use((store) =>
    store.change({ ...origin, account, change: { type: "add", chatId, role }, at: 7 }),
  );

/** Creates an account that belongs to a new chat user. */
const newTeam = Effect.fnUntraced(function* (name = uniqueText()) {
  const chatId = uniqueChatId();
  yield* KeyStore.use((keys) => keys.ensureAccount({ name, chatId, tier: "free" }));
  return { name, chatId };
});

const signIn = Effect.fnUntraced(function* (account: string, chatId: ChatId) {
  const made = makeSignIn({ account, chatId });
  yield* SignInStore.use((store) => store.create(made, null));
  return made;
});

const accountOf = ({ id }: SiteSignIn) =>
  SignInStore.use((store) =>
    Effect.map(store.find("dashboard", id, 0), (found) =>
      Option.getOrNull(Option.map(found, ({ account }) => account)),
    ),
  );

export const memberCases: Cases<StoragePorts> = {
  "an invitation names its inviter, and is accepted once by choosing the account": function* () {
    const [team, own] = [yield* newTeam(), yield* newTeam()];
    yield* add(team.name, own.chatId, "admin", 8);
    const store = yield* MemberStore;
    const invited = (yield* store.list(team.name)).find(({ chatId }) => chatId === own.chatId);
    expectEqual(invited, {
      chatId: own.chatId,
      role: "admin",
      scopes: null,
      since: 8,
      chosenAt: null,
      invitedBy: ada,
    });
    const used = [yield* signIn(own.name, own.chatId), yield* signIn(own.name, own.chatId)];
    const choose = ({ id }: SiteSignIn) =>
      store.choose({ signIn: id, chatId: own.chatId, account: team.name, requestId: "r", at: 9 });
    expectEqual(yield* Effect.forEach(used, choose, atOnce), ["chosen", "chosen"]);
    const [entry, ...earlier] = yield* newestOf(team.name);
    expectEqual(
      { action: entry?.action, actor: entry?.actor, details: entry?.details, requestId: entry?.requestId },
      {
        action: "member.accepted",
        actor: { type: "account", id: team.name, member: own.chatId },
        details: { chatId: own.chatId, role: "admin" },
        requestId: "r",
      },
    );
    expectEqual(pluck(earlier, "action"), ["member.added"]);
    expectEqual(yield* change(team.name, { type: "decline", chatId: own.chatId }, 9), "unknown");
  },

  "an invitation lapses after fourteen days": function* () {
    const [team, own] = [yield* newTeam(), yield* newTeam()];
    const lapsesAt = 7 + 14 * 86_400_000;
    yield* add(team.name, own.chatId, "admin");
    const used = yield* signIn(own.name, own.chatId);
    const store = yield* MemberStore;
    const choose = (at: number) =>
      store.choose({ signIn: used.id, chatId: own.chatId, account: team.name, requestId: null, at });
    expectEqual(yield* choose(lapsesAt), "unknown");
    expectEqual(yield* accountOf(used), own.name);
    expectEqual(yield* add(team.name, own.chatId, "moderator", lapsesAt - 1), "member_exists");
    expectEqual(yield* add(team.name, own.chatId, "moderator", lapsesAt), changed);
    expectEqual(yield* choose(lapsesAt), "chosen");
  },

  "nobody accepts a fourth free account to run, or is promoted in it; moderators, Premium and operators do":
    function* () {
      const chatId = uniqueChatId();
      const teams = yield* Effect.forEach(Array.from({ length: 7 }), () => newTeam());
      const [first = "", second = "", third = "", fourth = "", watched = "", paying = "", given = ""] = pluck(
        teams,
        "name",
      );
      const used = yield* signIn(first, chatId);
      const store = yield* MemberStore;
      const accept = (account: string) =>
        store.choose({ signIn: used.id, chatId, account, requestId: null, at: 9 });
      for (const [name, role] of [
        [first, "owner"],
        [second, "admin"],
        [third, "moderator"],
        [fourth, "admin"],
        [watched, "moderator"],
        [paying, "owner"],
      ] as const) {
        yield* add(name, chatId, role);
      }
      yield* KeyStore.use((keys) =>
        keys.updateAccount({ ...origin, name: paying, update: { tier: "premium" }, at: 8 }),
      );
      for (const name of [first, second, third, watched, paying]) expectEqual(yield* accept(name), "chosen");
      expectEqual(yield* change(third, { type: "set_role", chatId, role: "owner" }), changed);
      expectEqual(yield* accept(fourth), "account_limit");
      expectEqual(yield* accountOf(used), paying);
      expectEqual(yield* change(watched, { type: "set_role", chatId, role: "admin" }), "account_limit");
      expectEqual(yield* change(second, { type: "set_role", chatId, role: "owner" }), changed);
      expectEqual(yield* addAccepted(given, chatId, "owner"), changed);
      expectEqual(yield* change(first, { type: "remove", chatId }), changed);
      expectEqual(yield* change(given, { type: "remove", chatId }), changed);
      expectEqual(yield* accept(fourth), "chosen");
    },

  "concurrent acceptances never exceed the number of free accounts": function* () {
    const chatId = uniqueChatId();
    const teams = yield* Effect.forEach(Array.from({ length: 6 }), () => newTeam());
    for (const { name } of teams) yield* add(name, chatId, "owner");
    const store = yield* MemberStore;
    const outcomes = yield* Effect.forEach(
      teams,
      ({ name }) =>
        Effect.flatMap(signIn(name, chatId), ({ id }) =>
          store.choose({ signIn: id, chatId, account: name, requestId: null, at: 9 }),
        ),
      atOnce,
    );
    expectEqual(outcomes.filter((outcome) => outcome === "chosen").length, 3);
    expectEqual(outcomes.filter((outcome) => outcome === "account_limit").length, 3);
  },

  "concurrent removals of both owners: one owner stays": function* () {
    for (let round = 0; round < 10; round++) {
      const { name, chatId } = yield* newTeam();
      yield* addAccepted(name, ada, "owner");
      const outcomes = yield* Effect.forEach(
        [chatId, ada],
        (each) => change(name, { type: "remove", chatId: each }),
        atOnce,
      );
      expectThat(outcomes.includes("last_owner"), "one owner is the last");
      expectEqual((yield* rolesOf(name)).length, 1);
    }
  },

  "concurrent additions never exceed the member limit": function* () {
    const { name } = yield* newTeam();
    const added = yield* Effect.forEach(
      Array.from({ length: maxMembers + 4 }, uniqueChatId),
      (chatId) => add(name, chatId, "moderator"),
      atOnce,
    );
    expectEqual(added.filter((outcome) => typeof outcome !== "string").length, maxMembers - 1);
    expectEqual(added.filter((outcome) => outcome === "member_limit").length, 5);
    expectEqual((yield* rolesOf(name)).length, maxMembers);
  },

  "list sorts members by time; findByChatId sorts accounts by last choice, then name, suspended ones last":
    function* () {
      const [chatId, prefix] = [uniqueChatId(), uniqueText()];
      const names = ["c", "a", "b"].map((name) => `${prefix}${name}`);
      for (const [i, name] of names.entries()) {
        const owner = yield* newTeam(name);
        yield* add(name, chatId, "moderator", i - 10);
        expectEqual(
          (yield* rolesOf(name)).map(([each]) => each),
          [chatId, owner.chatId],
        );
      }
      expectEqual(yield* accountsOf(chatId), names.toSorted());
      const store = yield* MemberStore;
      const [used, last = ""] = [yield* signIn(names[0] ?? "", chatId), names[2]];
      expectEqual(
        yield* store.choose({ signIn: used.id, chatId, account: last, requestId: null, at: 5 }),
        "chosen",
      );
      expectEqual((yield* accountsOf(chatId))[0], last);
      expectEqual(yield* accountOf(used), last);
      yield* KeyStore.use((keys) =>
        keys.updateAccount({ ...origin, name: last, update: { status: "suspended" }, at: 6 }),
      );
      expectEqual((yield* accountsOf(chatId)).at(-1), last);
    },

  "an account of the operator stays one until it gets an owner or admin": function* () {
    const keys = yield* KeyStore;
    const [name, chatId] = [uniqueText(), uniqueChatId()];
    const isOperators = Effect.map(
      keys.findAccount(name),
      Option.exists(({ operator }) => operator),
    );
    yield* keys.ensureAccount({ name, chatId: null, tier: "free" });
    yield* addAccepted(name, chatId, "moderator");
    expectEqual(yield* isOperators, true);
    yield* change(name, { type: "set_role", chatId, role: "admin" });
    expectEqual(yield* isOperators, false);
    yield* change(name, { type: "remove", chatId });
    expectEqual(yield* isOperators, false);
  },

  "when the last owner or admin of an account goes, by whatever way, its keys are revoked": function* () {
    const ways = {
      leaving: (name: string, chatId: ChatId) => change(name, { type: "remove", chatId }, 9),
      "a lower role": (name: string, chatId: ChatId) =>
        change(name, { type: "set_role", chatId, role: "moderator" }, 9),
      erasure: (_: string, chatId: ChatId) => Effect.map(eraseUser(chatId, { at: 9 }), Option.getOrThrow),
    };
    for (const [way, goes] of Object.entries(ways)) {
      const keys = yield* KeyStore;
      const [name, last, other] = [uniqueText(), uniqueChatId(), uniqueChatId()];
      yield* keys.ensureAccount({ name, chatId: null, tier: "free" });
      yield* addAccepted(name, last, "admin");
      yield* addAccepted(name, other, "admin");
      yield* addAccepted(name, uniqueChatId(), "moderator");
      const scope = yield* keys.ensureScope(name, { kind: "global" }, uniquePid());
      const key = makeKey(scope);
      yield* keys.insertKey({ ...origin, key, hash: uniqueText(), maxKeys: null, at: 0 });
      const statusOf = Effect.map(keys.findDetails(key.id, 9), Option.getOrThrow);
      yield* goes(name, other);
      expectEqual((yield* statusOf).status, "active", way);
      const gone = yield* goes(name, last);
      expectEqual(typeof gone === "string" ? gone : gone.revokedKeys, [key.id], way);
      const { status, revokedAt } = yield* statusOf;
      expectEqual([status, revokedAt], ["revoked", 9], way);
      const [entry] = yield* newestOf(name);
      expectEqual(entry?.details["revokedKeys"], 1, way);
    }
  },

  "an erasure removes memberships, anonymizes audit entries, and ends sign-ins of others to the user's account":
    function* () {
      const [mine, team] = [yield* newTeam(), yield* newTeam()];
      const { chatId } = mine;
      const invited = uniqueChatId();
      yield* addAccepted(mine.name, ada, "admin");
      yield* add(mine.name, invited, "owner");
      yield* addAccepted(team.name, chatId, "owner");
      const users = yield* UserStore;
      const byMember = {
        actor: { type: "account", id: team.name, member: chatId },
        requestId: null,
      } as const;
      yield* MemberStore.use((store) =>
        store.change({
          ...byMember,
          account: team.name,
          change: { type: "add", chatId: ada, role: "moderator" },
          at: 8,
        }),
      );
      const found = yield* users.find(chatId);
      expectEqual(Object.fromEntries(found.memberships.map(({ account, role }) => [account.name, role])), {
        [mine.name]: "owner",
        [team.name]: "owner",
      });
      const kept = yield* signIn(mine.name, ada);
      const pseudonym = uniqueText();
      yield* eraseUser(chatId, { at: 9, pseudonym });

      expectEqual(Object.fromEntries(yield* rolesOf(team.name)), {
        [ada]: "moderator",
        [team.chatId]: "owner",
      });
      expectEqual(yield* rolesOf(pseudonym), [[ada, "admin"]]);
      expectEqual(yield* accountsOf(invited), []);
      const left = yield* MemberStore.use((store) => store.list(team.name));
      expectEqual(pluck(left, "invitedBy"), [null, null]);
      expectEqual(yield* accountOf(kept), null);
      const [entry, ...rest] = yield* newestOf(team.name);
      expectEqual(entry?.actor, { type: "account", id: team.name, member: "[erased]" });
      expectThat(!JSON.stringify([entry, ...rest]).includes(chatId), "no entry names the user");
      expectEqual((yield* users.find(chatId)).memberships, []);
    },
};
