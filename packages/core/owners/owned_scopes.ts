import { Clock, Context, Effect, Layer, Option } from "effect";
import { BadRequest } from "../errors.ts";
import { type GuildId, isPid } from "../ids.ts";
import { type Account, isAccepted } from "../keys/api_key.ts";
import { ApiKeys } from "../keys/api_keys.ts";
import type { ConfiguredScope, ScopeSettings } from "../keys/key_store.ts";
import { KeyStore } from "../keys/key_store.ts";
import { type KeyOwner, originOf } from "../keys/owned_keys.ts";
import { GuildGuard } from "../platforms/guild_guard.ts";
import { type LinkCount, makeLinkCounts } from "./link_counts.ts";

/** A scope of an account with its numbers of links and keys. */
export interface OwnedScope extends ConfiguredScope {
  readonly links: LinkCount;
  /** The number of keys that are not revoked. */
  readonly keys: number;
  /** Whether the public flow accepts one of the keys, so that users can link. */
  readonly hasActiveKey: boolean;
  /** The redirect origins that the flow accepts, each once, sorted: only active keys count. */
  readonly redirectOrigins: ReadonlyArray<string>;
}

/** Manages the scopes of the signed-in owner: their links and keys, and the texts shown to users who verify. */
export class OwnedScopes extends Context.Service<OwnedScopes>()("@accountlink/core/OwnedScopes", {
  make: Effect.gen(function* () {
    const store = yield* KeyStore;
    const counts = yield* makeLinkCounts;
    const guard = yield* GuildGuard;
    const keys = yield* ApiKeys;

    const list = Effect.fn("OwnedScopes.list")(function* ({ name }: Pick<Account, "name">) {
      const scopes = yield* store.listScopes(name);
      const now = yield* Clock.currentTimeMillis;
      const listed = yield* store.listKeys(name, now);
      return yield* Effect.forEach(scopes, (configured) =>
        Effect.map(counts.of(configured.scope.pid), (links) => {
          const own = listed.filter(
            ({ scope, status }) => scope.pid === configured.scope.pid && status !== "revoked",
          );
          const accepted = own.filter((key) => isAccepted(key, now));
          const origins = new Set(accepted.flatMap(({ redirectOrigins }) => redirectOrigins));
          return {
            ...configured,
            links,
            keys: own.length,
            hasActiveKey: accepted.length > 0,
            redirectOrigins: [...origins].toSorted(),
          };
        }),
      );
    });

    const configured = Effect.fn("OwnedScopes.find")(function* (
      { name }: Pick<Account, "name">,
      pid: string,
    ) {
      const found = isPid(pid) ? Option.getOrNull(yield* store.findScopeByPid(pid)) : null;
      return found?.scope.account === name ? found : yield* new BadRequest({ problem: "not_found" });
    });
    const find = (account: Pick<Account, "name">, pid: string) =>
      Effect.map(configured(account, pid), ({ scope }) => scope);

    return {
      /**
       * Opens the own list of a guild that the user manages and the bot is in, or returns it if it is open. Members link
       * there without a key once a role plan is on.
       */
      open: Effect.fn("OwnedScopes.open")(function* ({ account, chatId }: KeyOwner, guildId: GuildId) {
        yield* guard.requireManager(guildId, chatId);
        return (yield* keys.scopeOf(account, { kind: "guild", guildId })).pid;
      }),

      /** Returns the scopes of the owner: the global scope first, then guilds by id. */
      list,

      /** @param pid any text, such as a value from a URL */
      find,

      /** Finds a scope with its settings, as `find` does. */
      configured,

      update: Effect.fn("OwnedScopes.update")(function* (
        owner: KeyOwner,
        pid: string,
        update: Partial<ScopeSettings>,
      ) {
        const scope = yield* find(owner.account, pid);
        const at = yield* Clock.currentTimeMillis;
        yield* store.updateSettings({ pid: scope.pid, update, at, ...originOf(owner) });
        const updated = (yield* list(owner.account)).find((owned) => owned.scope.pid === scope.pid);
        return updated ?? (yield* new BadRequest({ problem: "not_found" }));
      }),

      /** Counts the links of scopes. */
      counts,
    };
  }),
}) {
  static readonly layer = Layer.effect(OwnedScopes, OwnedScopes.make);
}
