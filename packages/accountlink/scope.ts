import {
  ApiKeys,
  type ChatId,
  type DataScope,
  type GuildId,
  guildOf,
  InvalidParameter,
  targetOfGuild,
} from "@accountlink/core";
import { originOfOperator, type WriteOrigin } from "@accountlink/core/audit";
import { KeyStore, type Tier, tiers } from "@accountlink/core/keys";
import { expectedVisibleName, isNameText, isVisibleName } from "@accountlink/core/name_text";
import { Context, Effect, Layer, Option } from "effect";
import * as Accept from "./accept.ts";
import { method, type Parameter } from "./method.ts";

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

/** The account of programs that name none. */
export const defaultAccount = "default";

/** The fields of a `ScopeChoice`. */
export const scopeFields = Accept.fields({
  account: Accept.maybe(Accept.textThat((name) => name !== "" && isNameText(name), expectedVisibleName)),
  guildId: Accept.maybe(Accept.anyGuildId),
  tier: Accept.maybe(Accept.oneOf(tiers)),
});

/** The scope of `Links`, `Keys`, `Sessions`, `Alts`, `Audit`, `Events`, `Webhooks` and `Roles`. */
export class Scope extends Context.Service<Scope, DataScope>()("accountlink/Scope") {
  /** Opens a scope, whose services `AccountLink.layerScope` makes. */
  static readonly layer = (choice: ScopeChoice = {}) => Layer.effect(Scope, openScope(choice));
}

const choice: Parameter<ScopeChoice> = ["scope", scopeFields];
const openScope = method(
  [choice],
  Effect.fnUntraced(function* ({ account: name = defaultAccount, guildId, tier = "premium" }: ScopeChoice) {
    const store = yield* KeyStore;
    // An account that is stored keeps its name.
    if (!isVisibleName(name) && Option.isNone(yield* store.findAccount(name))) {
      return yield* InvalidParameter.one("account", `expected ${expectedVisibleName}`);
    }
    const target = targetOfGuild((guildId ?? null) as GuildId | null);
    return yield* ApiKeys.use((keys) => keys.scopeOf({ name, chatId: null, tier }, target));
  }),
);

/** Options of every call. */
export interface CallOptions {
  /** Restricts the call to this guild, which the bot must be in. If left out, a guild's own scope uses its guild. */
  readonly guildId?: string;
}

export interface ActorOptions {
  /**
   * The author of the change in the audit log: a name, or the chat user who asked for it; `embedder` if left out. The
   * `source` of the event is `operator` for a name, and `user` for a chat user.
   */
  readonly actor?: string | { readonly chatId: string };
}

/** Options of calls that change data of a guild. */
export interface WriteOptions extends CallOptions, ActorOptions {}

/**
 * Returns the guild that the checked options name; if they name none, returns the guild of the scope, or null for a
 * global scope.
 */
export const callGuild = (scope: DataScope, { guildId }: CallOptions = {}): GuildId | null =>
  guildId === undefined ? guildOf(scope) : (guildId as GuildId);

export const originOf = ({ actor = "embedder" }: ActorOptions = {}): WriteOrigin =>
  typeof actor === "string"
    ? originOfOperator(actor)
    : { actor: { type: "user", id: actor.chatId as ChatId }, requestId: null };

export const writeTarget = (scope: DataScope, options?: WriteOptions) => ({
  scope,
  guildId: callGuild(scope, options),
  origin: originOf(options),
});
