import { Clock, Context, Effect, Layer, Option } from "effect";
import { NetAddress } from "effect/net";
import { AddressVault, placeOf, type Sighting } from "../addresses/mod.ts";
import { type Places, SightingStore } from "../alts/sighting_store.ts";
import { makeAskingName } from "../communities/asking_name.ts";
import { type DataScope, guildOf } from "../data_scope.ts";
import { LinkNotFound } from "../errors.ts";
import { groupBy } from "../group_by.ts";
import type { Once } from "../idempotency/idempotency_store.ts";
import type { ChatId, GameId, GuildId, Pid } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import { forEachLimited } from "../limited_loops.ts";
import { isLinked, type Link, LinkEvents, LinkStore } from "../links/mod.ts";
import { type GameProfile, Profiles } from "../platforms/mod.ts";
import { SessionSettings, SessionWatch } from "../sessions/mod.ts";
import type { Millis } from "../timestamp.ts";
import { type ScopedRecord, UserStore } from "./user_store.ts";

/** A community that stores data about a user, in the form that the user sees. @internal */
export interface OwnCommunity {
  readonly pid: Pid;
  /** Who asks the user for a link, by `makeAskingName`. */
  readonly asking: string;
  /** The guild of the scope, or null. Its name is null if the platform does not tell it. */
  readonly guild: { readonly id: GuildId; readonly name: string | null } | null;
}

/** Makes a function that returns a community in the form that its users see. @internal */
export const makeOwnCommunity = Effect.gen(function* () {
  const keys = yield* KeyStore;
  const profiles = yield* Profiles;
  const askingName = yield* makeAskingName;

  return Effect.fnUntraced(function* (scope: DataScope) {
    const { pid } = scope;
    const guildId = guildOf(scope);
    // Before the platform is waited for, so that the communities of a page share a statement.
    const configured = Option.getOrNull(yield* keys.findScopeByPid(pid));
    const guildName = guildId === null ? null : ((yield* profiles.guild(guildId))?.name ?? null);
    const displayName = configured?.settings.displayName ?? null;
    return {
      pid,
      asking: yield* askingName(scope, { displayName, guildName }),
      guild: guildId === null ? null : { id: guildId, name: guildName },
    } satisfies OwnCommunity;
  });
});

/** How many links a page shows. @internal */
export const linksOfPage = 50;

/** A link of a user in one community. @internal */
export interface OwnLink extends OwnCommunity, Pick<Link, "linkedAt" | "lastVerifiedAt" | "proof"> {
  readonly game: { readonly id: GameId; readonly profile: GameProfile | null };
}

/** Shows users their links, and removes one link. `UserData.erase` removes all data about a user. @internal */
export class OwnLinks extends Context.Service<OwnLinks>()("@accountlink/core/OwnLinks", {
  make: Effect.gen(function* () {
    const users = yield* UserStore;
    const links = yield* LinkStore;
    const communityOf = yield* makeOwnCommunity;
    const profiles = yield* Profiles;
    const watch = yield* SessionWatch;
    const events = yield* LinkEvents;

    const findLinks = (chatId: ChatId) =>
      Effect.map(users.findRecords(chatId), (records) => records.filter(isScopedLink));

    const show = Effect.fnUntraced(function* ({ scope, record }: ScopedLink) {
      const { gameId, linkedAt, lastVerifiedAt, proof } = record;
      const profiled = profiles.game(gameId, ["avatar"]);
      const [community, profile] = yield* Effect.zip(communityOf(scope), profiled, { concurrent: true });
      const game = { id: gameId, profile };
      return { ...community, game, linkedAt, lastVerifiedAt, proof } satisfies OwnLink;
    });

    return {
      /** Returns a page of the links of every scope, the newest first, and how many links there are. */
      list: Effect.fn("OwnLinks.list")(function* (chatId: ChatId, from: number) {
        const found = (yield* findLinks(chatId)).toSorted(
          (one, other) => other.record.linkedAt - one.record.linkedAt,
        );
        const page = found.slice(from, from + linksOfPage);
        return {
          links: yield* forEachLimited(page, linksOfPage, show),
          count: found.length,
        };
      }),

      /**
       * Removes the user's link in one scope, and fails the user's open sessions in that scope. The user need not be a
       * member of the scope's guild. Returns the removed link.
       *
       * @param only.gameId the game account that the user saw: a link to another one is not removed
       */
      remove: Effect.fn("OwnLinks.remove")(function* (
        chatId: ChatId,
        pid: Pid,
        requestId: string,
        { once, gameId }: { readonly once?: Once; readonly gameId?: string | null } = {},
      ) {
        const link = (yield* findLinks(chatId)).find(
          ({ scope, record }) => scope.pid === pid && (gameId ?? record.gameId) === record.gameId,
        );
        if (link === undefined) return yield* new LinkNotFound();
        const at = yield* Clock.currentTimeMillis;
        const actor = { type: "user", id: chatId } as const;
        const removed = yield* links.removeGame({ pid, chatId, at, actor, requestId, once });
        if (Option.isNone(removed)) return yield* new LinkNotFound();
        yield* watch.announce(removed.value.ended);
        const { gameId: previousGameId } = removed.value;
        yield* events.announce("linkChanged", { scope: link.scope, chatId, gameId: null, previousGameId });
        return yield* show(link);
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(OwnLinks, OwnLinks.make).pipe(Layer.provide(LinkEvents.layer));
}

interface ScopedLink extends ScopedRecord {
  readonly record: Link;
}

const isScopedLink = (found: ScopedRecord): found is ScopedLink => isLinked(found.record);

/**
 * A place where a user confirmed links: an address or a browser. Its sightings are merged over all scopes. @internal
 */
export interface OwnPlace {
  /** When the user was first seen in this browser; null for an address. */
  readonly firstSeenAt: Millis | null;
  readonly lastSeenAt: Millis;
  /** When this address or browser will be forgotten, unless the user uses it to confirm a link again. */
  readonly keptUntil: Millis;
  /** The first communities in which the user confirmed links at this address or in this browser, sorted by `pid`. */
  readonly communities: ReadonlyArray<OwnCommunity>;
  /** Whether there are more of these communities. */
  readonly hasMore: boolean;
}

/** @internal */
export interface OwnAddress extends OwnPlace {
  /** The address as text; null if the deployment no longer has the key that encrypted the address. */
  readonly ip: string | null;
}

/** The communities of sightings, among those that were read. */
const communitiesIn = (
  seen: ReadonlyArray<{ readonly pid: Pid }>,
  communities: ReadonlyArray<OwnCommunity>,
) => {
  const pids = new Set(seen.map(({ pid }) => pid));
  const shown = communities.filter(({ pid }) => pids.has(pid));
  return { communities: shown, hasMore: communities.length === linksOfPage && shown.length < pids.size };
};

/** Shows users their addresses and browsers, and forgets them. @internal */
export class OwnSightings extends Context.Service<OwnSightings>()("@accountlink/core/OwnSightings", {
  make: Effect.gen(function* () {
    const store = yield* SightingStore;
    const keys = yield* KeyStore;
    const vault = yield* AddressVault;
    const communityOf = yield* makeOwnCommunity;
    const { sightingRetention } = yield* SessionSettings;

    const communitiesOf = Effect.fnUntraced(function* (pids: ReadonlyArray<Pid>) {
      const found = yield* forEachLimited(
        [...new Set(pids)].toSorted().slice(0, linksOfPage),
        linksOfPage,
        (pid) =>
          Effect.flatMap(keys.findScopeByPid(pid), (configured) =>
            Option.isNone(configured) ? Effect.succeed(null) : communityOf(configured.value.scope),
          ),
      );
      return found.filter((community) => community !== null);
    });

    /** Merges all sightings of the same address or browser, over all scopes, into one place. */
    const placesOf = <S extends Sighting>(
      sightings: ReadonlyArray<{ pid: Pid; sighting: S; firstSeenAt?: Millis }>,
      communities: ReadonlyArray<OwnCommunity>,
      now: Millis,
    ) => {
      const groups = groupBy(sightings, ({ sighting }) => placeOf(sighting));
      return [...groups.values()]
        .map((seen) => {
          const [{ sighting }] = seen.toSorted(
            (one, other) => other.sighting.seenAt - one.sighting.seenAt,
          ) as [(typeof seen)[number]];
          const firsts = seen.map(({ firstSeenAt }) => firstSeenAt).filter((at) => at !== undefined);
          return {
            sighting,
            firstSeenAt: firsts.length === 0 ? null : Math.min(...firsts),
            lastSeenAt: sighting.seenAt,
            keptUntil: sighting.seenAt + sightingRetention,
            ...communitiesIn(seen, communities),
          };
        })
        .filter(({ keptUntil }) => keptUntil > now)
        .toSorted((one, other) => other.lastSeenAt - one.lastSeenAt);
    };

    return {
      /** Returns the user's addresses and browsers, sorted by the last sighting, latest first. */
      list: Effect.fn("OwnSightings.list")(function* (chatId: ChatId) {
        const { sightings, browsers } = yield* store.ofUser(chatId);
        const communities = yield* communitiesOf([...sightings, ...browsers].map(({ pid }) => pid));
        const now = yield* Clock.currentTimeMillis;
        const addresses = placesOf(sightings, communities, now);
        const revealed = yield* vault.revealEach(addresses.map(({ sighting }) => sighting.address));
        return {
          addresses: revealed.map((address, index) => ({
            ...(addresses[index] as OwnPlace),
            ip: Option.isNone(address) ? null : NetAddress.formatIp(address.value.ip),
          })),
          browsers: placesOf(browsers, communities, now),
        };
      }),

      /** Returns how many addresses and browsers `list` shows, without asking the platform for their communities. */
      count: Effect.fn("OwnSightings.count")(function* (chatId: ChatId) {
        const { sightings, browsers } = yield* store.ofUser(chatId);
        const now = yield* Clock.currentTimeMillis;
        return {
          sightings: placesOf(sightings, [], now).length,
          browsers: placesOf(browsers, [], now).length,
        };
      }),

      /** Forgets all of the user's addresses or browsers in every scope. */
      forget: (chatId: ChatId, places: Places) => Effect.asVoid(store.forget(chatId, places)),
    };
  }),
}) {
  static readonly layer = Layer.effect(OwnSightings, OwnSightings.make);
}
