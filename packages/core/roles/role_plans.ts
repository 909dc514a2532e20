import { Clock, Context, Effect, Layer, Option, Schema } from "effect";
import type { WriteOrigin } from "../audit/audit.ts";
import type { DataScope } from "../data_scope.ts";
import {
  BadRequest,
  Conflict,
  Forbidden,
  InvalidParameter,
  type MissingParameter,
  type ParameterProblem,
  type PlatformUnavailable,
  type StoreUnavailable,
} from "../errors.ts";
import { EventStore } from "../events/event_store.ts";
import { type ChatId, type GuildId, Pid } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import type { KeyOwner } from "../keys/owned_keys.ts";
import type { GuildRole } from "../platforms/chat_roles.ts";
import { GuildGuard } from "../platforms/guild_guard.ts";
import type { MemberChanges } from "./member_changes.ts";
import { type AppliedChanges, MemberSync } from "./member_sync.ts";
import { expectedTemplate, NicknameTemplate } from "./nickname_template.ts";
import { makeAnnouncePlanChange } from "./plan_changes.ts";
import {
  expectedRules,
  noPlan,
  type PlanSettings,
  type PlanStatus,
  type RolePlan,
  RoleRules,
} from "./role_plan.ts";
import { RolePlanStore } from "./role_plan_store.ts";

/** A plan with its progress. */
export interface PlanDetails {
  readonly plan: RolePlan;
  readonly status: PlanStatus;
}

type Unavailable = PlatformUnavailable | StoreUnavailable;

/**
 * Manages the role plans of guilds. In a guild without a plan, the plan has no rules and is paused.
 *
 * @example
 * ```ts
 * import { ApiKeys, GuildId } from "@accountlink/core";
 * import { aFixture, aGuild, memoryWorld } from "@accountlink/testing";
 * import { Effect } from "effect";
 *
 * const guildId = GuildId.make("700000000000000001");
 * const roles = [{ id: "1", name: "Member", assignable: true }];
 * const guild = aGuild(guildId, ["100001"], { roles });
 * const world = await memoryWorld(aFixture({ platform: { guilds: [guild] } }));
 * const program = Effect.gen(function* () {
 *   const plans = yield* RolePlans;
 *   const account = { name: "acme", chatId: null, tier: "free" } as const;
 *   const scope = yield* (yield* ApiKeys).scopeOf(account, { kind: "guild", guildId });
 *   const origin = { actor: { type: "operator", id: "grace" }, requestId: null } as const;
 *   const rules = [{ roleId: "1", when: { is: "linked" } }] as const;
 *   const { status } = yield* plans.put(scope, guildId, { rules, nickname: null, state: "on" }, origin);
 *   return status.sweep;
 * });
 * await world.run(program); // { after: null, done: 0, total: 0 }
 * await world.close();
 * ```
 */
export class RolePlans extends Context.Service<
  RolePlans,
  {
    /**
     * Returns a scope of the signed-in owner whose plan for a guild the owner may change. Fails with `Forbidden`
     * unless the bot is in the guild and the owner manages it now.
     *
     * @param pid any text, such as a value from a URL
     * @param withoutBot whether to return the scope of a guild that the bot has left, too
     */
    readonly enter: (
      owner: Pick<KeyOwner, "account" | "chatId">,
      pid: string,
      guildId: GuildId,
      withoutBot?: boolean,
    ) => Effect.Effect<DataScope, BadRequest | Forbidden | Unavailable>;

    /** Returns the roles of a guild, highest first. */
    readonly guildRoles: (
      guildId: GuildId,
    ) => Effect.Effect<ReadonlyArray<GuildRole>, Forbidden | PlatformUnavailable>;

    readonly find: (scope: DataScope, guildId: GuildId) => Effect.Effect<PlanDetails, StoreUnavailable>;

    /**
     * Stores a plan. One that changed and is on compares all members. Fails with `Conflict` `guild_has_plan` if
     * another plan of the guild is on, and with `InvalidParameter` for a role that the guild does not have.
     */
    readonly put: (
      scope: DataScope,
      guildId: GuildId,
      settings: PlanSettings,
      origin: WriteOrigin,
    ) => Effect.Effect<PlanDetails, InvalidParameter | Conflict | Forbidden | Unavailable>;

    /** Deletes a plan; members keep their roles. Returns false without a plan. */
    readonly remove: (
      scope: DataScope,
      guildId: GuildId,
      origin: WriteOrigin,
    ) => Effect.Effect<boolean, StoreUnavailable>;

    /** Returns what the plan would change for a member. */
    readonly preview: (
      scope: DataScope,
      guildId: GuildId,
      chatId: ChatId,
    ) => Effect.Effect<MemberChanges, Forbidden | Unavailable>;

    /** Compares all members from now on. Fails with `not_found` unless the plan is on. */
    readonly startSweep: (
      scope: DataScope,
      guildId: GuildId,
    ) => Effect.Effect<PlanDetails, BadRequest | StoreUnavailable>;

    /** Compares and changes one member now. Fails with `not_found` unless the plan is on. */
    readonly sync: (
      scope: DataScope,
      guildId: GuildId,
      chatId: ChatId,
    ) => Effect.Effect<AppliedChanges, BadRequest | Forbidden | MissingParameter | Unavailable>;
  }
>()("@accountlink/core/RolePlans") {
  static readonly layer = Layer.effect(
    RolePlans,
    Effect.gen(function* () {
      const store = yield* RolePlanStore;
      const keys = yield* KeyStore;
      const events = yield* EventStore;
      const guard = yield* GuildGuard;
      const members = yield* MemberSync;
      const announceChange = yield* makeAnnouncePlanChange;
      const notFound = new BadRequest({ problem: "not_found" });

      const find = Effect.fn("RolePlans.find")(function* (scope: DataScope, guildId: GuildId) {
        const place = { pid: scope.pid, guildId };
        const stored = yield* store.find(place);
        const plan = Option.getOrElse(stored, (): RolePlan => ({ ...noPlan, scope, guildId }));
        return { plan, status: yield* store.status(place) };
      });

      const guildRoles = Effect.fn("RolePlans.guildRoles")(function* (guildId: GuildId) {
        const { findGuildRoles } = yield* members.roles;
        const found = yield* findGuildRoles(guildId);
        if (Option.isNone(found)) return yield* new Forbidden({ reason: "bot_not_in_guild" });
        return found.value.roles;
      });

      return RolePlans.of({
        find,
        guildRoles,

        enter: Effect.fn("RolePlans.enter")(function* (
          { account, chatId },
          pid,
          guildId,
          withoutBot = false,
        ) {
          const found = isPid(pid) ? Option.getOrNull(yield* keys.findScopeByPid(pid)) : null;
          if (found?.scope.account !== account.name) return yield* notFound;
          const { scope } = found;
          if (scope.kind === "guild" && scope.guildId !== guildId) {
            return yield* new Forbidden({ reason: "wrong_guild" });
          }
          yield* Effect.catchIf(
            guard.requireManager(guildId, chatId),
            (error) => withoutBot && error._tag === "Forbidden" && error.reason === "bot_not_in_guild",
            () => Effect.void,
          );
          return scope;
        }),

        put: Effect.fn("RolePlans.put")(function* (scope, guildId, chosen, origin) {
          const settings = yield* checkedSettings(chosen);
          if (settings.rules.length > 0) {
            const known = new Set((yield* guildRoles(guildId)).map(({ id }) => id));
            const unknown = settings.rules.find(({ roleId }) => !known.has(roleId));
            if (unknown !== undefined) {
              return yield* InvalidParameter.one("rules", `the guild has no role "${unknown.roleId}"`);
            }
          }
          const { end } = yield* events.range(scope.pid);
          const at = yield* Clock.currentTimeMillis;
          const write = { ...origin, pid: scope.pid, guildId, settings, position: end, at };
          if (!(yield* store.put(write))) return yield* new Conflict({ reason: "guild_has_plan" });
          yield* announceChange;
          return yield* find(scope, guildId);
        }),

        remove: Effect.fn("RolePlans.remove")(function* ({ pid }, guildId, origin) {
          const isRemoved = yield* store.remove({
            ...origin,
            pid,
            guildId,
            at: yield* Clock.currentTimeMillis,
          });
          yield* announceChange;
          return isRemoved;
        }),

        preview: Effect.fn("RolePlans.preview")(function* (scope, guildId, chatId) {
          const { plan } = yield* find(scope, guildId);
          return yield* members.preview(plan, chatId);
        }),

        startSweep: Effect.fn("RolePlans.startSweep")(function* (scope, guildId) {
          const at = yield* Clock.currentTimeMillis;
          if (!(yield* store.startSweep({ pid: scope.pid, guildId }, at))) return yield* notFound;
          yield* announceChange;
          return yield* find(scope, guildId);
        }),

        sync: Effect.fn("RolePlans.sync")(function* (scope, guildId, chatId) {
          yield* guard.enter(scope, guildId);
          const plan = Option.getOrNull(yield* store.find({ pid: scope.pid, guildId }));
          if (plan?.state === "on") return yield* members.sync(plan, chatId);
          yield* guard.requireMember(guildId, chatId);
          return yield* notFound;
        }),
      });
    }),
  );
}

const isPid = Schema.is(Pid);

const decoders = {
  rules: [Schema.decodeUnknownOption(RoleRules), expectedRules],
  nickname: [Schema.decodeUnknownOption(Schema.NullOr(NicknameTemplate)), expectedTemplate],
  state: [Schema.decodeUnknownOption(Schema.Literals(["on", "paused"])), "expected one of on, paused"],
} as const;

/** Untyped callers may pass anything. */
const checkedSettings = (chosen: PlanSettings) => {
  const problems: Array<ParameterProblem> = [];
  const checked = <A>(
    name: keyof PlanSettings,
    [decode, reason]: readonly [(value: unknown) => Option.Option<A>, string],
  ) => {
    const value = decode(chosen[name]);
    if (Option.isNone(value)) problems.push({ name, reason });
    return Option.getOrUndefined(value);
  };
  const rules = checked("rules", decoders.rules);
  const nickname = checked("nickname", decoders.nickname);
  const state = checked("state", decoders.state);
  return rules === undefined || nickname === undefined || state === undefined
    ? Effect.fail(new InvalidParameter({ parameters: problems }))
    : Effect.succeed<PlanSettings>({ rules, nickname, state });
};
