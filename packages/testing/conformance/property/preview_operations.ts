/** The operations of `PreviewStore` on previews. */
import {
  type PlanPreview,
  type PlanSettings,
  type PreviewStore,
  PreviewTally,
} from "@accountlink/core/roles";
import { Struct } from "effect";
import * as FastCheck from "fast-check";
import { at, community, mostly, type OperationsOf, operation } from "./operation.ts";

export const previewOperations = (settings: FastCheck.Arbitrary<PlanSettings>) => {
  const preview: FastCheck.Arbitrary<PlanPreview> = FastCheck.record({
    id: FastCheck.constantFrom("1", "2"),
    settings,
    state: mostly<PlanPreview["state"]>("done", "running"),
    done: FastCheck.constantFrom(0, 3),
  }).map((parts) => ({ ...new PreviewTally(parts.settings).counts, ...parts, total: 3 }));

  return {
    "PreviewStore.start": operation(2, { ...community, preview, at }, ({ previews, place }, input) =>
      previews.start({ ...place, ...Struct.pick(input, ["preview", "at"]) }),
    ),
    "PreviewStore.save": operation(1, { ...community, preview, at }, ({ previews, place }, input) =>
      previews.save({ ...place, ...Struct.pick(input, ["preview", "at"]) }),
    ),
    "PreviewStore.find": operation(1, community, ({ previews, place }) => previews.find(place)),
  } satisfies OperationsOf<"PreviewStore", Pick<PreviewStore["Service"], "start" | "save" | "find">>;
};
