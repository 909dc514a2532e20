import { describe, expect, it } from "@effect/vitest";
import { Effect, Schema, Struct } from "effect";
import { decodeFixture, Fixture } from "./fixture.ts";

const key = `alk_Aa0Bb1Cc2Dd3_${"s".repeat(43)}`;
const guildId = "700000000000000001";
const time = "2026-01-01T00:00:00.000Z";

const whole = {
  accounts: [{ name: "acme", chatId: "100001", tier: "premium" }],
  keys: [
    {
      key,
      account: "acme",
      scope: "guild",
      guildId,
      tier: "premium",
      kind: "partner",
      status: "disabled",
      expiresAt: time,
      limits: { perWindow: 1, windowMs: 1000, daily: 2500, verifyDaily: 10000 },
      allowIps: ["10.0.0.0/8"],
      denyIps: ["2001:db8::1"],
      redirectOrigins: ["http://127.0.0.1:9999"],
    },
  ],
  links: [{ account: "acme", scope: "global", chatId: "100001", gameId: "1", lastVerifiedAt: time }],
  sightings: [{ account: "acme", scope: "global", chatId: "100001", ip: "203.0.113.7", seenAt: time }],
  platform: {
    guilds: [
      {
        id: guildId,
        name: "Engine Room",
        bot: true,
        members: [
          {
            chatId: "100001",
            manager: true,
            nickname: "A",
            joined: time,
            roles: [{ id: "1", name: "Member" }],
          },
        ],
      },
    ],
    chatUsers: [
      { id: "100001", username: "ada", displayName: "Ada", avatar: null, banner: null, created: time },
    ],
    gameUsers: [
      {
        id: "1",
        username: "ada_g",
        displayName: "Ada",
        description: null,
        created: time,
        isBanned: false,
        hasVerifiedBadge: false,
        avatar: { headshot: null, fullBody: null },
        badges: [],
        groups: [],
      },
    ],
  },
  vpnCidrs: ["198.51.100.0/24"],
};

const decode = (document: unknown) => decodeFixture(JSON.stringify(document));

const messageOf = (text: string) => Effect.map(Effect.flip(decodeFixture(text)), (error) => error.message);

describe("decodeFixture", () => {
  it.effect("reads every section", () =>
    Effect.gen(function* () {
      const fixture = yield* decode(whole);
      const at = Date.parse(time);
      expect(fixture).toEqual({
        ...whole,
        keys: [{ ...whole.keys[0], expiresAt: at }],
        links: [{ ...whole.links[0], lastVerifiedAt: at }],
        sightings: [{ ...whole.sightings[0], seenAt: at }],
      });
    }),
  );

  it.effect("fills in what is left out, and takes null for left out", () =>
    Effect.gen(function* () {
      const empty = { accounts: [], keys: [], links: [], sightings: [], vpnCidrs: [] };
      const platform = { guilds: [], chatUsers: [], gameUsers: [] };
      expect(yield* decode({})).toEqual({ ...empty, platform });
      expect(yield* decode({ accounts: null, platform: null })).toEqual({ ...empty, platform });

      const { keys, platform: played } = yield* decode({
        keys: [{ key, account: "acme", scope: "global", guildId: null, limits: { daily: 5 } }],
        platform: { gameUsers: [{ id: "7" }], guilds: [{ id: guildId, members: [{ chatId: "100001" }] }] },
      });
      expect(keys).toEqual([
        {
          key,
          account: "acme",
          scope: "global",
          tier: null,
          kind: "normal",
          status: "active",
          expiresAt: null,
          limits: { daily: 5 },
          allowIps: [],
          denyIps: [],
          redirectOrigins: [],
        },
      ]);
      expect(played.guilds[0]).toEqual({
        id: guildId,
        name: null,
        bot: true,
        members: [{ chatId: "100001", manager: false, nickname: null, joined: null, roles: [] }],
      });
      expect(played.gameUsers[0]).toMatchObject({ username: null, avatar: null, badges: null, groups: null });
    }),
  );

  it.effect("takes a key without limits, and ignores unknown fields", () =>
    Effect.gen(function* () {
      const { keys } = yield* decode({
        comment: "a note",
        keys: [{ key, account: "acme", scope: "global", limits: "none", note: 1 }],
      });
      expect(keys[0]?.limits).toBe("none");
      expect(keys[0]).not.toHaveProperty("note");
    }),
  );

  const link = whole.links[0];
  const refused: ReadonlyArray<readonly [what: string, document: unknown, problem: string]> = [
    ["an ID", { links: [{ ...link, chatId: "12" }] }, 'links[0].chatId is "12", expected 5 to 32 digits'],
    [
      "a number for an ID",
      { links: [{ ...link, gameId: 1 }] },
      "links[0].gameId is the number 1, expected 1 to 32 digits",
    ],
    [
      "a missing field",
      { links: [{ scope: "global", chatId: "100001", gameId: "1" }] },
      "links[0].account is missing",
    ],
    ["a guild left out", { links: [{ ...link, scope: "guild" }] }, "links[0].guildId is missing"],
    [
      "a wrong scope",
      { links: [link, { ...link, scope: "planet" }] },
      'links[1] is an object, expected an object with a "scope" of "global" or "guild"',
    ],
    [
      "a time",
      { links: [{ ...link, lastVerifiedAt: "soon" }] },
      'lastVerifiedAt is "soon", expected an ISO 8601 timestamp',
    ],
    [
      "a time that is not",
      { links: [{ ...link, lastVerifiedAt: "2026-13-01" }] },
      "expected an ISO 8601 timestamp",
    ],
    [
      "a day that is not",
      { links: [{ ...link, lastVerifiedAt: "2026-02-30" }] },
      'lastVerifiedAt is "2026-02-30", expected a day of the calendar',
    ],
    [
      "a limit",
      { keys: [{ ...whole.keys[0], limits: { daily: -1 } }] },
      "keys[0].limits.daily is the number -1, expected a whole number, 0 or more",
    ],
    [
      "all limits",
      { keys: [{ ...whole.keys[0], limits: "all" }] },
      'keys[0].limits is "all", expected "none" or an object of limits',
    ],
    [
      "a tier",
      { accounts: [{ name: "acme", tier: "gold" }] },
      'accounts[0].tier is "gold", expected "free" | "premium"',
    ],
    [
      "a redirect",
      { keys: [{ ...whole.keys[0], redirectOrigins: ["http://a.test/x"] }] },
      "redirectOrigins[0] is",
    ],
    [
      "an address",
      { vpnCidrs: ["198.51.100.0/40"] },
      "vpnCidrs[0] is wrong, expected an IP address or a CIDR",
    ],
    [
      "a name",
      { platform: { guilds: [{ id: guildId, name: "A".repeat(101) }] } },
      `platform.guilds[0].name is "${"A".repeat(60)}", expected text of 1 to 100 characters`,
    ],
    ["an empty name", { platform: { guilds: [{ id: guildId, name: "" }] } }, 'platform.guilds[0].name is ""'],
    ["a section", { keys: {} }, "keys is an object, expected array"],
    [
      "a profile",
      { platform: { chatUsers: [{ id: "x" }] } },
      'platform.chatUsers[0].id is "x", expected 5 to 32 digits',
    ],
    ["another document", [], "the file is a list, expected object"],
    ["no document", null, 'the file is "null", expected object'],
  ];

  it.effect.each(refused)("refuses %s", ([, document, problem]) =>
    Effect.gen(function* () {
      expect(yield* messageOf(JSON.stringify(document))).toContain(problem);
    }),
  );

  it.effect("says where the file stops being JSON, without quoting it", () =>
    Effect.gen(function* () {
      const message = yield* messageOf(`{\n  "keys": [{ "key": "${key}" "x" }]\n}`);
      expect(message).toMatch(/^Cannot read the fixture: the file is not JSON(, see line 2, column \d+)?$/);
    }),
  );

  it.effect("counts the problems beyond the third", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        decode({ links: [{}, {}, {}, {}, {}].map(() => ({ scope: "global" })) }),
      );
      expect(error.problems).toHaveLength(15);
      expect(error.message).toMatch(/links\[0\]\.gameId is missing; and 12 more$/);
    }),
  );

  it.effect("never shows a key or an address", () =>
    Effect.gen(function* () {
      const secret = "s".repeat(43);
      const bad = `alk_short_${secret}`;
      const messages = yield* Effect.forEach(
        [
          { keys: [{ ...whole.keys[0], key: bad }] },
          { keys: [{ ...whole.keys[0], status: bad }] },
          { keys: [{ ...whole.keys[0], allowIps: ["203.0.113.300"] }] },
          { sightings: [{ ...whole.sightings[0], ip: "203.0.113.300" }] },
        ],
        (document) => messageOf(JSON.stringify(document)),
      );
      expect(messages.join()).not.toMatch(/sss|203\.0/);
      expect(messages[0]).toContain('keys[0].key is wrong, expected a key, "alk_" and its id and secret');
    }),
  );

  const Document = Fixture.mapFields(Struct.pick(["accounts", "links", "platform"]));

  it.effect.prop("reads what was written", [Document], ([document]) =>
    Effect.gen(function* () {
      const { accounts, links, platform } = yield* decode(Schema.encodeSync(Document)(document));
      expect(JSON.stringify({ accounts, links, platform })).toBe(JSON.stringify(document));
    }),
  );
});
