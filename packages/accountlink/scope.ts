import {
  ApiKeys,
  type DataScope,
  type GuildId,
  guildOf,
  InvalidParameter,
  type StoreUnavailable,
} from "@accountlink/core";
import { originOfOperator, type WriteOrigin } from "@accountlink/core/audit";
import type { Tier } from "@accountlink/core/keys";
import { expectedNameText, isNameText } from "@accountlink/core/name_text";
import { Context, Effect, Layer } from "effect";
import { guildIdOf } from "./ids.ts";

/** Selects a data scope. Links of one scope are invisible in another. */
export interface ScopeChoice {
  /** The account that owns the scope, created if it does not exist; `default` if left out. */
  readonly account?: string;
  /** One guild of the account. If left out, the scope covers all guilds. */
  readonly guildId?: string;
  /**
   * The tier of the account, if this call creates the account; `premium` if left out. The account's keys have the HTTP
   * limits of the tier.
   */
  readonly tier?: Tier;
}

/** The scope of `Links`, `Keys`, `Sessions`, `Alts`, `Audit`, `Events`, `Webhooks` and `Roles`. */
export class Scope extends Context.Service<Scope, DataScope>()("accountlink/Scope") {
  static readonly layer = (
    choice: ScopeChoice = {},
  ): Layer.Layer<Scope, InvalidParameter | StoreUnavailable, ApiKeys> =>
    Layer.effect(Scope, openScope(choice));
}

const openScope = Effect.fnUntraced(function* ({
  account = "default",
  guildId,
  tier = "premium",
}: ScopeChoice) {
  if (account === "" || !isNameText(account)) {
    return yield* InvalidParameter.one("account", `expected ${expectedNameText}, not empty`);
  }
  const target =
    guildId === undefined
      ? ({ kind: "global" } as const)
      : { kind: "guild" as const, guildId: yield* guildIdOf(guildId) };
  return yield* (yield* ApiKeys).scopeOf({ name: account, chatId: null, tier }, target);
});

/** Options of every call. */
export interface CallOptions {
  /** Restricts the call to this guild, which the bot must be in. If left out, a guild's own scope uses its guild. */
  readonly guildId?: string;
}

/** Options of calls that change data. */
export interface WriteOptions extends CallOptions {
  /** The author of the change in the audit log; `embedder` if left out. */
  readonly actor?: string;
}

/**
 * Returns the guild that the options name; if they name none, returns the guild of the scope, or null for a global
 * scope.
 */
export const callGuild = (
  scope: DataScope,
  { guildId }: CallOptions = {},
): Effect.Effect<GuildId | null, InvalidParameter> =>
  guildId === undefined ? Effect.succeed(guildOf(scope)) : guildIdOf(guildId);

export const originOf = ({ actor = "embedder" }: Pick<WriteOptions, "actor"> = {}): WriteOrigin =>
  originOfOperator(actor);

export const writeTarget = (scope: DataScope, options: WriteOptions = {}) =>
  Effect.map(callGuild(scope, options), (guildId) => ({ scope, guildId, origin: originOf(options) }));
