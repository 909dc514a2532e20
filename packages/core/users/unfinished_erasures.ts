import { Effect, Layer } from "effect";
import { sweepEvery } from "../telemetry/warn_once.ts";
import { UserData } from "./user_data.ts";
import { UserStore } from "./user_store.ts";

/** Ends the erasures that a node has begun and not ended, until its scope closes. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* UserStore;
    const users = yield* UserData;
    yield* sweepEvery("1 minute", "Cannot end interrupted erasures", (now) =>
      Effect.flatMap(store.unfinished(now), (left) =>
        Effect.forEach(left, ({ chatId, ...origin }) => users.erase(chatId, origin), { discard: true }),
      ),
    );
  }),
);
