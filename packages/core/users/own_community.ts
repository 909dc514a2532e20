import { Effect, Option } from "effect";
import { type DataScope, guildOf } from "../data_scope.ts";
import type { GuildId, Pid } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import { Profiles } from "../platforms/profiles.ts";

/** A community that stores data about a user, as it is shown to the user. @internal */
export interface OwnCommunity {
  readonly pid: Pid;
  /**
   * Who asks the user for a link, as pages show it: the account's name, or the display name of a global scope if its
   * owner has set one.
   */
  readonly asking: string;
  /** The guild of the scope, or null. Its name is null if the platform does not tell it. */
  readonly guild: { readonly id: GuildId; readonly name: string | null } | null;
}

export const makeOwnCommunity = Effect.gen(function* () {
  const keys = yield* KeyStore;
  const profiles = yield* Profiles;

  return Effect.fnUntraced(function* (scope: DataScope) {
    const { pid, account } = scope;
    const guildId = guildOf(scope);
    if (guildId !== null) {
      const guild = yield* profiles.guild(guildId);
      return {
        pid,
        asking: account,
        guild: { id: guildId, name: guild?.name ?? null },
      } satisfies OwnCommunity;
    }
    const configured = yield* keys.findScopeByPid(pid);
    const displayName = Option.isNone(configured) ? null : configured.value.settings.displayName;
    return { pid, asking: displayName ?? account, guild: null } satisfies OwnCommunity;
  });
});
