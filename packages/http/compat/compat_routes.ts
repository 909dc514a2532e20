import { LinkLookup } from "@accountlink/core";
import { Profiles } from "@accountlink/core/platforms";
import { Effect } from "effect";
import type { Pipeline } from "../pipeline/pipeline.ts";
import { bloxlinkV3Routes, bloxlinkV4Routes } from "./bloxlink.ts";
import { roverRoutes } from "./rover.ts";
import { rowifiRoutes } from "./rowifi.ts";

export const compatRoutes = Effect.fnUntraced(function* (pipeline: Pipeline) {
  const lookup = yield* LinkLookup;
  return [
    ...bloxlinkV4Routes(pipeline, lookup),
    ...bloxlinkV3Routes(pipeline, lookup),
    ...roverRoutes(pipeline, lookup, yield* Profiles),
    ...rowifiRoutes(pipeline, lookup),
  ];
});
