import { Communities } from "@accountlink/core/communities";
import { originOf } from "@accountlink/core/keys";
import { pageOf } from "@accountlink/core/list_page";
import {
  type KeptRoleChange,
  mostRules,
  type PlanPreview,
  planJson,
  RolePlans,
  shownPreview,
} from "@accountlink/core/roles";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { DashboardCommunities, DashboardRoles, text } from "@accountlink/http-api";
import { Effect } from "effect";
import { formOperation, makeOperation } from "../api_pipeline.ts";
import { given } from "../form_values.ts";
import { ranksWithoutRole } from "./role_form.ts";

/** What pages do with a plan, and programs have no route for. */
const ofGuild = { role: "admin" as const, parameters: DashboardRoles.getRoles.parameters };
const previewedPlan = {
  ...ofGuild,
  parameters: {
    ...DashboardRoles.putRoles.parameters,
    previewed: text("ID of the preview that the page shows"),
  },
};
const { chatId: member } = DashboardCommunities.putLink.parameters;

/** What members and keys do with role plans, by JSON and by the forms of the pages. */
export const makeRoleOperations = Effect.gen(function* () {
  const operation = yield* makeOperation;
  const plans = yield* RolePlans;
  const { enter } = yield* Communities;

  return {
    find: operation(DashboardRoles.getRoles, function* ({ owner, values }) {
      const guild = yield* enter(owner, values);
      const guildRoles = yield* plans.guildRoles(values.guildId);
      return { plan: planJson(yield* plans.find(guild)), guildRoles };
    }),

    ranks: operation(DashboardRoles.getRanks, function* ({ values: { groupId } }) {
      const { id, name, ranks } = yield* plans.group(groupId);
      return { group: { id, name }, ranks };
    }),

    put: operation(
      DashboardRoles.putRoles,
      function* ({ owner, values }) {
        return yield* plans.put(yield* enter(owner, values), values, originOf(owner), values.edited);
      },
      (details) => ({ plan: planJson(details) }),
    ),

    /** Turns rules on from the page of their preview. */
    putPreviewed: formOperation(previewedPlan, function* ({ owner, values }) {
      const guild = yield* enter(owner, values);
      return yield* plans.put(guild, values, originOf(owner), values.edited, values.previewed);
    }),

    /** Previews a plan that its form wants on, before the form stores the plan. */
    previewPut: formOperation(DashboardRoles.putRoles, function* ({ owner, values }) {
      return yield* plans.previewAll(yield* enter(owner, values), values, values.edited);
    }),

    makeRoles: formOperation(
      { ...ofGuild, parameters: { ...ofGuild.parameters, ...DashboardRoles.getRanks.parameters } },
      function* ({ owner, values }) {
        const { guildId } = yield* enter(owner, values);
        const missing = ranksWithoutRole(
          yield* plans.group(values.groupId),
          yield* plans.guildRoles(guildId),
        );
        yield* plans.makeRoles(guildId, missing.slice(0, mostRules));
      },
    ),

    applyNow: formOperation(
      { ...ofGuild, parameters: { ...ofGuild.parameters, chatId: member } },
      function* ({ owner, values }) {
        return yield* plans.sync(yield* enter(owner, values), values.chatId);
      },
    ),

    putNicknamesBack: formOperation(ofGuild, function* ({ owner, values }) {
      return yield* plans.putNicknamesBack(yield* enter(owner, values), originOf(owner));
    }),

    remove: operation(DashboardRoles.deleteRoles, function* ({ owner, values }) {
      const guild = yield* enter(owner, values, true);
      return { deleted: yield* plans.remove(guild, originOf(owner)) };
    }),

    findPreview: operation(DashboardRoles.getPreview, function* ({ owner, values }) {
      const guild = yield* enter(owner, values);
      const preview = yield* plans.findPreview(guild);
      return { preview: preview && previewJson(preview) };
    }),

    preview: operation(DashboardRoles.previewRoles, function* ({ owner, values }) {
      const { chatId, ...chosen } = values;
      const guild = yield* enter(owner, values);
      if (chatId === null) {
        return { preview: previewJson(yield* plans.previewAll(guild, given(chosen))) };
      }
      const { add, remove, nickname, holding } = yield* plans.preview(guild, chatId);
      const because = holding.map((holds, rule) => ({ rule, holds }));
      return { add, remove, nickname, because };
    }),

    history: operation(DashboardRoles.getRoleHistory, function* ({ owner, values }) {
      const { cursor, limit } = values;
      const found = yield* plans.roleHistory(yield* enter(owner, values), cursor, limit + 1);
      const { page, last } = pageOf(found, limit);
      return { changes: page.map(changeJson), next: last && String(last.number) };
    }),

    putBack: operation(DashboardRoles.putRolesBack, function* ({ owner, values }) {
      const guild = yield* enter(owner, values);
      return { pending: yield* plans.putRolesBack(guild, values.since, originOf(owner)) };
    }),

    sweep: operation(DashboardRoles.sweepRoles, function* ({ owner, values }) {
      return { plan: planJson(yield* plans.startSweep(yield* enter(owner, values))) };
    }),
  };
});

const previewJson = (preview: PlanPreview) => {
  const { roles, unnamed, ...shown } = shownPreview(preview);
  return {
    ...shown,
    roles: roles.map(({ held: _, ...role }) => role),
    unnamed: unnamed.map(({ roleId, count }) => ({ roleId, members: count })),
  };
};

const changeJson = ({ chatId, roleId, change, at, because }: KeptRoleChange) => ({
  chatId,
  roleId,
  change,
  at: formatTimestamp(at),
  because,
});
