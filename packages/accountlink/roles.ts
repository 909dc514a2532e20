/** Role plans, by which the members of a guild get roles and nicknames. */
import { type ChatId, InvalidParameter } from "@accountlink/core";
import type { ScopedGuild } from "@accountlink/core/communities";
import { BadRequest } from "@accountlink/core/errors";
import { type ChosenSettings, RolePlans } from "@accountlink/core/roles";
import { Context, Effect, Layer, Predicate } from "effect";
import * as Accept from "./accept.ts";
import { method, type Parameter } from "./method.ts";
import { type CallOptions, callGuild, originOf, Scope, type WriteOptions } from "./scope.ts";
import { withSpans } from "./spans.ts";

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
export class Roles extends Context.Service<Roles>()("accountlink/Roles", {
  make: Effect.gen(function* () {
    const scope = yield* Scope;
    const plans = yield* RolePlans;

    /**
     * Runs `call` with the guild of the options, or else with the guild of the scope. Fails with `InvalidParameter` if
     * there is neither, or if `call` finds no plan for the guild.
     */
    const inGuild = <A, E>(
      options: CallOptions | undefined,
      call: (guild: ScopedGuild) => Effect.Effect<A, E>,
    ): Effect.Effect<A, Exclude<E, BadRequest> | InvalidParameter> => {
      const guildId = callGuild(scope, options);
      if (guildId === null) {
        return Effect.fail(InvalidParameter.one("guildId", "is missing, expected the guild of the plan"));
      }
      return Effect.mapError(call({ scope, guildId }), (error) =>
        error instanceof BadRequest
          ? InvalidParameter.one("guildId", `is "${guildId}", expected a guild whose plan is on`)
          : (error as Exclude<E, BadRequest>),
      );
    };

    return {
      /**
       * Returns the plan of a guild with its progress, and the community: its log channel, and who paused the plan. For a
       * guild without a plan, this is a paused plan without rules.
       */
      get: method([Accept.calling], (options?: CallOptions) => inGuild(options, plans.find)),

      /**
       * Stores the plan of a guild. If the plan changed and is on, this also starts a sweep of all members. Fails with
       * `Conflict` `guild_has_plan` if another plan of the guild is on.
       */
      put: method([settings, Accept.writing], (settings: ChosenSettings, options?: WriteOptions) =>
        inGuild(options, (guild) => plans.put(guild, settings, originOf(options))),
      ),

      /** Deletes the plan of a guild; members keep their roles. Returns false if there was no plan. */
      delete: method([Accept.writing], (options?: WriteOptions) =>
        inGuild(options, (guild) => plans.remove(guild, originOf(options))),
      ),

      /** Returns the roles of a guild, highest first. */
      list: method([Accept.calling], (options?: CallOptions) =>
        inGuild(options, ({ guildId }) => plans.guildRoles(guildId)),
      ),

      /**
       * Returns what the plan would change for a member. An empty nickname means that the nickname would be removed.
       */
      preview: method([Accept.chatId, Accept.calling], (chatId: ChatId, options?: CallOptions) =>
        inGuild(options, (guild) =>
          Effect.map(plans.preview(guild, chatId), ({ add, remove, nickname }) => ({
            add,
            remove,
            nickname,
          })),
        ),
      ),

      /** Compares the roles and nicknames of all members with the plan, and corrects them. */
      sweep: method([Accept.calling], (options?: CallOptions) => inGuild(options, plans.startSweep)),

      /**
       * Compares the roles and the nickname of one member with the plan, and corrects them. Call it when a user joins
       * the guild.
       */
      sync: method([Accept.chatId, Accept.calling], (chatId: ChatId, options?: CallOptions) =>
        inGuild(options, (guild) =>
          Effect.map(plans.sync(guild, chatId), ({ settled: _, ...changes }) => changes),
        ),
      ),
    };
  }).pipe(withSpans("Roles")),
}) {
  static readonly layer = Layer.effect(Roles, Roles.make);
}

// `RolePlans.put` checks the settings themselves.
const settings: Parameter<ChosenSettings> = [
  "settings",
  Accept.that((given): given is ChosenSettings => Predicate.isObject(given), "an object"),
];
