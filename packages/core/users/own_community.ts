import { Effect, Option } from "effect";
import { makeAskingName } from "../communities/asking_name.ts";
import { type DataScope, guildOf } from "../data_scope.ts";
import type { GuildId, Pid } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import { Profiles } from "../platforms/profiles.ts";

/** A community that stores data about a user, as it is shown to the user. @internal */
export interface OwnCommunity {
  readonly pid: Pid;
  /** Who asks the user for a link, by `makeAskingName`. */
  readonly asking: string;
  /** The guild of the scope, or null. Its name is null if the platform does not tell it. */
  readonly guild: { readonly id: GuildId; readonly name: string | null } | null;
}

export const makeOwnCommunity = Effect.gen(function* () {
  const keys = yield* KeyStore;
  const profiles = yield* Profiles;
  const askingName = yield* makeAskingName;

  return Effect.fnUntraced(function* (scope: DataScope) {
    const { pid } = scope;
    const guildId = guildOf(scope);
    const guildName = guildId === null ? null : ((yield* profiles.guild(guildId))?.name ?? null);
    const configured = Option.getOrNull(yield* keys.findScopeByPid(pid));
    const displayName = configured?.settings.displayName ?? null;
    return {
      pid,
      asking: yield* askingName(scope, { displayName, guildName }),
      guild: guildId === null ? null : { id: guildId, name: guildName },
    } satisfies OwnCommunity;
  });
});
