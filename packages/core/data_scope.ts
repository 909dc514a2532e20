/**
 * A data scope is the partition in which links live. Data of one scope is never visible from another.
 */
import type { GuildId, Pid } from "./ids.ts";

/** What a scope covers: everything an account links, or one guild. */
export type ScopeTarget = { readonly kind: "global" } | { readonly kind: "guild"; readonly guildId: GuildId };

/** One partition of links. There is one for each (account, target); every key of the same pair shares it. */
export type DataScope = ScopeTarget & {
  readonly pid: Pid;
  /** The name of the account that owns the scope. */
  readonly account: string;
};

/** The guild that a scope is bound to, or null for a global one. */
export const guildOf = (scope: ScopeTarget): GuildId | null =>
  scope.kind === "guild" ? scope.guildId : null;
