import type { DataScope, GuildId } from "@accountlink/core";
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
import { DashboardCommunities, DashboardRoles } from "@accountlink/http-api";
import { Effect } from "effect";
import { formOperation, makeOperation } from "../api_pipeline.ts";
import { given } from "../form_values.ts";
import { ranksWithoutRole } from "./role_form.ts";

/** What pages do with a plan, and programs have no route for. */
const ofGuild = { role: "admin" as const, parameters: DashboardRoles.getRoles.parameters };
const { chatId: member } = DashboardCommunities.putLink.parameters;

/** What members and keys do with role plans, by JSON and by the forms of the pages. */
export const makeRoleOperations = Effect.gen(function* () {
  const operation = yield* makeOperation;
  const plans = yield* RolePlans;
  const { enter } = yield* Communities;

  const previewJson = Effect.fnUntraced(function* (scope: DataScope, guildId: GuildId, preview: PlanPreview) {
    const { roles, ...shown } = shownPreview(preview);
    const unnamed = yield* plans.countUnnamed(scope, guildId, preview.settings);
    return {
      ...shown,
      roles: roles.map(({ held: _, ...role }) => role),
      unnamed: unnamed.map(({ roleId, count }) => ({ roleId, members: count })),
    };
  });

  return {
    find: operation(DashboardRoles.getRoles, function* ({ owner, values: { pid, guildId } }) {
      const scope = yield* enter(owner, pid, guildId);
      const guildRoles = yield* plans.guildRoles(guildId);
      return { plan: planJson(yield* plans.find(scope, guildId)), guildRoles };
    }),

    ranks: operation(DashboardRoles.getRanks, function* ({ values: { groupId } }) {
      const { id, name, ranks } = yield* plans.group(groupId);
      return { group: { id, name }, ranks };
    }),

    put: operation(
      DashboardRoles.putRoles,
      function* ({ owner, values }) {
        const { pid, guildId, edited, ...settings } = values;
        const scope = yield* enter(owner, pid, guildId);
        return yield* plans.put(scope, guildId, settings, originOf(owner), edited);
      },
      (details) => ({ plan: planJson(details) }),
    ),

    /** Previews a plan that its form wants on, before the form stores the plan. */
    previewPut: formOperation(DashboardRoles.putRoles, function* ({ owner, values }) {
      const { pid, guildId, edited, ...settings } = values;
      return yield* plans.previewAll(yield* enter(owner, pid, guildId), guildId, settings, edited);
    }),

    /** Makes a role for each rank of a group that has none. */
    makeRoles: formOperation(
      { ...ofGuild, parameters: { ...ofGuild.parameters, ...DashboardRoles.getRanks.parameters } },
      function* ({ owner, values: { pid, guildId, groupId } }) {
        yield* enter(owner, pid, guildId);
        const missing = ranksWithoutRole(yield* plans.group(groupId), yield* plans.guildRoles(guildId));
        yield* plans.makeRoles(guildId, missing.slice(0, mostRules));
      },
    ),

    applyNow: formOperation(
      { ...ofGuild, parameters: { ...ofGuild.parameters, chatId: member } },
      function* ({ owner, values: { pid, guildId, chatId } }) {
        yield* plans.sync(yield* enter(owner, pid, guildId), guildId, chatId);
      },
    ),

    putNicknamesBack: formOperation(ofGuild, function* ({ owner, values: { pid, guildId } }) {
      const scope = yield* enter(owner, pid, guildId);
      return yield* plans.putNicknamesBack(scope, guildId, originOf(owner));
    }),

    remove: operation(DashboardRoles.deleteRoles, function* ({ owner, values: { pid, guildId } }) {
      const scope = yield* enter(owner, pid, guildId, true);
      return { deleted: yield* plans.remove(scope, guildId, originOf(owner)) };
    }),

    findPreview: operation(DashboardRoles.getPreview, function* ({ owner, values: { pid, guildId } }) {
      const scope = yield* enter(owner, pid, guildId);
      const preview = yield* plans.findPreview(scope, guildId);
      return { preview: preview && (yield* previewJson(scope, guildId, preview)) };
    }),

    preview: operation(DashboardRoles.previewRoles, function* ({ owner, values }) {
      const { pid, guildId, chatId, ...chosen } = values;
      const scope = yield* enter(owner, pid, guildId);
      if (chatId === null) {
        const preview = yield* plans.previewAll(scope, guildId, given(chosen));
        return { preview: yield* previewJson(scope, guildId, preview) };
      }
      const { add, remove, nickname, holding } = yield* plans.preview(scope, guildId, chatId);
      const because = holding.map((holds, rule) => ({ rule, holds }));
      return { add, remove, nickname, because };
    }),

    history: operation(
      DashboardRoles.getRoleHistory,
      function* ({ owner, values: { pid, guildId, limit, cursor } }) {
        const scope = yield* enter(owner, pid, guildId);
        const found = yield* plans.roleHistory(scope, guildId, cursor, limit + 1);
        const { page, last } = pageOf(found, limit);
        return { changes: page.map(changeJson), next: last && String(last.number) };
      },
    ),

    putBack: operation(DashboardRoles.putRolesBack, function* ({ owner, values: { pid, guildId, since } }) {
      const scope = yield* enter(owner, pid, guildId);
      return { pending: yield* plans.putRolesBack(scope, guildId, since, originOf(owner)) };
    }),

    sweep: operation(DashboardRoles.sweepRoles, function* ({ owner, values: { pid, guildId } }) {
      const plan = yield* plans.startSweep(yield* enter(owner, pid, guildId), guildId);
      return { plan: planJson(plan) };
    }),
  };
});

const changeJson = ({ chatId, roleId, change, at, because }: KeptRoleChange) => ({
  chatId,
  roleId,
  change,
  at: formatTimestamp(at),
  because,
});
