/** Joins at a dev platform. */
import type { PlatformUnavailable } from "@accountlink/core";
import type { GuildJoin } from "@accountlink/core/platforms";
import { Effect, Option, Stream } from "effect";
import { findResource, type ResilientClient } from "../http/mod.ts";
import { Joins, refusal } from "./wire.ts";

/** Asks twice a second. A stream after a failed one resumes after the last join that was received. */
export const devJoins = (client: ResilientClient): Stream.Stream<GuildJoin, PlatformUnavailable> => {
  let after: number | null = null;
  const ask = Effect.gen(function* () {
    const found = yield* findResource(client, {
      operation: "ChatPlatform.joins",
      url: `/joins${after === null ? "" : `?after=${after}`}`,
      found: Joins,
      absent: refusal(),
    });
    const { joins, position } = Option.getOrThrow(found);
    after = position;
    return joins;
  });
  return Stream.flattenIterable(Stream.fromEffectRepeat(Effect.delay(ask, "500 millis")));
};
