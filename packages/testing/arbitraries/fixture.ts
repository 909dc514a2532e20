import type { ChatId, Fixture, GameId, GuildId } from "@accountlink/core";
import { memberRoles } from "@accountlink/core/accounts";
import type { PlatformFixture } from "@accountlink/core/fixture";
import { keyIdOf } from "@accountlink/core/keys";
import {
  type Arbitrary,
  array,
  constant,
  constantFrom,
  oneof,
  record,
  subarray,
  tuple,
  uniqueArray,
} from "fast-check";
import { completed } from "../builders/complete_fixture.ts";
import { keyAccess, keyKind, keyLimits, keyStatus, tier, token } from "./accounts.ts";
import { orNull } from "./fields.ts";
import { chatId, gameId, guildId } from "./ids.ts";
import { addressLists } from "./key_lists.ts";
import { linkProof } from "./links.ts";
import { ip, network } from "./networks.ts";
import { chatUser, gameUser, guild, member } from "./platform.ts";
import { millis, name } from "./texts.ts";

/** The names and IDs that a fixture uses, without duplicates. */
interface Cast {
  readonly names: ReadonlyArray<string>;
  readonly chatIds: ReadonlyArray<ChatId>;
  readonly gameIds: ReadonlyArray<GameId>;
  readonly guildIds: ReadonlyArray<GuildId>;
}

const few = { minLength: 1, maxLength: 5 };

const cast: Arbitrary<Cast> = record({
  names: uniqueArray(name, few),
  chatIds: uniqueArray(chatId, few),
  gameIds: uniqueArray(gameId, few),
  guildIds: uniqueArray(guildId, few),
});

const each = <Id, Item>(ids: ReadonlyArray<Id>, make: (id: Id) => Arbitrary<Item>): Arbitrary<Array<Item>> =>
  tuple(...ids.map(make));

/** Generates all users, and some guilds. Each guild has some of the chat users as members. */
const platform = ({ chatIds, gameIds, guildIds }: Cast): Arbitrary<PlatformFixture> => {
  const members = subarray([...chatIds]).chain((ids) => each(ids, (id) => member({ chatId: constant(id) })));
  return record({
    guilds: subarray([...guildIds]).chain((ids) => each(ids, (id) => guild({ id: constant(id), members }))),
    chatUsers: each(chatIds, (id) => chatUser({ id: constant(id) })),
    gameUsers: each(gameIds, (id) => gameUser({ id: constant(id) })),
  });
};

type Scoped = { readonly account: string } & (
  | { readonly scope: "global" }
  | { readonly scope: "guild"; readonly guildId: GuildId }
);

const scoped = ({ names, guildIds }: Cast): Arbitrary<Scoped> => {
  const account = constantFrom(...names);
  return oneof(
    record({ account, scope: constant("global") }),
    record({ account, scope: constant("guild"), guildId: constantFrom(...guildIds) }),
  );
};

const inScope = <Entry extends object>(members: Cast, entry: Arbitrary<Entry>): Arbitrary<Scoped & Entry> =>
  tuple(scoped(members), entry).map(([scope, fields]) => ({ ...scope, ...fields }));

const key = record({
  key: token,
  tier: orNull(tier),
  kind: keyKind,
  access: keyAccess,
  status: keyStatus,
  expiresAt: orNull(millis),
  limits: keyLimits,
  ...addressLists,
});

/** Returns a text that identifies a link by scope and chat ID, since a chat user has at most one link in a scope. */
const placeOf = (link: Scoped & { readonly chatId: ChatId }): string =>
  JSON.stringify([link.account, link.scope === "guild" ? link.guildId : null, link.chatId]);

/** Some of the chat users as members of an account. */
const teamOf = ({ chatIds }: Cast) =>
  subarray([...chatIds]).chain((ids) =>
    each(ids, (id) =>
      record({ chatId: constant(id), role: constantFrom(...memberRoles), scopes: constant(null) }),
    ),
  );

const entries = (members: Cast): Arbitrary<Fixture> => {
  const user = constantFrom(...members.chatIds);
  const link = record({
    chatId: user,
    gameId: constantFrom(...members.gameIds),
    lastVerifiedAt: orNull(millis),
    proof: linkProof,
  });
  const device = orNull(constantFrom("phone", "computer"));
  const sighting = record({ chatId: user, ip, device, seenAt: orNull(millis) });
  return record({
    accounts: each(members.names, (account) =>
      record({ name: constant(account), chatId: orNull(user), tier, members: teamOf(members) }),
    ),
    keys: uniqueArray(inScope(members, key), { selector: (entry) => keyIdOf(entry.key), maxLength: 5 }),
    links: uniqueArray(inScope(members, link), { selector: placeOf, maxLength: 10 }),
    sightings: array(inScope(members, sighting), { maxLength: 10 }),
    plans: constant([]),
    platform: platform(members),
    vpnCidrs: array(network, { maxLength: 3 }),
  });
};

/**
 * A fixture that can be loaded: names and IDs are unique, a chat user has at most one link in a scope, and every
 * account, user and guild that an entry names exists.
 *
 * @example
 * ```ts
 * import * as fc from "fast-check";
 *
 * const [fixture] = fc.sample(Arbitrary.fixture, { numRuns: 1, seed: 1 });
 * fixture?.links.every(({ gameId }) => fixture.platform.gameUsers.some(({ id }) => id === gameId)); // true
 * ```
 */
export const fixture: Arbitrary<Fixture> = cast.chain(entries).map(completed);
