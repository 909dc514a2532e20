/**
 * The data scopes of an account: how many links and keys they have, and what their owner says to
 * users who verify.
 */
import { Clock, Context, Effect, Layer, Option, Schema } from "effect";
import type { DataScope } from "../data_scope.ts";
import { BadRequest, type StoreUnavailable } from "../errors.ts";
import { Pid } from "../ids.ts";
import type { Account } from "../keys/api_key.ts";
import { KeyStore } from "../keys/key_store.ts";
import { type KeyOwner, originOf } from "../keys/owned_keys.ts";
import type { ConfiguredScope, ScopeSettings } from "../keys/scope_settings.ts";
import { type LinkCount, makeLinkCounts, type VerifiedWeeks } from "./link_counts.ts";

/** A scope of an account with what it has. */
export interface OwnedScope extends ConfiguredScope {
  readonly links: LinkCount;
  /** The number of its keys, without revoked ones. */
  readonly keys: number;
}

/** A scope of another account is like none: both are `BadRequest`, not found. */
type Unknown = BadRequest;

/** Manages the scopes of who is signed in. */
export class OwnedScopes extends Context.Service<
  OwnedScopes,
  {
    /** Global first, then by guild. */
    readonly list: (
      account: Pick<Account, "name">,
    ) => Effect.Effect<ReadonlyArray<OwnedScope>, StoreUnavailable>;

    /** @param pid unchecked */
    readonly find: (
      account: Pick<Account, "name">,
      pid: string,
    ) => Effect.Effect<DataScope, Unknown | StoreUnavailable>;

    readonly update: (
      owner: KeyOwner,
      pid: string,
      update: Partial<ScopeSettings>,
    ) => Effect.Effect<OwnedScope, Unknown | StoreUnavailable>;

    /** How many links of a scope were verified lately. */
    readonly verifiedWeeks: (pid: Pid) => Effect.Effect<VerifiedWeeks, StoreUnavailable>;

    /** The number of links of a scope, which may be a minute old. It waits for a count of many if there is none. */
    readonly countLinks: (pid: Pid) => Effect.Effect<number, StoreUnavailable>;

    /** Counts a link that the owner made or removed, until all are counted anew. */
    readonly addLinks: (pid: Pid, links: 1 | -1) => Effect.Effect<void>;
  }
>()("@accountlink/core/OwnedScopes") {
  static readonly layer = Layer.effect(
    OwnedScopes,
    Effect.gen(function* () {
      const store = yield* KeyStore;
      const counts = yield* makeLinkCounts;

      const list = Effect.fn("OwnedScopes.list")(function* ({ name }: Pick<Account, "name">) {
        const scopes = yield* store.listScopes(name);
        const keys = yield* store.listKeys(name, yield* Clock.currentTimeMillis);
        return yield* Effect.forEach(scopes, (configured) =>
          Effect.map(counts.of(configured.scope.pid), (links) => ({
            ...configured,
            links,
            keys: keys.filter(
              ({ scope, status }) => scope.pid === configured.scope.pid && status !== "revoked",
            ).length,
          })),
        );
      });

      const find = Effect.fn("OwnedScopes.find")(function* ({ name }: Pick<Account, "name">, pid: string) {
        const found = isPid(pid) ? Option.getOrNull(yield* store.findScopeByPid(pid)) : null;
        return found?.scope.account === name ? found.scope : yield* new BadRequest({ problem: "not_found" });
      });

      return OwnedScopes.of({
        list,
        find,

        update: Effect.fn("OwnedScopes.update")(function* (owner, pid, update) {
          const scope = yield* find(owner.account, pid);
          const at = yield* Clock.currentTimeMillis;
          yield* store.updateSettings({ pid: scope.pid, update, at, ...originOf(owner) });
          const updated = (yield* list(owner.account)).find((owned) => owned.scope.pid === scope.pid);
          return updated ?? (yield* new BadRequest({ problem: "not_found" }));
        }),

        verifiedWeeks: counts.weeksOf,
        countLinks: counts.recentOf,
        addLinks: counts.add,
      });
    }),
  );
}

const isPid = Schema.is(Pid);
