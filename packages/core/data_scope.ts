/** A data scope is the partition that a link belongs to. Data of a scope is not visible in another. */
import type { GuildId, Pid } from "./ids.ts";

/** What a scope covers: all guilds of an account, or one. */
export type ScopeTarget = { readonly kind: "global" } | { readonly kind: "guild"; readonly guildId: GuildId };

/** There is one scope for each account and target, which all of their keys share. */
export type DataScope = ScopeTarget & {
  /** The public id of the scope. */
  readonly pid: Pid;
  /** The name of the account that owns the scope. */
  readonly account: string;
};

/** The guild of a scope; null for a global one. */
export const guildOf = (scope: ScopeTarget): GuildId | null =>
  scope.kind === "guild" ? scope.guildId : null;
