/** Load test: a role plan with every kind of rule compares all members of a guild, who are all linked. */
import { setTimeout as sleep } from "node:timers/promises";
import { isProof } from "@accountlink/test-servers";
import { expect, onTestFinished, test } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { startServerHere } from "../support/server.ts";

const guildId = "700000000000000009";
const members = isProof ? 5_000 : 200;
const gamepass = { item: "gamepass", itemId: "55" } as const;

const rules = [
  { roleId: "1", when: { is: "linked" } },
  { roleId: "2", when: { is: "unlinked" } },
  { roleId: "3", when: { is: "group", groupId: "9", minRank: 100 } },
  { roleId: "4", when: { is: "owner", ...gamepass } },
  { roleId: "5", when: { is: "age", minDays: 30 } },
] as const;

const users = Array.from({ length: members }, (_, i) => {
  const [isOfficer, isOwner, isOld] = [i % 5 === 0, i % 3 === 0, i % 2 === 0];
  return {
    chatId: String(200_001 + i),
    game: {
      id: String(300_001 + i),
      created: isOld ? "2010-01-01T00:00:00Z" : new Date().toISOString(),
      groups: [{ id: 9, role: { id: 1, rank: isOfficer ? 100 : 1 } }],
      items: isOwner ? [gamepass] : [],
    },
    roleIds: ["1", ...(isOfficer ? ["3"] : []), ...(isOwner ? ["4"] : []), ...(isOld ? ["5"] : [])],
    isRight: i >= members / 50,
  };
});

interface Requests {
  readonly routes: Readonly<Record<string, number>>;
  readonly changes: Readonly<Record<string, number>>;
}

test(`a sweep of ${members} members by all kinds of rules asks once about each thing, and makes ten changes a second`, async () => {
  const { fixture, key } = makeFixtures();
  key({ account: "acme", links: Object.fromEntries(users.map(({ chatId, game }) => [chatId, game.id])) });
  const roles = rules.map(({ roleId }) => ({ id: roleId, name: `Role ${roleId}` }));
  const server = await startServerHere({
    fixture: {
      ...fixture,
      plans: [{ account: "acme", scope: "global", guildId, rules }],
      platform: {
        ...fixture.platform,
        gameUsers: users.map(({ game }) => game),
        guilds: [
          {
            id: guildId,
            roles,
            members: users.map(({ chatId, roleIds, isRight }) => ({
              chatId,
              roles: isRight ? roleIds.map((id) => ({ id })) : [],
            })),
          },
        ],
      },
    },
  });
  const { platform } = server;
  onTestFinished(async () => void (await server.stop()));

  const requests = async () => (await platform.send("GET /requests")).body as unknown as Requests;
  /** The number of changes at times in milliseconds. */
  const progress: Array<readonly [at: number, made: number]> = [];
  let report = await requests();
  const wrong = users.filter(({ isRight }) => !isRight);
  const expected = wrong.flatMap(({ chatId, roleIds }) => roleIds.map((id) => `PUT ${chatId} roles/${id}`));
  // A sweep compares everybody before it changes anybody.
  while (Object.keys(report.changes).length < expected.length) {
    await sleep(20);
    report = await requests();
    progress.push([performance.now(), Object.keys(report.changes).length]);
  }

  expect(report.changes).toEqual(Object.fromEntries(expected.map((change) => [change, 1])));
  const from = progress.find(([, count]) => count > 0) ?? [0, 0];
  const [until, made] = progress.find((sample) => sample[1] === Object.keys(report.changes).length) ?? [0, 0];
  const perSecond = (1_000 * (made - from[1])) / (until - from[0]);
  console.log({ perSecond, routes: report.routes });
  expect(perSecond).toBeLessThan(12);
  // Other tests use the processor at the same time in `npm test`.
  expect(perSecond).toBeGreaterThan(isProof ? 8 : 0);
  expect(report.routes).toMatchObject({
    "GET /game/api/groups/:groupId/users": members / 100,
    "GET /game/api/users/:gameId/items/:item/:itemId": members,
    // The rank of a member who differs is asked for again, since the pages of the group may be old.
    "GET /game/api/users/:gameId/profile": members + wrong.length,
  });
});
