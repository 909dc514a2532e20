/** Joins at a dev platform. */
import type { ChatJoins } from "@accountlink/core/platforms";
import { Effect, Option, Stream } from "effect";
import { finderOn, type ResilientClient } from "../http/mod.ts";
import { Joins } from "./wire.ts";

/** Asks twice a second. Keeps a position with the next question, when its joins are stored. */
export const devJoins = (client: ResilientClient): ChatJoins =>
  Effect.fnUntraced(function* (place) {
    let after = yield* place.read;
    const ask = Effect.gen(function* () {
      if (after !== null) yield* place.write(after);
      const query = after === null ? "" : `?after=${after}`;
      const found = yield* finderOn(client)("ChatPlatform.joins", `/joins${query}`, Joins);
      const { joins, position } = Option.getOrThrow(found);
      after = String(position);
      return joins;
    });
    const later = Stream.fromEffectRepeat(Effect.delay(ask, "500 millis"));
    return Stream.flattenIterable(Stream.prepend(later, [yield* ask]));
  });
