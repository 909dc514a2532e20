/** The owners whose rights keys have that manage communities. */
import { Effect, Option } from "effect";
import { Forbidden } from "../errors.ts";
import { type ApiKey, KeyStore } from "../keys/mod.ts";
import { hasAccepted, MemberStore } from "./member_store.ts";

/**
 * Makes a function that returns the owners with whose rights a key acts: the owner who made it, or for a key that the
 * operator made, all owners of its account. Null for keys of the operator's own accounts. Fails with `Forbidden`
 * `key_access` if no such owner is left. @internal
 */
export const makeOwnersOfKey = Effect.gen(function* () {
  const store = yield* KeyStore;
  const team = yield* MemberStore;

  return Effect.fn("ownersOfKey")(function* ({ madeBy, scope }: Pick<ApiKey, "madeBy" | "scope">) {
    const owners = (yield* team.list(scope.account))
      .filter((member) => member.role === "owner" && hasAccepted(member))
      .map(({ chatId }) => chatId);
    const acting = madeBy === null ? owners : owners.filter((chatId) => chatId === madeBy);
    if (acting.length > 0) return acting;
    const account = madeBy === null ? yield* store.findAccount(scope.account) : Option.none();
    if (Option.exists(account, ({ operator }) => operator)) return null;
    return yield* new Forbidden({ reason: "key_access" });
  });
});
