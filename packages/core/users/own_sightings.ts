import { Clock, Context, Effect, Layer, Option } from "effect";
import { NetAddress } from "effect/net";
import { AddressVault } from "../addresses/address_vault.ts";
import { placeOf, type Sighting } from "../addresses/sighting.ts";
import type { StoreEffect } from "../errors.ts";
import { groupBy } from "../group_by.ts";
import type { ChatId, Pid } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import { platformConcurrency } from "../platforms/guild_guard.ts";
import { SessionSettings } from "../sessions/session_settings.ts";
import type { Millis } from "../timestamp.ts";
import { makeOwnCommunity, type OwnCommunity } from "./own_community.ts";
import { type Places, UserStore } from "./user_store.ts";

/**
 * A place where a user confirmed links: an address or a browser. Its sightings are merged over all scopes. @internal
 */
export interface OwnPlace {
  /**
   * When the user was first seen in this browser. Null for an address, and for a browser that an earlier release stored
   * without this time.
   */
  readonly firstSeenAt: Millis | null;
  readonly lastSeenAt: Millis;
  /** When this address or browser will be forgotten, unless the user uses it to confirm a link again. */
  readonly keptUntil: Millis;
  /** The communities in which the user confirmed links at this address or in this browser, sorted by `pid`. */
  readonly communities: ReadonlyArray<OwnCommunity>;
}

/** @internal */
export interface OwnAddress extends OwnPlace {
  /** The address as text; null if the deployment no longer has the key that encrypted the address. */
  readonly ip: string | null;
}

/** Shows users their addresses and browsers, and forgets them. @internal */
export class OwnSightings extends Context.Service<
  OwnSightings,
  {
    /** Returns the user's addresses and browsers, sorted by the last sighting, latest first. */
    readonly list: (chatId: ChatId) => StoreEffect<{
      readonly addresses: ReadonlyArray<OwnAddress>;
      readonly browsers: ReadonlyArray<OwnPlace>;
    }>;

    /** Forgets all of the user's addresses or browsers in every scope. */
    readonly forget: (chatId: ChatId, places: Places) => StoreEffect<void>;
  }
>()("@accountlink/core/OwnSightings") {
  static readonly layer = Effect.gen(function* () {
    const users = yield* UserStore;
    const keys = yield* KeyStore;
    const vault = yield* AddressVault;
    const communityOf = yield* makeOwnCommunity;
    const { sightingRetention } = yield* SessionSettings;

    const communitiesOf = Effect.fnUntraced(function* (pids: ReadonlyArray<Pid>) {
      const found = yield* Effect.forEach(
        [...new Set(pids)].toSorted(),
        (pid) =>
          Effect.flatMap(keys.findScopeByPid(pid), (configured) =>
            Option.isNone(configured) ? Effect.succeed(null) : communityOf(configured.value.scope),
          ),
        { concurrency: platformConcurrency },
      );
      return found.filter((community) => community !== null);
    });

    /** Merges all sightings of the same address or browser, over all scopes, into one place. */
    const placesOf = <S extends Sighting>(
      sightings: ReadonlyArray<Seen<S>>,
      communities: ReadonlyArray<OwnCommunity>,
      now: Millis,
    ) => {
      const groups = groupBy(sightings, ({ sighting }) => placeOf(sighting));
      return [...groups.values()]
        .map((seen) => {
          const [{ sighting }] = seen.toSorted(
            (one, other) => other.sighting.seenAt - one.sighting.seenAt,
          ) as [Seen<S>];
          const firsts = seen.map(({ firstSeenAt = null }) => firstSeenAt).filter((at) => at !== null);
          return {
            sighting,
            firstSeenAt: firsts.length < seen.length ? null : Math.min(...firsts),
            lastSeenAt: sighting.seenAt,
            keptUntil: sighting.seenAt + sightingRetention,
            communities: communities.filter((one) => seen.some(({ pid }) => pid === one.pid)),
          };
        })
        .filter(({ keptUntil }) => keptUntil > now)
        .toSorted((one, other) => other.lastSeenAt - one.lastSeenAt);
    };

    return OwnSightings.of({
      list: Effect.fn("OwnSightings.list")(function* (chatId) {
        const { sightings, browsers } = yield* users.findSightings(chatId);
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

      forget: (chatId, places) => Effect.asVoid(users.forget(chatId, places)),
    });
  }).pipe(Layer.effect(OwnSightings));
}

interface Seen<S extends Sighting> {
  readonly pid: Pid;
  readonly sighting: S;
  readonly firstSeenAt?: Millis | null;
}
