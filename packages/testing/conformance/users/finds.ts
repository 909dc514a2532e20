import type { StoragePorts } from "@accountlink/core";
import { Effect } from "effect";
import { expectEqual, pluck } from "../expect.ts";
import { bob, chess, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newUserSteps, sightingOf } from "./user_steps.ts";

export const finds: Cases<StoragePorts> = {
  "find returns all data of one user only": function* () {
    const user = yield* newUserSteps;
    const { chatId } = user;
    const [one, other] = [yield* user.newScopes, yield* user.newScopes];
    const account = { name: `chat:${chatId}`, chatId, tier: "free" } as const;
    yield* user.keys.ensureAccount(account);
    yield* user.set(one.global, chess);
    yield* user.set(one.global, poker, bob);
    yield* user.set(other.guild, poker);
    yield* user.remove(other.guild);
    yield* user.see(one.guild, "hash");
    yield* user.see(one.guild, "hash", bob);
    yield* user.seeIn(other.guild, "browser");
    yield* user.seeIn(other.guild, "browser", bob);
    const session = yield* user.create(one.global, { chatId });
    yield* user.create(one.global, { chatId: bob });
    const flow = yield* user.prove(other.guild, chess, session);

    yield* user.review(one.guild, bob);
    yield* user.review(other.guild, bob);

    const signIn = yield* user.signIn();
    yield* user.signIn(bob);

    const found = yield* user.find;
    expectEqual(found.accounts, [{ ...account, status: "active", operator: false }]);
    expectEqual(yield* user.findRecords, found.records);
    expectEqual(
      new Map(found.records.map(({ scope, record }) => [scope.pid, record.gameId])),
      new Map([
        [one.global.pid, chess],
        [other.guild.pid, null],
      ]),
    );
    expectEqual(new Set(found.records.map(({ scope }) => scope)), new Set([one.global, other.guild]));
    expectEqual(found.sightings, [{ pid: one.guild.pid, sighting: sightingOf(chatId, "hash") }]);
    const sighting = { chatId, browser: "browser", seenAt: 0 };
    expectEqual(found.browsers, [{ pid: other.guild.pid, sighting, firstSeenAt: 0 }]);
    const { sightings, browsers } = yield* user.findSightings;
    expectEqual([sightings, browsers], [found.sightings, found.browsers]);
    expectEqual(
      new Set(found.reviews.map(({ pid, review }) => [pid, review.chatId, review.otherChatId].join(" "))),
      new Set([one.guild, other.guild].map(({ pid }) => [pid, chatId, bob].join(" "))),
    );
    expectEqual(found.signIns, [signIn]);
    expectEqual(found.sessions, [session]);
    expectEqual(pluck(found.flows, "id"), [flow.id]);
    expectEqual(
      found.entries.map(({ action, account: owner }) => [owner, action]),
      [
        [one.account.name, "link.set"],
        [other.account.name, "link.set"],
        [other.account.name, "link.removed"],
        [one.account.name, "review.set"],
        [other.account.name, "review.set"],
      ],
    );
  },

  "see keeps the first and last sighting in a browser until they are forgotten": function* () {
    const user = yield* newUserSteps;
    const { guild } = yield* user.newScopes;
    const times = Effect.map(user.findSightings, ({ browsers }) =>
      browsers.map(({ sighting, firstSeenAt }) => [firstSeenAt, sighting.seenAt]),
    );
    for (const seenAt of [3, 7, 5]) yield* user.seeIn(guild, "phone", user.chatId, seenAt);
    expectEqual(yield* times, [[3, 7]]);
    yield* user.forget("browsers");
    yield* user.seeIn(guild, "phone", user.chatId, 9);
    expectEqual(yield* times, [[9, 9]]);
  },

  "forget deletes only the user's sightings in browsers, or only the sightings at addresses": function* () {
    const user = yield* newUserSteps;
    const { global, guild } = yield* user.newScopes;
    for (const scope of [global, guild]) {
      yield* user.see(scope, "hash");
      yield* user.seeIn(scope, "phone");
      yield* user.seeIn(scope, "computer");
      yield* user.seeIn(scope, "phone", bob);
    }
    expectEqual(yield* user.usersOf(global, "phone"), 2);
    yield* user.see(global, "hash", bob);
    expectEqual(yield* user.forget("browsers"), 4);
    expectEqual(yield* user.forget("browsers"), 0);
    const found = yield* user.find;
    expectEqual([found.sightings.length, found.browsers], [2, []]);
    expectEqual([yield* user.usersOf(global, "phone"), yield* user.usersOf(guild, "computer")], [1, 0]);
    yield* user.seeIn(guild, "phone");
    expectEqual(yield* user.forget("addresses"), 2);
    const left = yield* user.find;
    expectEqual([left.sightings, left.browsers.length], [[], 1]);
    expectEqual([yield* user.usersOf(global, "hash"), yield* user.usersOf(guild, "hash")], [1, 0]);
  },
};
