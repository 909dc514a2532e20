/** Role plans, by which the members of a guild get roles and nicknames. */
import { type DataScope, type GuildId, InvalidParameter } from "@accountlink/core";
import type {
  BadRequest,
  Conflict,
  Forbidden,
  MissingParameter,
  PlatformUnavailable,
  StoreUnavailable,
} from "@accountlink/core/errors";
import type { GuildRole } from "@accountlink/core/platforms";
import {
  type AppliedChanges,
  type ChosenSettings,
  type MemberChanges,
  type PlanDetails,
  RolePlans,
} from "@accountlink/core/roles";
import { Context, Effect, Layer } from "effect";
import { chatIdOf } from "./ids.ts";
import { type CallOptions, callGuild, originOf, Scope, type WriteOptions } from "./scope.ts";
import { checked, signatures } from "./signatures.ts";

type ReadError = InvalidParameter | StoreUnavailable;
type MemberError = ReadError | Forbidden | PlatformUnavailable;

/**
 * The role plans of a scope: at most one plan for each guild. With a global scope, every call needs `guildId`. Plans
 * are only applied while a process of the service runs.
 *
 * @example
 * ```ts
 * import { aFixture, aGuild, memoryWorld } from "@accountlink/testing";
 *
 * const guildId = "700000000000000001";
 * const roles = [{ id: "1", name: "Verified", assignable: true }];
 * const guild = aGuild(guildId, ["100001"], { roles });
 * const al = await memoryWorld(
 *   aFixture({ links: [{ chatId: "100001", gameId: "1" }], platform: { guilds: [guild] } }),
 * );
 * const rules = [{ roleId: "1", when: { is: "linked" } }] as const;
 * await al.roles.put({ rules, nickname: "{game.username}", state: "on" }, { guildId });
 * (await al.roles.preview("100001", { guildId })).nickname; // "game_1"
 * (await al.roles.sync("100001", { guildId })).added; // ["1"]
 * await al.close();
 * ```
 *
 * @example
 * ```ts
 * import { Effect } from "effect";
 *
 * const plan = Effect.flatMap(Roles, (roles) => roles.get({ guildId: "700000000000000001" }));
 * const service = AccountLink.layerMemory({ gameUserExists: () => true });
 * (await Effect.runPromise(Effect.provide(plan, service))).plan.state; // "paused"
 * ```
 */
export class Roles extends Context.Service<
  Roles,
  {
    /** Returns the plan of a guild with its progress; for a guild without a plan, a paused plan without rules. */
    readonly get: (options?: CallOptions) => Effect.Effect<PlanDetails, ReadError>;

    /**
     * Stores the plan of a guild. If the plan changed and is on, this also starts a sweep of all members. Fails with
     * `Conflict` `guild_has_plan` if another plan of the guild is on.
     */
    readonly put: (
      settings: ChosenSettings,
      options?: WriteOptions,
    ) => Effect.Effect<PlanDetails, MemberError | Conflict>;

    /** Deletes the plan of a guild; members keep their roles. Returns false if there was no plan. */
    readonly delete: (options?: WriteOptions) => Effect.Effect<boolean, ReadError>;

    /** Returns the roles of a guild, highest first. */
    readonly list: (options?: CallOptions) => Effect.Effect<ReadonlyArray<GuildRole>, MemberError>;

    /** Returns what the plan would change for a member. An empty nickname means that the nickname would be removed. */
    readonly preview: (
      chatId: string,
      options?: CallOptions,
    ) => Effect.Effect<Pick<MemberChanges, "add" | "remove" | "nickname">, MemberError>;

    /** Compares the roles and nicknames of all members with the plan, and corrects them. */
    readonly sweep: (options?: CallOptions) => Effect.Effect<PlanDetails, ReadError>;

    /**
     * Compares the roles and the nickname of one member with the plan, and corrects them. Call it when a user joins the
     * guild.
     */
    readonly sync: (
      chatId: string,
      options?: CallOptions,
    ) => Effect.Effect<Omit<AppliedChanges, "settled">, MemberError | MissingParameter>;
  }
>()("accountlink/Roles") {
  static readonly layer = Layer.effect(
    Roles,
    Effect.gen(function* () {
      const scope = yield* Scope;
      const plans = yield* RolePlans;

      return Roles.of(
        checked<Roles["Service"]>(
          {
            get: (options) => inGuild(scope, options, (guildId) => plans.find(scope, guildId)),
            put: (settings, options) =>
              inGuild(scope, options, (guildId) => plans.put(scope, guildId, settings, originOf(options))),
            delete: (options) =>
              inGuild(scope, options, (guildId) => plans.remove(scope, guildId, originOf(options))),
            list: (options) => inGuild(scope, options, plans.guildRoles),
            preview: (chatId, options) =>
              inGuild(scope, options, (guildId) =>
                Effect.map(
                  Effect.flatMap(chatIdOf(chatId), (id) => plans.preview(scope, guildId, id)),
                  ({ add, remove, nickname }) => ({ add, remove, nickname }),
                ),
              ),
            sweep: (options) => inGuild(scope, options, (guildId) => plans.startSweep(scope, guildId)),
            sync: (chatId, options) =>
              inGuild(scope, options, (guildId) =>
                Effect.map(
                  Effect.flatMap(chatIdOf(chatId), (id) => plans.sync(scope, guildId, id)),
                  ({ settled: _, ...changes }) => changes,
                ),
              ),
          },
          signatures.roles,
        ),
      );
    }),
  );
}

/**
 * Runs `call` with the guild of the options, or else with the guild of the scope. Fails with `InvalidParameter` if
 * there is neither, or if `call` finds no plan for the guild.
 */
const inGuild = <A, E>(
  scope: DataScope,
  options: CallOptions | undefined,
  call: (guildId: GuildId) => Effect.Effect<A, E | BadRequest>,
): Effect.Effect<A, Exclude<E, BadRequest> | InvalidParameter> =>
  Effect.flatMap(callGuild(scope, options), (guildId) =>
    guildId === null
      ? Effect.fail(InvalidParameter.one("guildId", "is missing, expected the guild of the plan"))
      : Effect.mapError(call(guildId), (error) =>
          isNotFound(error)
            ? InvalidParameter.one("guildId", `is "${guildId}", expected a guild whose plan is on`)
            : (error as Exclude<E, BadRequest>),
        ),
  );

const isNotFound = (error: unknown): error is BadRequest => (error as BadRequest)._tag === "BadRequest";
