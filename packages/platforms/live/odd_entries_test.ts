/** Each list of both platforms, and of a game over HTTP, with one entry that nobody expects. */
import type { GameId, GamePlatform } from "@accountlink/core";
import { featuresOf } from "@accountlink/core/platforms";
import { isProof } from "@accountlink/test-servers";
import { expect, testLive as test } from "@accountlink/test-servers/effect";
import { Effect, Layer, Logger, Option, Predicate } from "effect";
import { HttpClient, type HttpClientRequest, HttpClientResponse } from "effect/http";
import { ToldLists } from "../http/entries.ts";
import { callback, signIn } from "../http/oauth/test_sign_in.ts";
import { ada, bob, eve, guildId } from "./discord/test_discord.ts";
import { type LivePlatforms, livePlatforms } from "./test_platforms.ts";

interface Platforms extends LivePlatforms {
  /** Asks Open Cloud first. The legacy routes are closed. */
  readonly cloud: LivePlatforms["game"];
}

interface List {
  /** The method, host and path of the route. */
  readonly route: string;
  /** What the route answers with these entries. */
  readonly body?: (entries: ReadonlyArray<unknown>) => unknown;
  /** The last entry becomes the odd one. */
  readonly entries: readonly [unknown, unknown, unknown];
  /** What is known of the first two entries. */
  readonly ask: (platforms: Platforms) => Effect.Effect<unknown, unknown>;
}

const game = "1" as GameId;
const bot = { id: "80351110224678912", username: "accountlink" };
const ids = ["41771983423143936", "41771983423143937", "41771983423143938"] as const;
const three = <A>(entry: (id: string, index: number) => A): [A, A, A] => [
  entry(ids[0], 0),
  entry(ids[1], 1),
  entry(ids[2], 2),
];
const role = (id: string, position: number) => ({
  id,
  name: `Role ${position}`,
  position,
  permissions: "8",
  managed: false,
});
const member = (user: object) => ({ user, nick: null, joined_at: null, roles: [ids[0]] });
const users = [bob, ada, eve].toSorted((one, other) => Number(BigInt(one.id) - BigInt(other.id)));
const members = users.map(member) as [object, object, object];
const guild = {
  id: guildId,
  name: "Engine Room",
  owner_id: bot.id,
  roles: [role(guildId, 0), role(ids[0], 1)],
};

/** Keeps the entries of the first two things. */
const known = <A extends { readonly id: unknown }>(list: ReadonlyArray<A>, of: ReadonlyArray<unknown>) =>
  list.filter(({ id }) => of.includes(id));
const firstTwo = (list: ReadonlyArray<string>): ReadonlyArray<string> =>
  list.filter((id) => id !== ids[2] && id !== users[2]?.id);

const groupsOf = (platform: GamePlatform["Service"]) =>
  Effect.map(platform.findProfile(game, ["groups"], ["7", "8"]), (found) =>
    known(Option.getOrThrow(found).groups ?? [], [7, 8]),
  );
const ranksOf = (platform: Required<GamePlatform["Service"]>) =>
  Effect.map(platform.findGroup("7"), (found) =>
    Option.getOrThrow(found).ranks.filter((each) => each.rank === 1 || each.rank === 2),
  );
const membersOf = (platform: Required<GamePlatform["Service"]>) =>
  Effect.map(platform.groupMembers("7", null), (found) =>
    Option.getOrThrow(found).members.filter(({ gameId }) => gameId !== "3"),
  );

/** Makes three entries, of the numbers from `first`. */
const numbered = <A>(first: number, entry: (id: number, name: string) => A): [A, A, A] => [
  entry(first, "One"),
  entry(first + 1, "Two"),
  entry(first + 2, "Three"),
];
const rank = (id: number) => ({ id, name: ["First", "Second", "Third"][id - 1] ?? "", rank: id });
const cloudRank = (id: number) => ({ ...rank(id), id: String(id), displayName: rank(id).name });
const membership = (groupId: number, user: number, roleId = 1) => ({
  path: `groups/${groupId}/memberships/${user}`,
  user: `users/${user}`,
  role: `groups/${groupId}/roles/${roleId}`,
  roles: [`groups/${groupId}/roles/${roleId}`],
});
const image = (targetId: number) => ({
  targetId,
  state: "Completed",
  imageUrl: `https://images.example/${targetId}`,
});
const data = (entries: ReadonlyArray<unknown>) => ({ data: entries });

const lists: Readonly<Record<string, List>> = {
  "channels of a guild": {
    route: `GET discord/guilds/${guildId}/channels`,
    entries: three((id, position) => ({
      id,
      type: 0,
      name: id,
      position,
      parent_id: ids[0],
      permission_overwrites: [],
    })),
    ask: ({ chat }) =>
      Effect.map(chat.channels.findChannels(guildId), (found) =>
        known(Option.getOrThrow(found).channels, ids.slice(0, 2)),
      ),
  },
  "overwrites of a channel": {
    route: `GET discord/guilds/${guildId}/channels`,
    body: (entries) => [
      { id: ids[0], type: 0, name: "open", position: 0, permission_overwrites: [] },
      { id: ids[1], type: 0, name: "odd", position: 0, permission_overwrites: entries },
    ],
    entries: three((id) => ({ id, allow: "0", deny: "0" })),
    ask: ({ chat }) =>
      Effect.map(chat.channels.findChannels(guildId), (found) =>
        known(Option.getOrThrow(found).channels, [ids[0]]),
      ),
  },
  "roles of a guild": {
    route: `GET discord/guilds/${guildId}`,
    body: (entries) => ({ ...guild, roles: [role(guildId, 0), ...entries] }),
    entries: three(role),
    ask: ({ chat }) =>
      Effect.map(chat.roles.findGuildRoles(guildId), (found) =>
        known(Option.getOrThrow(found).roles, ids.slice(0, 2)),
      ),
  },
  "names of roles": {
    route: `GET discord/guilds/${guildId}/roles`,
    entries: three(role),
    ask: ({ chat }) => chat.findMember(guildId, ada.id),
  },
  "members of a guild": {
    route: `GET discord/guilds/${guildId}/members`,
    entries: members,
    ask: ({ chat }) =>
      Effect.map(chat.roles.membersPage(guildId, null), ({ members: listed }) =>
        listed.filter(({ chatId }) => chatId !== users[2]?.id),
      ),
  },
  "members among chat users": {
    route: `GET discord/guilds/${guildId}/members`,
    entries: members,
    ask: ({ chat }) =>
      Effect.map(
        chat.findMembers(
          guildId,
          users.map(({ id }) => id),
        ),
        (found) => users.slice(0, 2).map(({ id }) => found.get(id)),
      ),
  },
  "members found by name": {
    route: `GET discord/guilds/${guildId}/members/search`,
    entries: members,
    ask: ({ chat }) => Effect.map(chat.searchMembers(guildId, "a", 5), firstTwo),
  },
  "roles of a member": {
    route: `GET discord/guilds/${guildId}/members/${ada.id}`,
    body: (roles) => ({ ...member(ada), roles }),
    entries: three((id) => id),
    ask: ({ chat }) =>
      Effect.map(chat.findMember(guildId, ada.id), (found) =>
        known(Option.getOrThrow(found).roles, ids.slice(0, 2)),
      ),
  },
  "guilds of the bot": {
    route: "GET discord/users/@me/guilds",
    entries: [
      { id: guildId, permissions: "8" },
      { id: ids[0], permissions: "8" },
      { id: ids[1], permissions: "8" },
    ],
    ask: ({ chat }) => Effect.map(chat.findGuild(guildId), Option.isSome),
  },
  "guilds of a user": {
    route: "GET discord/users/@me/guilds",
    entries: three((id) => ({ id, name: "Club", owner: true, permissions: "8" })),
    ask: ({ identity }) =>
      Effect.map(identity.finish({ ...signIn, withGuilds: true }, callback), ({ guilds }) =>
        known(guilds ?? [], ids.slice(0, 2)),
      ),
  },
  "connections of a user": {
    route: "GET discord/users/@me/connections",
    entries: [
      { id: "11", type: "roblox", verified: true, revoked: false },
      { id: "12", type: "roblox", verified: true },
      { id: "13", type: "steam", verified: true },
    ],
    ask: ({ identity }) =>
      Effect.map(identity.finish({ ...signIn, withConnections: true }, callback), ({ connections }) =>
        connections?.filter((id) => id === "11" || id === "12"),
      ),
  },
  "groups of a user": {
    route: "GET groups.roblox/v2/users/1/groups/roles",
    body: data,
    entries: numbered(7, (id, name) => ({ group: { id, name }, role: rank(id - 6) })),
    ask: (platforms) => groupsOf(platforms.game),
  },
  "ranks of a group": {
    route: "GET groups.roblox/v1/groups/7/roles",
    body: (roles) => ({ groupId: 7, roles }),
    entries: [rank(1), rank(2), rank(3)],
    ask: (platforms) => ranksOf(platforms.game),
  },
  "groups found by ID": {
    route: "GET groups.roblox/v2/groups",
    body: data,
    entries: numbered(7, (id, name) => ({ id, name, memberCount: 1 })),
    ask: (platforms) => platforms.game.findGroup("7"),
  },
  "members of a group": {
    route: "GET groups.roblox/v1/groups/7/users",
    body: data,
    entries: numbered(1, (userId) => ({ user: { userId }, role: rank(userId) })),
    ask: (platforms) => membersOf(platforms.game),
  },
  "badges of a user": {
    route: "GET accountinformation.roblox/v1/users/1/roblox-badges",
    entries: numbered(1, (id, name) => ({ id, name, description: "", imageUrl: null })),
    ask: (platforms) =>
      Effect.map(platforms.game.findProfile(game), (found) =>
        known(Option.getOrThrow(found).badges ?? [], [1, 2]),
      ),
  },
  "pictures of users": {
    route: "GET thumbnails.roblox/v1/users/avatar",
    body: data,
    entries: [image(1), image(2), image(3)],
    ask: (platforms) =>
      Effect.map(platforms.game.findProfile(game), (found) => Option.getOrThrow(found).avatar?.fullBody),
  },
  "users found by name": {
    route: "POST users.roblox/v1/usernames/users",
    body: data,
    entries: numbered(1, (id, displayName) => ({ id, name: `player_${id}`, displayName })),
    ask: (platforms) => platforms.game.findUserByName("player_1"),
  },
  "names of users": {
    route: "POST users.roblox/v1/users",
    body: data,
    entries: numbered(1, (id, displayName) => ({ id, name: `player_${id}`, displayName })),
    ask: (platforms) =>
      Effect.map(platforms.game.findNames([game, "2" as GameId]), (names) => [
        names.get(game),
        names.get("2" as GameId),
      ]),
  },
  "memberships of a user in Open Cloud": {
    route: "GET apis.roblox/cloud/v2/groups/-/memberships",
    body: (groupMemberships) => ({ groupMemberships }),
    entries: [membership(7, 1), membership(8, 1), membership(9, 1)],
    ask: (platforms) => groupsOf(platforms.cloud),
  },
  "memberships of a group in Open Cloud": {
    route: "GET apis.roblox/cloud/v2/groups/7/memberships",
    body: (groupMemberships) => ({ groupMemberships }),
    entries: [membership(7, 1, 1), membership(7, 2, 2), membership(7, 3, 3)],
    ask: (platforms) => membersOf(platforms.cloud),
  },
  "roles of a member in Open Cloud": {
    route: "GET apis.roblox/cloud/v2/groups/7/memberships",
    body: (roles) => ({ groupMemberships: [{ ...membership(7, 1, 1), roles }] }),
    entries: ["groups/7/roles/1", "groups/7/roles/2", "groups/9/roles/3"],
    ask: (platforms) => membersOf(platforms.cloud),
  },
  "roles of a group in Open Cloud": {
    route: "GET apis.roblox/cloud/v2/groups/7/roles",
    body: (groupRoles) => ({ groupRoles }),
    entries: [cloudRank(1), cloudRank(2), cloudRank(3)],
    ask: (platforms) => ranksOf(platforms.cloud),
  },
  "items of a user in Open Cloud": {
    route: "GET apis.roblox/cloud/v2/users/1/inventory-items",
    body: (inventoryItems) => ({ inventoryItems }),
    entries: [
      { gamePassDetails: { gamePassId: "55" } },
      { gamePassDetails: { gamePassId: "56" } },
      { gamePassDetails: { gamePassId: "57" }, badgeDetails: { badgeId: "58" } },
    ],
    ask: (platforms) => platforms.cloud.hasItem(game, { item: "gamepass", itemId: "55" }),
  },
  "groups of a player": {
    route: "GET own/users/1/groups",
    body: (entries) => ({ groups: entries }),
    entries: numbered(7, (id, name) => ({ id: String(id), name, rank: id - 6, role: `Fan ${id}` })),
    ask: (platforms) => groupsOf(platforms.own),
  },
  "ranks of a group of a game": {
    route: "GET own/groups/7",
    body: (ranks) => ({ id: "7", name: "Makers", ranks }),
    entries: [rank(1), rank(2), rank(3)],
    ask: (platforms) => ranksOf(platforms.own),
  },
  "features of a game": {
    route: "GET own/",
    body: (features) => ({ features, items: ["app"] }),
    entries: ["groups", "items", "names"],
    ask: (platforms) => Effect.map(featuresOf(platforms.own), ({ groups, items }) => ({ groups, items })),
  },
  "kinds of items of a game": {
    route: "GET own/",
    body: (items) => ({ features: ["groups", "items"], items }),
    entries: ["app", "skin", "hat"],
    ask: (platforms) =>
      Effect.map(featuresOf(platforms.own), ({ items }) =>
        items.filter((item) => item === "app" || item === "skin"),
      ),
  },
};

/** What every other route answers. */
const usual: Readonly<Record<string, unknown>> = {
  "POST discord/oauth2/token": {
    access_token: "access",
    token_type: "Bearer",
    scope: "identify guilds connections",
  },
  "GET discord/users/@me": bot,
  "GET discord/users/@me/guilds": [{ id: guildId }],
  [`GET discord/guilds/${guildId}`]: guild,
  [`GET discord/guilds/${guildId}/roles`]: [role(ids[0], 1)],
  [`GET discord/guilds/${guildId}/channels`]: [],
  [`GET discord/guilds/${guildId}/members/${bot.id}`]: member(bot),
  [`GET discord/guilds/${guildId}/members/${ada.id}`]: member(ada),
  "GET users.roblox/v1/users/1": { id: 1, name: "ada_g" },
  "GET groups.roblox/v2/groups": data([{ id: 7, name: "Makers", memberCount: 1 }]),
  "GET groups.roblox/v1/groups/7/roles": { roles: [rank(1)] },
  "GET apis.roblox/cloud/v2/users/1": { id: "1", name: "ada_g" },
  "GET apis.roblox/cloud/v2/groups/7": { id: "7", displayName: "Makers", memberCount: 3 },
  "GET apis.roblox/cloud/v2/groups/7/roles": { groupRoles: [cloudRank(1), cloudRank(2), cloudRank(3)] },
  "GET apis.roblox/cloud/v2/groups/8/roles": { groupRoles: [cloudRank(1)] },
  "GET apis.roblox/cloud/v2/groups/9/roles": { groupRoles: [cloudRank(1)] },
  "GET own/": { features: ["groups"] },
  "GET own/users/1": { id: "1", username: "ada_g" },
};

const platformOf = (route: string): keyof Platforms => {
  if (route.includes("own/")) return "own";
  return route.includes("/cloud/") ? "cloud" : "game";
};

/** Asks while the route answers with the entries. Returns the entries of the first two things, and the warnings. */
const askWith = Effect.fnUntraced(function* (
  { route, body = (list) => list, ask }: List,
  entries: ReadonlyArray<unknown>,
) {
  const isCloud = route.includes("/cloud/");
  const http = HttpClient.make((request: HttpClientRequest.HttpClientRequest, url) => {
    const asked = `${request.method} ${url.host}${url.pathname}`;
    const isClosed = isCloud && asked.includes("groups.roblox");
    const answer = asked === route ? body(entries) : usual[asked];
    const response =
      answer === undefined || isClosed ? new Response(null, { status: 500 }) : Response.json(answer);
    return Effect.succeed(HttpClientResponse.fromWeb(request, response));
  });
  const urls = { discord: "http://discord", roblox: "http://{service}.roblox", own: "http://own" };
  const live = livePlatforms(Layer.succeed(HttpClient.HttpClient, http), urls, isCloud);
  const warned: Array<unknown> = [];
  return yield* Effect.gen(function* () {
    const platforms = route.includes("discord")
      ? { chat: yield* live.chat, identity: yield* live.identity }
      : { [platformOf(route)]: yield* route.includes("own/") ? live.own : live.game };
    const asked = ask(platforms as unknown as Platforms);
    const first = yield* Effect.result(asked);
    yield* Effect.result(asked);
    return { found: first._tag === "Success" ? first.success : first.failure, warned };
  }).pipe(
    Effect.provideService(ToldLists, new Map()),
    Effect.provide(Logger.layer([Logger.make(({ message }) => warned.push(message))])),
  );
});

const digits = "1234567890123456789012";

/** What a value becomes: null, another kind, a number below 0, 22 digits; undefined if its field is missing. */
const insteadOf = (value: unknown): ReadonlyArray<unknown> => [
  null,
  typeof value === "number" ? String(value) : 0,
  { odd: true },
  -1,
  digits,
  Number(digits),
];

/** Every entry that differs from this one in one place. */
const oddFrom = (entry: unknown): ReadonlyArray<unknown> => {
  if (Array.isArray(entry)) {
    return [
      ...insteadOf(entry),
      ...entry.flatMap((each, at) => oddFrom(each).map((odd) => entry.with(at, odd))),
    ];
  }
  if (!Predicate.isObject(entry)) return insteadOf(entry);
  return [
    ...insteadOf(entry),
    ...Object.entries(entry).flatMap(([name, value]) => {
      const { [name]: _, ...missing } = entry as Record<string, unknown>;
      return [missing, ...oddFrom(value).map((odd) => ({ ...entry, [name]: odd }))];
    }),
  ];
};

test.each(Object.keys(lists))(
  "one odd entry hides no other of the %s",
  function* (name) {
    const list = lists[name] as List;
    const [one, other, third] = list.entries;
    const { found: expected, warned } = yield* askWith(list, [one, other]);
    expect([JSON.stringify(expected), warned]).not.toContain("PlatformUnavailable");
    // A closed address answers 500.
    expect(warned.filter((line) => !String(line).includes('the status is "500"'))).toEqual([]);
    const first = Object.keys(lists).indexOf(name);
    for (const [index, odd] of oddFrom(third).entries()) {
      if (!isProof && (index + first) % 4 !== 0) continue;
      const { found } = yield* askWith(list, [one, other].toSpliced(index % 3, 0, odd));
      expect(found, JSON.stringify(odd)).toEqual(expected);
    }
  },
  60_000,
);

test.each([
  "groups found by ID",
  "users found by name",
  "members of a group",
  "memberships of a group in Open Cloud",
  "items of a user in Open Cloud",
])("an only entry of the %s that cannot be read does not make them empty", function* (name) {
  const { found } = yield* askWith(lists[name] as List, [{ odd: true }]);
  expect(found).toMatchObject({ _tag: "PlatformUnavailable" });
});

test.each(Object.keys(lists))("an entry that is left out of the %s is told once", function* (name) {
  const list = lists[name] as List;
  const { warned } = yield* askWith(list, [list.entries[0], null, list.entries[1]]);
  expect(warned.filter((line) => JSON.stringify(line).includes("every entry"))).toHaveLength(1);
});
