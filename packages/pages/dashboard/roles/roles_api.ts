import { originOf } from "@accountlink/core/keys";
import { planJson, RolePlans } from "@accountlink/core/roles";
import { DashboardRoles } from "@accountlink/http-api";
import { Effect } from "effect";
import { makeApiPipeline } from "../api_pipeline.ts";

export const rolesApi = Effect.gen(function* () {
  const bind = yield* makeApiPipeline;
  const plans = yield* RolePlans;

  return [
    bind(DashboardRoles.getRoles, function* ({ owner, values: { pid, guildId } }) {
      const scope = yield* plans.enter(owner, pid, guildId);
      const guildRoles = yield* plans.guildRoles(guildId);
      return { data: { plan: planJson(yield* plans.find(scope, guildId)), guildRoles } };
    }),

    bind(DashboardRoles.getRanks, function* ({ values: { groupId } }) {
      const { id, name, ranks } = yield* plans.group(groupId);
      return { data: { group: { id, name }, ranks } };
    }),

    bind(DashboardRoles.putRoles, function* ({ owner, values: { pid, guildId, ...settings } }) {
      const scope = yield* plans.enter(owner, pid, guildId);
      return { data: { plan: planJson(yield* plans.put(scope, guildId, settings, originOf(owner))) } };
    }),

    bind(DashboardRoles.deleteRoles, function* ({ owner, values: { pid, guildId } }) {
      const scope = yield* plans.enter(owner, pid, guildId, true);
      return { data: { deleted: yield* plans.remove(scope, guildId, originOf(owner)) } };
    }),

    bind(DashboardRoles.previewRoles, function* ({ owner, values: { pid, guildId, chatId } }) {
      const scope = yield* plans.enter(owner, pid, guildId);
      const { add, remove, nickname } = yield* plans.preview(scope, guildId, chatId);
      return { data: { add, remove, nickname } };
    }),

    bind(DashboardRoles.sweepRoles, function* ({ owner, values: { pid, guildId } }) {
      const scope = yield* plans.enter(owner, pid, guildId);
      return { data: { plan: planJson(yield* plans.startSweep(scope, guildId)) } };
    }),
  ];
});
