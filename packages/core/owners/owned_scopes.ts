import { Clock, Context, Effect, Layer } from "effect";
import { type DataScope, guildOf } from "../data_scope.ts";
import { Forbidden, InvalidParameter, type StoreEffect } from "../errors.ts";
import { groupBy } from "../group_by.ts";
import type { GuildId } from "../ids.ts";
import { isAccepted } from "../keys/api_key.ts";
import { ApiKeys } from "../keys/api_keys.ts";
import { KeyStore } from "../keys/key_store.ts";
import { makeManagedScope } from "../keys/managed_scope.ts";
import { type KeyOwner, type Manager, originOf, reaches } from "../keys/owned_keys.ts";
import { forEachLimited } from "../limited_loops.ts";
import { GamePlatform, GuildGuard, knownFeatures } from "../platforms/mod.ts";
import type { ConfiguredScope, ScopeSettings } from "../scope_settings.ts";
import { type LinkCount, makeLinkCounts } from "./link_counts.ts";

/** How many scopes are counted at once. */
const countsAtOnce = 20;

export interface ScopeNumbers {
  readonly links: LinkCount;
  /** The number of keys that are not revoked; 0 for members of some communities, who see no keys. */
  readonly keys: number;
  /** Whether the public flow accepts one of the keys, so that users can link. */
  readonly hasActiveKey: boolean;
  /** The redirect origins that the flow accepts, each once, sorted: only active keys count. */
  readonly redirectOrigins: ReadonlyArray<string>;
}

/** A scope of an account with its numbers of links and keys. */
export interface OwnedScope extends ConfiguredScope, ScopeNumbers {}

/** Manages the scopes of the signed-in owner: their links and keys, and the texts shown to users who verify. */
export class OwnedScopes extends Context.Service<OwnedScopes>()("@accountlink/core/OwnedScopes", {
  make: Effect.gen(function* () {
    const store = yield* KeyStore;
    const counts = yield* makeLinkCounts;
    const guard = yield* GuildGuard;
    const game = yield* GamePlatform;
    const keys = yield* ApiKeys;

    const numbersFor = Effect.fnUntraced(function* (manager: Manager) {
      const now = yield* Clock.currentTimeMillis;
      const listed = yield* store.listKeys(manager.account.name, now, "living");
      const byPid = groupBy(listed, ({ scope }) => scope.pid);
      return <S extends ConfiguredScope>(configured: S): StoreEffect<S & ScopeNumbers> =>
        Effect.map(counts.of(configured.scope.pid), (links) => {
          const own = byPid.get(configured.scope.pid) ?? [];
          const accepted = own.filter((key) => isAccepted(key, now));
          const origins = new Set(accepted.flatMap(({ redirectOrigins }) => redirectOrigins));
          return {
            ...configured,
            links,
            keys: "key" in manager || manager.scopes === null ? own.length : 0,
            hasActiveKey: accepted.length > 0,
            redirectOrigins: [...origins].toSorted(),
          };
        });
    });

    const list = Effect.fn("OwnedScopes.list")(function* (manager: Manager) {
      const scopes = yield* store.listScopes(manager.account.name);
      return scopes.filter(({ scope }) => reaches(manager, scope.pid));
    });

    const withNumbers = Effect.fnUntraced(function* <S extends ConfiguredScope>(
      manager: Manager,
      scopes: ReadonlyArray<S>,
    ) {
      return yield* forEachLimited(scopes, countsAtOnce, yield* numbersFor(manager));
    });

    const listCounted = Effect.fn("OwnedScopes.listCounted")(function* (manager: Manager) {
      return yield* withNumbers(manager, yield* list(manager));
    });

    const managed = yield* makeManagedScope;

    /** Guild scopes are closed to the team, as they are to keys, while nobody of the team manages the guild. */
    const requireOpen = (scope: DataScope) =>
      scope.namesAnyGuild === true ? Effect.void : guard.requireAccount(scope, guildOf(scope));

    const configured = (manager: Manager, pid: string) =>
      Effect.tap(managed(manager, pid), ({ scope }) => requireOpen(scope));
    const find = (manager: Manager, pid: string) =>
      Effect.map(configured(manager, pid), ({ scope }) => scope);

    const ownedAny = Effect.fn("OwnedScopes.owned")(function* (manager: Manager, pid: string) {
      const own = yield* managed(manager, pid);
      return yield* (yield* numbersFor(manager))(own);
    });
    const owned = (manager: Manager, pid: string) =>
      Effect.tap(ownedAny(manager, pid), ({ scope }) => requireOpen(scope));

    return {
      /**
       * Opens the own list of a guild that the user manages and the bot is in, or returns it if it is open. Members link
       * there without a key once a role plan is on.
       */
      open: Effect.fn("OwnedScopes.open")(function* (owner: KeyOwner, guildId: GuildId) {
        const { account, chatId, scopes } = owner;
        if (scopes !== null) return yield* new Forbidden({ reason: "role" });
        yield* guard.requireManager(guildId, [chatId]);
        return (yield* keys.scopeOf(account, { kind: "guild", guildId })).pid;
      }),

      /** Returns the scopes that the manager reaches: the global scope first, then guilds by id. */
      list,

      /** Adds the numbers to scopes that the manager reaches. */
      withNumbers,

      /** Returns the scopes that the manager reaches with their numbers. */
      listCounted,

      /**
       * Returns the scope with the given `pid`, which must belong to the account, and be a key's own. Fails with
       * `Forbidden` for the scope of a guild that nobody of the team manages.
       *
       * @param pid any text, such as a value from a URL
       */
      find,

      /** Finds a scope with its settings, as `find` does. */
      configured,

      /** The same for a scope that may be closed, whose data its account can delete. */
      managed,

      /** Fails with `Forbidden` if the scope is closed. */
      requireOpen,

      /** Returns a scope with its settings and numbers, as `find` does. */
      owned,

      /** The same for a scope that may be closed. */
      ownedAny,

      update: Effect.fn("OwnedScopes.update")(function* (
        manager: Manager,
        pid: string,
        update: Partial<ScopeSettings>,
      ) {
        const scope = yield* find(manager, pid);
        // An age that no account has would refuse everybody.
        if ((update.minGameAgeDays ?? 0) > 0 && !(yield* knownFeatures(game)).ages) {
          return yield* InvalidParameter.one("minGameAgeDays", { is: "ages" });
        }
        const at = yield* Clock.currentTimeMillis;
        yield* store.updateSettings({ pid: scope.pid, update, at, ...originOf(manager) });
        return yield* owned(manager, pid);
      }),

      /** Counts the links of scopes. */
      counts,
    };
  }),
}) {
  static readonly layer = Layer.effect(OwnedScopes, OwnedScopes.make);
}
