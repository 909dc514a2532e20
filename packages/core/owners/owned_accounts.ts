import { Clock, Context, Effect, Layer, Option } from "effect";
import { SecureRandom } from "effect/crypto";
import { CommunityStore, isGenerated } from "../communities/mod.ts";
import { BadRequest, Conflict } from "../errors.ts";
import { ApiKeys } from "../keys/api_keys.ts";
import { type Account, type KeyOwner, KeyStore, originOf } from "../keys/mod.ts";
import { LinkWriter } from "../links/link_writer.ts";
import { RolePlanStore } from "../roles/role_plan_store.ts";
import { StoredPlans } from "../roles/stored_plans.ts";
import { randomToken } from "../secrets/crypto.ts";
import { Webhooks } from "../webhooks/webhooks.ts";
import { OwnedScopes } from "./owned_scopes.ts";

/** How long other nodes accept a revoked key or an ended sign-in at most. */
const longestTrust = "1 second";

/** Renames and deletes the account of the signed-in owner, and deletes the data of its communities. */
export class OwnedAccounts extends Context.Service<OwnedAccounts>()("@accountlink/core/OwnedAccounts", {
  make: Effect.gen(function* () {
    const store = yield* KeyStore;
    const communities = yield* CommunityStore;
    const plans = yield* RolePlanStore;
    const storedPlans = yield* StoredPlans;
    const webhooks = yield* Webhooks;
    const scopes = yield* OwnedScopes;
    const writer = yield* LinkWriter;
    const keys = yield* ApiKeys;
    const random = yield* SecureRandom.SecureRandom;
    const notFound = new BadRequest({ problem: "not_found" });

    return {
      /**
       * Gives the account another name; its own `name` takes the given one away. Fails with `Conflict` `name_taken` if the
       * name is another account's, or one that the service makes.
       */
      rename: Effect.fn("OwnedAccounts.rename")(function* (owner: KeyOwner, displayName: string) {
        const { displayName: _, ...unnamed } = owner.account;
        const { name } = unnamed;
        if (displayName !== name && isGenerated(displayName)) {
          return yield* new Conflict({ reason: "name_taken" });
        }
        const at = yield* Clock.currentTimeMillis;
        const outcome = yield* store.renameAccount({ ...originOf(owner), name, displayName, at });
        if (outcome === "taken") return yield* new Conflict({ reason: "name_taken" });
        if (outcome === "unknown") return yield* notFound;
        return (displayName === name ? unnamed : { ...unnamed, displayName }) satisfies Account;
      }),

      /** Deletes the links of a community and what belongs to them, and returns the number of deleted records. */
      deleteData: Effect.fn("OwnedAccounts.deleteData")(function* (
        owner: KeyOwner,
        pid: string,
        keepsBlocks: boolean,
      ) {
        const { scope } = yield* scopes.managed(owner, pid);
        const deleted = yield* writer.deleteOwnScope(scope, originOf(owner), keepsBlocks);
        yield* scopes.counts.forget(scope.pid);
        return deleted;
      }),

      /**
       * Deletes the account with its role plans, webhooks and links, and refuses its keys on every node within a second.
       * An interrupted deletion keeps the account, so that the owner can delete it again.
       */
      remove: Effect.fn("OwnedAccounts.remove")(function* (owner: KeyOwner) {
        const { name } = owner.account;
        const origin = originOf(owner);
        const now = yield* Clock.currentTimeMillis;
        for (const { id } of yield* store.listKeys(name, now, "living")) yield* keys.revoke(id, origin);
        const configured = yield* store.listScopes(name);
        for (const { scope } of configured) {
          for (const community of yield* communities.list(scope.pid)) {
            yield* storedPlans.remove(community, origin);
          }
          // Plans that were never turned on have no community.
          for (const plan of yield* plans.list(scope.pid)) yield* storedPlans.remove(plan, origin);
        }
        for (const { id } of yield* webhooks.list(name)) yield* webhooks.remove(name, id, origin);
        // Other nodes accept the keys for up to a second. Nobody could delete what they link once the account has ended.
        yield* Effect.sleep(longestTrust);
        for (const { scope } of configured) yield* writer.deleteOwnScope(scope, origin, false);
        const pseudonym = `erased:${yield* randomToken(random)}`;
        const at = yield* Clock.currentTimeMillis;
        const ending = Effect.gen(function* () {
          const ended = yield* store.endAccount({ ...origin, name, pseudonym, at });
          if (Option.isNone(ended)) return yield* notFound;
          // Other nodes accept sign-ins for up to a second, and members may have linked users since the deletion above.
          yield* Effect.sleep(longestTrust);
          for (const { scope } of configured) {
            const actor = { ...origin.actor, id: pseudonym } as typeof origin.actor;
            yield* writer.deleteOwnScope({ ...scope, account: pseudonym }, { ...origin, actor }, false);
          }
        });
        // An owner who closes the page interrupts the request, and cannot delete the links of an ended account later.
        yield* Effect.uninterruptible(ending);
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(OwnedAccounts, OwnedAccounts.make);
}
