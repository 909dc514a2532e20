/** A data scope is the partition that a link belongs to. Other scopes cannot see its data. */
import type { GuildId, Pid } from "./ids.ts";

/** A scope covers all guilds of an account, or one guild. */
export type ScopeTarget = { readonly kind: "global" } | { readonly kind: "guild"; readonly guildId: GuildId };

/** Each combination of an account and a target has one scope, which is shared by all keys of this combination. */
export type DataScope = ScopeTarget & {
  readonly pid: Pid;
  readonly account: string;
  /** Set for authenticated partner and staff keys, which may name guilds that their account does not manage. */
  readonly namesAnyGuild?: boolean;
};

/** Returns the guild of a scope; null for a global scope. */
export const guildOf = (scope: ScopeTarget): GuildId | null =>
  scope.kind === "guild" ? scope.guildId : null;

/** The reverse of `guildOf`. @internal */
export const targetOfGuild = (guildId: GuildId | null): ScopeTarget =>
  guildId === null ? { kind: "global" } : { kind: "guild", guildId };
