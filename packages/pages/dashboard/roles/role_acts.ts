/** What the buttons on the page of a role plan do. */
import { type CommunityPlace, nothingChosen, placeOf } from "@accountlink/core/communities";
import type { RankedGroup } from "@accountlink/core/platforms";
import {
  changedSettings,
  mostRules,
  noPlan,
  type PlanSettings,
  type PlanState,
  planVersion,
  RolePlans,
} from "@accountlink/core/roles";
import type { HttpResponse } from "@accountlink/http/for_pages";
import { Effect, Record } from "effect";
import type { SiteError } from "../../sign_ins/refusals.ts";
import type { ManagedGuild } from "../communities/managed_guild.ts";
import type { Fields } from "../form_fields.ts";
import type { NoticeName } from "../look/notice.ts";
import { orShowAgain, type Refused, refusedFor } from "../look/refused.ts";
import { say } from "../look/say.ts";
import { type OwnerVisitor, seeOther } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { rolesPath, rolesPreviewPath } from "../paths.ts";
import { makePreviewedMember, nobodyNamed } from "./member_preview.ts";
import {
  changedRules,
  filledRules,
  focusAfter,
  type RolesForm,
  rulesOfRanks,
  settingsOf,
  typedRoles,
} from "./role_form.ts";
import type { makeRoleOperations } from "./role_operations.ts";
import type { Shown, ShowRoles } from "./roles_view.ts";

type Answered = Effect.Effect<Page | HttpResponse, SiteError>;

interface Press {
  readonly visitor: OwnerVisitor;
  readonly guild: ManagedGuild;
  readonly fields: Fields;
}

export const makeRoleActs = Effect.fnUntraced(function* (
  showRoles: ShowRoles,
  operations: Effect.Success<typeof makeRoleOperations>,
) {
  const plans = yield* RolePlans;
  const memberNamed = yield* makePreviewedMember;

  const show = ({ visitor, guild, fields }: Press, shown: Shown) =>
    showRoles(visitor, guild, { ...shown, seen: fields("seen") });

  /** Stores rules that stay paused, or shows what rules that are to be on would change. */
  const save = Effect.fnUntraced(function* (press: Press, state: PlanState) {
    const { visitor, guild, fields } = press;
    const typed = typedRoles(fields);
    const settings = settingsOf(typed, state);
    if (!("rules" in settings)) return yield* show(press, { typed, refused: refusedFor(settings) });
    const plan = yield* plans.findPlan(guild);
    if (state === "on" && changedSettings(plan, { ...plan, ...settings }).length === 0)
      return see(press, "rolesSame");
    const values = valuesOf(guild, settings, fields("seen"));
    const saved =
      state === "on"
        ? Effect.map(operations.previewPut.run(visitor, values), ({ id }) =>
            seePreview(guild, fields("seen"), id),
          )
        : Effect.as(operations.put.run(visitor, values), see(press, "rolesPaused"));
    return yield* orShowAgain(saved, (refused) => show(press, { typed, refused }));
  });

  /** Calls `answer` with the group whose ID the form has. */
  const ofGroup =
    (
      answer: (press: Press, shown: { readonly typed: RolesForm; readonly ranked: RankedGroup }) => Answered,
    ) =>
    (press: Press) => {
      const typed = typedRoles(press.fields);
      const unknown = { name: "ranksOf", reason: say("reason.rule.groupId") };
      return plans.group(typed.ranksOf).pipe(
        Effect.flatMap((ranked) => answer(press, { typed, ranked })),
        Effect.catchTag("InvalidParameter", () => show(press, { typed, refused: refusedFor([unknown]) })),
      );
    };

  /** Makes the act of an operation that has no values of its own. */
  const ofPlan =
    (
      run: (visitor: OwnerVisitor, place: CommunityPlace) => Effect.Effect<unknown, SiteError>,
      done: NoticeName,
    ) =>
    (press: Press) =>
      orShowAgain(Effect.as(run(press.visitor, placeOf(press.guild)), see(press, done)), (refused) =>
        show(press, { refused }),
      );

  const acts = new Map<string, (press: Press) => Answered>(
    Object.entries({
      ranks: ofGroup((press, shown) => show(press, { ...shown, focus: "ranksOf" })),

      addRanks: ofGroup(
        Effect.fnUntraced(function* (press, { typed, ranked }) {
          const chosen = filledRules(typed.rules);
          const added = rulesOfRanks(ranked, yield* plans.guildRoles(press.guild.guildId), chosen);
          const rules = [...chosen, ...added].slice(0, mostRules);
          const focus = `when-${chosen.length + 1}`;
          return yield* show(press, { typed: { ...typed, rules, ranksOf: "" }, focus });
        }),
      ),

      /** Asks before the bot makes the roles that ranks of a group lack. */
      missing: ofGroup((press, shown) => show(press, { ...shown, asksForRoles: true, focus: "makeRoles" })),

      makeRoles: ofGroup(
        Effect.fnUntraced(function* (press, shown) {
          const groupId = shown.typed.ranksOf;
          const made = operations.makeRoles.run(press.visitor, { ...placeOf(press.guild), groupId });
          return yield* orShowAgain(
            Effect.flatMap(made, () => show(press, { ...shown, focus: "ranksOf" })),
            (refused) => show(press, { ...shown, refused }),
          );
        }),
      ),

      preview: (press) => {
        const { visitor, guild, fields } = press;
        return Effect.flatMap(memberNamed(visitor, guild, fields("who").trim()), (preview) =>
          show(press, { preview, refused: refusedFor(preview.found === null ? [nobodyNamed] : []) }),
        );
      },

      /** Turns linking on without any rule. */
      linking: (press) => {
        const { visitor, guild, fields } = press;
        const seen = fields("seen") || planVersion(noPlan);
        const put = operations.put.run(visitor, valuesOf(guild, { ...noPlan, state: "on" }, seen));
        return orShowAgain(Effect.as(put, see(press, "linkingOn")), (refused) => show(press, { refused }));
      },

      sweep: ofPlan(operations.sweep.run, "sweeping"),

      putBack: ofPlan(operations.putNicknamesBack.run, "nicknamesBack"),

      delete: (press) =>
        Effect.flatMap(plans.findPlan(press.guild), (plan) =>
          ["", planVersion(plan)].includes(press.fields("seen")) || planVersion(plan) === planVersion(noPlan)
            ? ofPlan(operations.remove.run, "rolesDeleted")(press)
            : show(press, { refused: changedBefore }),
        ),

      on: (press) => save(press, "on"),
    }),
  );

  return (press: Press): Answered => {
    const act = press.fields("act");
    const typed = typedRoles(press.fields);
    const rules = changedRules(typed.rules, act);
    if (rules !== null) return show(press, { typed: { ...typed, rules }, focus: focusAfter(rules, act) });
    return acts.get(act)?.(press) ?? save(press, "paused");
  };
});

/** The deletion of rules that its page did not show: nobody could bring back what somebody else has just set. */
const changedBefore: Refused = {
  status: 409,
  problems: [],
  general: say("roles.delete.changed"),
  conflict: "plan_changed",
};

const see = ({ guild: { scope, guildId } }: Press, done: NoticeName) =>
  seeOther(rolesPath(scope.pid), { guildId, done });

/** @param id the preview that the owner expects to see */
export const seePreview = ({ scope, guildId }: ManagedGuild, seen: string, id: string) =>
  seeOther(rolesPreviewPath(scope.pid), { guildId, seen, id });

/**
 * The values of `putRoles` as the forms of a plan send them. The settings of the community are on a page of their own.
 *
 * @param seen the version of the plan that the page showed; empty if unknown
 */
export const valuesOf = (guild: ManagedGuild, settings: PlanSettings, seen = "") => ({
  ...placeOf(guild),
  ...settings,
  take: [],
  ...Record.map(nothingChosen, () => undefined),
  edited: seen || undefined,
});
