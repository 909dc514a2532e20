import { Context } from "effect";
import type { PlatformUnavailable, StoreEffect } from "../errors.ts";
import type { GuildId } from "../ids.ts";

/** Decides which guilds the keys of an account may name. It is a port, because `accounts` imports `platforms`. @internal */
export class GuildManagers extends Context.Service<
  GuildManagers,
  {
    /**
     * Returns whether a member of the account manages the guild, which is checked at most every 10 minutes. An account
     * without an owner or admin belongs to the operator and may name every guild.
     */
    readonly mayName: (account: string, guildId: GuildId) => StoreEffect<boolean, PlatformUnavailable>;
  }
>()("@accountlink/core/GuildManagers") {}
