/** Builds complete fixtures: every account, user and guild that an entry names exists. */
import { decodeFixture, type Fixture, type GuildId } from "@accountlink/core";
import { Effect } from "effect";
import { aChatUser, aGameUser, aGuild, aMember } from "./platform.ts";

type Written = typeof Fixture.Encoded;
type EntryOf<List extends "keys" | "links" | "sightings"> = NonNullable<Written[List]>[number];

/**
 * An entry of a fixture. Its account may be left out and is then "acme"; its scope may be left out and is then global.
 */
type Brief<Entry> = Entry extends { readonly scope: "guild"; readonly account: string }
  ? Omit<Entry, "account"> & { readonly account?: string }
  : Omit<Entry, "account" | "scope"> & { readonly account?: string; readonly scope?: "global" };

/** The parts of a fixture that a test sets. All are optional, as are most fields of an entry. */
export interface FixtureParts extends Omit<Written, "keys" | "links" | "sightings"> {
  readonly keys?: ReadonlyArray<Brief<EntryOf<"keys">>>;
  readonly links?: ReadonlyArray<Brief<EntryOf<"links">>>;
  readonly sightings?: ReadonlyArray<Brief<EntryOf<"sightings">>>;
}

const inAccount = <Entry extends object>(entries: ReadonlyArray<Entry> = []) =>
  entries.map((entry) => ({ account: "acme", scope: "global", ...entry }));

/**
 * Creates a fixture from the given parts, and adds what they refer to: the accounts of keys and links, the users on
 * both sides of a link, the members of a guild as chat users, the guild of a guild scope.
 *
 * Throws `InvalidFixture`; its message names the field, its value and the expected values.
 *
 * @example
 * ```ts
 * const fixture = aFixture({ links: [{ chatId: "100001", gameId: "1" }] });
 * fixture.accounts.map(({ name }) => name); // ["acme"]
 * fixture.platform.gameUsers.map(({ username }) => username); // ["game_1"]
 * ```
 */
export const aFixture = ({ keys, links, sightings, ...parts }: FixtureParts = {}): Fixture => {
  const entries = { keys: inAccount(keys), links: inAccount(links), sightings: inAccount(sightings) };
  return completed(Effect.runSync(decodeFixture(JSON.stringify({ ...parts, ...entries }))));
};

const added = <Item, Id>(
  items: ReadonlyArray<Item>,
  idOf: (item: Item) => Id,
  named: Iterable<Id>,
  make: (id: Id) => Item,
): ReadonlyArray<Item> => {
  const known = new Set(items.map(idOf));
  const missing = [...new Set(named)].filter((id) => !known.has(id));
  return missing.length === 0 ? items : [...items, ...missing.map(make)];
};

/**
 * Adds the accounts, users and guilds that a fixture refers to but does not contain.
 *
 * @example
 * ```ts
 * const links = { ...aFixture(), links: aFixture({ links: [{ chatId: "100001", gameId: "1" }] }).links };
 * completed(links).accounts.map(({ name }) => name); // ["acme"]
 * ```
 */
export const completed = (fixture: Fixture): Fixture => {
  const { keys, links, sightings, plans, platform } = fixture;
  const entries = [...keys, ...links, ...sightings, ...plans];
  const people = [...links, ...sightings];
  const guildIds = [...plans, ...entries].flatMap(
    (entry): ReadonlyArray<GuildId> => ("guildId" in entry ? [entry.guildId] : []),
  );
  const guilds = added(
    platform.guilds,
    ({ id }) => id,
    guildIds,
    (id) => aGuild(id),
  ).map((guild) => {
    const ofGuild = people.filter((entry) => entry.scope === "guild" && entry.guildId === guild.id);
    const named = ofGuild.map(({ chatId }) => chatId);
    return {
      ...guild,
      members: added(
        guild.members,
        ({ chatId }) => chatId,
        named,
        (id) => aMember(id),
      ),
    };
  });
  const chatIds = [
    ...people.map(({ chatId }) => chatId),
    ...guilds.flatMap(({ members }) => members.map(({ chatId }) => chatId)),
    ...fixture.accounts.flatMap(({ chatId, members }) => [
      ...(chatId === null ? [] : [chatId]),
      ...members.map((member) => member.chatId),
    ]),
  ];
  const gameIds = links.map(({ gameId }) => gameId);
  return {
    ...fixture,
    accounts: added(
      fixture.accounts,
      ({ name }) => name,
      entries.map(({ account }) => account),
      (account) => ({ name: account, chatId: null, tier: "free", members: [] }),
    ),
    platform: {
      guilds,
      chatUsers: added(
        platform.chatUsers,
        ({ id }) => id,
        chatIds,
        (id) => aChatUser(id),
      ),
      gameUsers: added(
        platform.gameUsers,
        ({ id }) => id,
        gameIds,
        (id) => aGameUser(id),
      ),
    },
  };
};
