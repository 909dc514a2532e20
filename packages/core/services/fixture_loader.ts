/**
 * Loads a fixture file into the stores.
 */
import { Clock, Context, Effect, Layer, Option } from "effect";
import { Digest } from "effect/crypto";
import { Hex } from "effect/encoding";
import type { Account } from "../api_key.ts";
import type { Origin } from "../audit.ts";
import type { ScopeTarget } from "../data_scope.ts";
import type { InvalidParameter, StoreUnavailable } from "../errors.ts";
import { decodeFixture, type Fixture, type InvalidFixture } from "../fixture.ts";
import type { GuildId } from "../ids.ts";
import { KeyStore } from "../ports/key_store.ts";
import { LinkStore } from "../ports/link_store.ts";
import { ApiKeys } from "./api_keys.ts";

type Scoped = { readonly scope: "global" } | { readonly scope: "guild"; readonly guildId: GuildId };

const targetOf = (entry: Scoped): ScopeTarget =>
  entry.scope === "guild" ? { kind: "guild", guildId: entry.guildId } : { kind: "global" };

const scopeName = (entry: Scoped & { readonly account: string }): string =>
  JSON.stringify([entry.account, entry.scope === "guild" ? entry.guildId : null]);

/** Loads fixtures. */
export class FixtureLoader extends Context.Service<
  FixtureLoader,
  {
    /**
     * Loads the accounts, keys and links of a fixture and gives what the file holds. What exists already is left as
     * it is, and a file whose links were loaded whole is not loaded again.
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
      const apiKeys = yield* ApiKeys;
      const digest = yield* Digest.Digest;

      const accountOf = Effect.fnUntraced(function* (name: string) {
        const found = yield* keyStore.findAccount(name);
        return Option.getOrElse(found, (): Account => ({ name, chatId: null, tier: "free" }));
      });

      const loadKeys = Effect.fnUntraced(function* (keys: Fixture["keys"], origin: Origin) {
        for (const { key, account: name, ...entry } of keys) {
          const account = yield* accountOf(name);
          const { kind, status, expiresAt, limits, allowIps, denyIps, redirectOrigins } = entry;
          const chosen = { kind, status, expiresAt, limits, allowIps, denyIps, redirectOrigins };
          const tier = entry.tier ?? account.tier;
          yield* apiKeys.adopt(key, { ...chosen, account, tier, target: targetOf(entry) }, origin);
        }
      });

      const loadLinks = Effect.fnUntraced(function* (
        entries: Fixture["links"],
        source: string,
        origin: Origin,
      ) {
        const loaded = yield* links.importPosition(source);
        const groups = [...Map.groupBy(entries, scopeName).values()];
        for (const [position, group] of groups.entries()) {
          if (position < loaded) continue;
          const first = group[0] as (typeof group)[number];
          const { pid } = yield* apiKeys.scopeOf(yield* accountOf(first.account), targetOf(first));
          const now = yield* Clock.currentTimeMillis;
          yield* links.importBatch({
            ...origin,
            pid,
            at: now,
            links: group.map(({ chatId, gameId, lastVerifiedAt }) => ({
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
          const origin: Origin = { actor: { type: "operator", id: "fixture" }, requestId: null };
          for (const account of fixture.accounts) yield* keyStore.ensureAccount(account);
          yield* loadKeys(fixture.keys, origin);
          yield* loadLinks(fixture.links, `fixture:${hash}`, origin);
          return fixture;
        }),
      });
    }),
  );
}
