import { Effect, Option } from "effect";
import { BadRequest } from "../errors.ts";
import { isPid } from "../ids.ts";
import type { ConfiguredScope } from "../scope_settings.ts";
import { KeyStore } from "./key_store.ts";
import { type Manager, reaches } from "./owned_keys.ts";

/**
 * Returns a function that finds a scope, which must belong to the account. It fails with `not_found` for a scope that the
 * manager does not reach. @internal
 */
export const makeManagedScope = Effect.map(KeyStore, (store) =>
  Effect.fn("managedScope")(function* (manager: Manager, pid: string) {
    const key = "key" in manager ? manager.key : null;
    const isKnown = isPid(pid) && reaches(manager, pid);
    const found = isKnown ? Option.getOrNull(yield* store.findScopeByPid(pid)) : null;
    if (found?.scope.account !== manager.account.name) return yield* new BadRequest({ problem: "not_found" });
    return { ...found, scope: key?.scope ?? found.scope } satisfies ConfiguredScope;
  }),
);
