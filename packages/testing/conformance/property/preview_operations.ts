/** The operations of `RolePlanStore` on previews. */
import { type PlanPreview, type PlanSettings, PreviewTally } from "@accountlink/core/roles";
import * as FastCheck from "fast-check";
import type { ScopeName } from "../scopes.ts";
import { at, mostly, operation } from "./operation.ts";
import { nth } from "./subjects.ts";

const scope = mostly<ScopeName>("global", "guild");
const guild = mostly(0, 1);

export const previewOperations = (settings: FastCheck.Arbitrary<PlanSettings>) => {
  const preview: FastCheck.Arbitrary<PlanPreview> = FastCheck.record({
    id: FastCheck.constantFrom("1", "2"),
    settings,
    state: mostly<PlanPreview["state"]>("done", "running"),
    done: FastCheck.constantFrom(0, 3),
  }).map((parts) => ({ ...new PreviewTally(parts.settings).counts, ...parts, total: 3 }));

  return {
    "RolePlanStore.startPreview": operation(
      2,
      { scope, guild, preview, at },
      ({ plans, guildIds, pid }, input) =>
        plans.startPreview({
          pid,
          guildId: nth(guildIds, input.guild),
          preview: input.preview,
          at: input.at,
        }),
    ),
    "RolePlanStore.savePreview": operation(
      1,
      { scope, guild, preview, at },
      ({ plans, guildIds, pid }, input) =>
        plans.savePreview({ pid, guildId: nth(guildIds, input.guild), preview: input.preview, at: input.at }),
    ),
    "RolePlanStore.findPreview": operation(1, { scope, guild }, ({ plans, guildIds, pid }, input) =>
      plans.findPreview({ pid, guildId: nth(guildIds, input.guild) }),
    ),
  };
};
