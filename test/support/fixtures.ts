/**
 * Builds the fixture of a test file: each test adds the data that it needs, under its own key, so tests do not see
 * each other's data.
 */
import { randomBytes } from "node:crypto";
import type { MemberRole } from "@accountlink/core/accounts";
import type { Fixture } from "@accountlink/core/fixture";
import type { LinkProof } from "@accountlink/core/links";

type FixtureFile = typeof Fixture.Encoded;
type KeyEntry = NonNullable<NonNullable<FixtureFile["keys"]>[number]>;

type AccountEntry = NonNullable<FixtureFile["accounts"]>[number];
type PlanEntry = NonNullable<NonNullable<FixtureFile["plans"]>[number]>;
export type Guild = NonNullable<NonNullable<FixtureFile["platform"]>["guilds"]>[number];

/** The guild "Rook & Bishop", with the bot and the chat users 100001 to 100040. */
export const guild = "700000000000000001";
/** A guild with the bot and without members. */
export const emptyGuild = "700000000000000002";
/** A guild without the bot, with the member 100001. */
export const botlessGuild = "700000000000000003";
/** A chat user who exists on the platform and is not in any guild. */
export const stranger = "100099";
/** A game user that the platform does not know. */
export const nobody = "404404";

/** Options of a key; by default, it is free, global, active and without limits. */
export interface KeyOptions extends Partial<Omit<KeyEntry, "key" | "account" | "scope">> {
  /** The account of the key. Keys of one account share their scopes. By default, each key gets a new account. */
  readonly account?: string;
  readonly guildId?: string;
  /** The chat user who owns the account. By default, the account is the operator's own. */
  readonly owner?: string;
  /**
   * The links in the key's scope by chat user: the game user, or an object with the game user, the time of the last
   * verification, and how it was proven.
   */
  readonly links?: Readonly<
    Record<string, string | { readonly gameId: string; readonly at: string; readonly proof?: LinkProof }>
  >;
  readonly sightings?: ReadonlyArray<SeenAt>;
}

export const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();

/** A client address at which a chat user was seen. */
export interface SeenAt {
  readonly chatId: string;
  readonly ip: string;
  /** The browser's name; by default, it is unknown. */
  readonly device?: string;
  readonly seenAt: string;
}

export type Fixtures = ReturnType<typeof makeFixtures>;

export const newToken = (): string =>
  `alk_${randomBytes(6).toString("hex")}_${randomBytes(32).toString("base64url")}`;

/** The platform's profiles of the chat users 100001 to 100040. */
export const chatUsers = Array.from({ length: 40 }, (_, index) => ({
  id: String(100_001 + index),
  username: `user_${index + 1}`,
  displayName: `User ${index + 1}`,
  avatar: `https://chat.example/avatars/${index + 1}.png`,
  banner: null,
  created: "2020-01-01T00:00:00.000Z",
}));

/** The platform's profiles of the game users 1 to 9. The first has every field of a profile. */
export const gameUsers = Array.from({ length: 9 }, (_, index) => ({
  username: `player_${index + 1}`,
  displayName: `Player ${index + 1}`,
  id: String(index + 1),
  description: index === 0 ? "Plays a lot" : null,
  created: "2019-05-01T00:00:00.000Z",
  isBanned: false,
  hasVerifiedBadge: index === 0,
  avatar:
    index === 0 ? { headshot: "https://game.example/h.png", fullBody: "https://game.example/b.png" } : null,
  badges:
    index === 0
      ? [{ id: 7, name: "First", description: "Was first", imageUrl: "https://game.example/7.png" }]
      : [],
  groups:
    index === 0
      ? [
          {
            id: 3,
            name: "Guild",
            memberCount: 12,
            hasVerifiedBadge: false,
            role: { id: 1, name: "Chief", rank: 255 },
          },
        ]
      : [],
}));

/** The nickname, the joining date and the roles that every member has in a guild. */
const membership = {
  nickname: "Nick",
  joined: "2024-01-01T00:00:00.000Z",
  roles: [{ id: "1", name: "Member" }],
};

const platform = {
  guilds: [
    {
      id: guild,
      name: "Rook & Bishop",
      bot: true,
      members: chatUsers.map(({ id }) => ({ chatId: id, ...membership })),
    },
    { id: emptyGuild, bot: true, members: [] },
    { id: botlessGuild, bot: false, members: [{ chatId: "100001", ...membership }] },
  ],
  chatUsers: [...chatUsers, { id: stranger, username: "stranger" }],
  gameUsers,
} satisfies FixtureFile["platform"];

export const inGuilds = ({ platform: known }: FixtureFile, change: (guild: Guild) => Partial<Guild>) => ({
  ...known,
  guilds: (known?.guilds ?? []).map((each) => ({ ...each, ...change(each) })),
});

/** What differs from a fixture: its lists, and lists of its platform, take the place of those with the same name. */
export interface Changes {
  readonly platform?: object | null | undefined;
  readonly [list: string]: unknown;
}

export const changed = (fixture: FixtureFile, { platform: change, ...lists }: Changes) => ({
  ...fixture,
  ...lists,
  platform: { ...fixture.platform, ...change },
});

/** An account with its team: the roles of members by their chat IDs. */
export interface Account extends Omit<AccountEntry, "members"> {
  readonly team?: Readonly<Record<string, MemberRole>> | undefined;
}

export const accountOf = ({ team, ...account }: Account): AccountEntry => ({
  ...account,
  ...(team && { members: Object.entries(team).map(([chatId, role]) => ({ chatId, role })) }),
});

const scopeOf = (guildId: string | undefined) =>
  guildId === undefined ? ({ scope: "global" } as const) : ({ scope: "guild", guildId } as const);

/** Makes a fixture with both platforms and nothing else. */
export const makeFixtures = () => {
  const keys: Array<KeyEntry> = [];
  const links: Array<NonNullable<FixtureFile["links"]>[number]> = [];
  const sightings: Array<NonNullable<FixtureFile["sightings"]>[number]> = [];
  const plans: Array<PlanEntry> = [];
  const named: Array<AccountEntry> = [];
  let accounts = 0;
  let addresses = 0;

  const fixture: FixtureFile = { accounts: named, keys, links, sightings, plans, platform };
  return {
    fixture,

    /** Adds an account with an owner. Without it, the account of a key has no members. */
    account: (account: Account) => void named.push(accountOf(account)),

    plan: (plan: Omit<PlanEntry, "scope">) => void plans.push({ scope: "guild", ...plan }),

    /** Adds a key and returns its token. */
    key: ({
      account = `account-${++accounts}`,
      owner,
      guildId,
      links: owned = {},
      sightings: seen = [],
      ...chosen
    }: KeyOptions = {}) => {
      const token = newToken();
      if (owner !== undefined) named.push({ name: account, chatId: owner, tier: "free" });
      const scope = scopeOf(guildId);
      keys.push({ limits: "none", ...chosen, key: token, account, ...scope });
      for (const [chatId, link] of Object.entries(owned)) {
        const { at = "2026-01-01T00:00:00.000Z", ...asked } =
          typeof link === "string" ? { gameId: link } : link;
        links.push({ account, ...scope, chatId, lastVerifiedAt: at, ...asked });
      }
      sightings.push(...seen.map((sighting) => ({ account, ...scope, ...sighting })));
      return token;
    },

    /** Returns an unused client address. */
    address: () => {
      addresses++;
      return `198.18.${addresses >> 8}.${addresses & 255}`;
    },
  };
};
