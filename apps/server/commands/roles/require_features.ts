import { reasonOf } from "@accountlink/core/errors";
import { noFeatures, usualFeatures } from "@accountlink/core/platforms";
import { lackedByPlan, type PlanSettings } from "@accountlink/core/roles";
import { Effect } from "effect";
import { FetchHttpClient } from "effect/http";
import { problemsText } from "../../cli/flags.ts";
import { givenConfig } from "../../cli/invocation.ts";
import { CommandFailed } from "../../cli/report.ts";

/** Asks the game server of `ACCOUNTLINK_GAME_URL` for its features; without one, returns the usual features. */
const features = Effect.gen(function* () {
  const { ACCOUNTLINK_GAME_URL: url, ACCOUNTLINK_GAME_TOKEN: token } = yield* givenConfig;
  if (url === null || token === null) return usualFeatures;
  const { httpGameFeatures } = yield* Effect.promise(() => import("@accountlink/platforms/live"));
  return yield* httpGameFeatures({ url, token });
}).pipe(Effect.provide(FetchHttpClient.layer));

/** Fails if a rule or the nickname needs what the game does not have. Asks the game only if they need something of it. */
export const requireFeatures = Effect.fnUntraced(function* (
  settings: Partial<Pick<PlanSettings, "rules" | "nicknameGroupId">>,
) {
  if (lackedByPlan(settings, noFeatures) === null) return;
  const has = yield* Effect.mapError(
    features,
    (error) =>
      new CommandFailed({
        problem: `Cannot set the plan: the game does not tell what it has: ${reasonOf(error)}`,
      }),
  );
  const lacked = lackedByPlan(settings, has);
  if (lacked !== null) {
    return yield* new CommandFailed({ problem: `Cannot set the plan: ${problemsText(lacked)}` });
  }
});
