/**
 * Loads a fixture file into the stores.
 */
import { Clock, Context, Effect, Layer, Option } from "effect";
import { Digest } from "effect/crypto";
import { Hex } from "effect/encoding";
import type { Account } from "../api_key.ts";
import type { WriteOrigin } from "../audit.ts";
import { parseAddress } from "../client_address.ts";
import type { ScopeTarget } from "../data_scope.ts";
import type { InvalidParameter, StoreUnavailable } from "../errors.ts";
import { decodeFixture, type Fixture, type InvalidFixture } from "../fixture.ts";
import type { GuildId } from "../ids.ts";
import { KeyStore } from "../ports/key_store.ts";
import { LinkStore } from "../ports/link_store.ts";
import { SessionStore } from "../ports/session_store.ts";
import { AddressVault } from "./address_vault.ts";
import { ApiKeys } from "./api_keys.ts";

type Scoped = { readonly scope: "global" } | { readonly scope: "guild"; readonly guildId: GuildId };

const targetOf = (entry: Scoped): ScopeTarget =>
  entry.scope === "guild" ? { kind: "guild", guildId: entry.guildId } : { kind: "global" };

type Entry = Scoped & { readonly account: string };

const scopeName = (entry: Entry): string =>
  JSON.stringify([entry.account, entry.scope === "guild" ? entry.guildId : null]);

const byScope = <E extends Entry>(entries: ReadonlyArray<E>): ReadonlyArray<ReadonlyArray<E>> => [
  ...Map.groupBy(entries, scopeName).values(),
];

/** Loads fixtures. */
export class FixtureLoader extends Context.Service<
  FixtureLoader,
  {
    /**
     * Loads the accounts, keys, links and sightings of a fixture and gives what the file holds. What exists already is
     * left as it is, and links and sightings that were loaded are not loaded again. Sightings need an `AddressVault`;
     * without one a warning says how many there are.
     *
     * @param text the content of the file
     */
    readonly load: (
      text: string,
    ) => Effect.Effect<Fixture, InvalidFixture | InvalidParameter | StoreUnavailable>;
  }
>()("@accountlink/core/FixtureLoader") {
  static readonly layer = Layer.effect(
    FixtureLoader,
    Effect.gen(function* () {
      const keyStore = yield* KeyStore;
      const links = yield* LinkStore;
      const sessions = yield* SessionStore;
      const apiKeys = yield* ApiKeys;
      const vault = yield* Effect.serviceOption(AddressVault);
      const digest = yield* Digest.Digest;

      const accountOf = Effect.fnUntraced(function* (name: string) {
        const found = yield* keyStore.findAccount(name);
        return Option.getOrElse(found, (): Account => ({ name, chatId: null, tier: "free" }));
      });

      const loadKeys = Effect.fnUntraced(function* (keys: Fixture["keys"], origin: WriteOrigin) {
        for (const { key, account: name, ...entry } of keys) {
          const account = yield* accountOf(name);
          const { kind, status, expiresAt, limits, allowIps, denyIps, redirectOrigins } = entry;
          const chosen = { kind, status, expiresAt, limits, allowIps, denyIps, redirectOrigins };
          const tier = entry.tier ?? account.tier;
          yield* apiKeys.adopt(key, { ...chosen, account, tier, target: targetOf(entry) }, origin);
        }
      });

      /** Without address keys no sighting can be stored. The file is loaded whole when there are some. */
      const sightingsOf = ({ sightings }: Fixture) =>
        Option.isSome(vault) || sightings.length === 0
          ? Effect.succeed(sightings)
          : Effect.as(
              Effect.logWarning(
                `${sightings.length} sightings of the fixture are not loaded, since there is no address key`,
              ),
              [],
            );

      const loadBatches = Effect.fnUntraced(function* (
        fixture: Fixture,
        source: string,
        origin: WriteOrigin,
      ) {
        const batches = [
          ...byScope(fixture.links).map((ofScope) => ({ links: ofScope, sightings: [] })),
          ...byScope(yield* sightingsOf(fixture)).map((ofScope) => ({ links: [], sightings: ofScope })),
        ];
        const loaded = yield* links.importPosition(source);
        for (const [position, batch] of batches.entries()) {
          if (position < loaded) continue;
          const first = [...batch.links, ...batch.sightings][0] as Entry;
          const { pid } = yield* apiKeys.scopeOf(yield* accountOf(first.account), targetOf(first));
          const now = yield* Clock.currentTimeMillis;
          if (Option.isSome(vault) && batch.sightings.length > 0) {
            const { protect } = vault.value;
            const seen = Effect.forEach(batch.sightings, ({ chatId, ip, seenAt }) =>
              Effect.map(protect(Option.getOrThrow(parseAddress(ip))), (address) => ({
                chatId,
                address,
                seenAt: seenAt ?? now,
              })),
            );
            yield* sessions.recordSightings(pid, yield* seen);
          }
          yield* links.importBatch({
            ...origin,
            pid,
            at: now,
            links: batch.links.map(({ chatId, gameId, lastVerifiedAt }) => ({
              chatId,
              gameId,
              lastVerifiedAt: lastVerifiedAt ?? now,
            })),
            existing: "keep",
            progress: { source, position: position + 1 },
          });
        }
      });

      return FixtureLoader.of({
        load: Effect.fn("FixtureLoader.load")(function* (text) {
          const fixture = yield* decodeFixture(text);
          const hash = Hex.encode(
            yield* Effect.orDie(digest.digest(Digest.sha256, new TextEncoder().encode(text))),
          );
          const origin: WriteOrigin = { actor: { type: "operator", id: "fixture" }, requestId: null };
          for (const account of fixture.accounts) yield* keyStore.ensureAccount(account);
          yield* loadKeys(fixture.keys, origin);
          yield* loadBatches(fixture, `fixture:${hash}`, origin);
          return fixture;
        }),
      });
    }),
  );
}
