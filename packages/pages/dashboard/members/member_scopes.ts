import type { MemberRole } from "@accountlink/core/accounts";
import { InvalidParameter } from "@accountlink/core/errors";
import type { KeyOwner } from "@accountlink/core/keys";
import { OwnedScopes } from "@accountlink/core/owners";
import { Effect } from "effect";

/**
 * Returns a function that checks of which communities somebody becomes a member: null for all. Fails with
 * `InvalidParameter` for scopes of another account, and for an owner of some communities alone.
 */
export const makeMemberScopes = Effect.map(OwnedScopes, (scopes) =>
  Effect.fnUntraced(function* (
    owner: KeyOwner,
    role: MemberRole | undefined,
    wanted: ReadonlyArray<string> | null,
  ) {
    if (wanted === null) return null;
    if (role === "owner") return yield* InvalidParameter.one("scopes", { is: "all_communities" });
    const known = (yield* scopes.list(owner)).map(({ scope }) => scope.pid);
    const found = known.filter((pid) => wanted.includes(pid));
    if (found.length < new Set(wanted).size)
      return yield* InvalidParameter.one("scopes", { is: "own_communities" });
    return found;
  }),
);
