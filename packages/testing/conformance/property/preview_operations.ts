/** The operations of `PreviewStore` on previews. */
import {
  type PlanPreview,
  type PlanSettings,
  type PreviewStore,
  PreviewTally,
} from "@accountlink/core/roles";
import * as FastCheck from "fast-check";
import type { ScopeName } from "../scopes.ts";
import { at, mostly, type OperationsOf, operation } from "./operation.ts";
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
    "PreviewStore.start": operation(2, { scope, guild, preview, at }, ({ previews, guildIds, pid }, input) =>
      previews.start({
        pid,
        guildId: nth(guildIds, input.guild),
        preview: input.preview,
        at: input.at,
      }),
    ),
    "PreviewStore.save": operation(1, { scope, guild, preview, at }, ({ previews, guildIds, pid }, input) =>
      previews.save({ pid, guildId: nth(guildIds, input.guild), preview: input.preview, at: input.at }),
    ),
    "PreviewStore.find": operation(1, { scope, guild }, ({ previews, guildIds, pid }, input) =>
      previews.find({ pid, guildId: nth(guildIds, input.guild) }),
    ),
  } satisfies OperationsOf<"PreviewStore", Pick<PreviewStore["Service"], "start" | "save" | "find">>;
};
