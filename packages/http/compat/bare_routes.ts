/** Routes whose answer has no envelope. */
import { type GameId, LinkNotFound, type PublicError } from "@accountlink/core";
import type { CompatService, Parameters, Route } from "@accountlink/http-api";
import { Effect, type Schema } from "effect";
import type { SuccessOf } from "../envelopes/envelope.ts";
import { compatAnswer } from "../envelopes/envelope_compat.ts";
import type { BoundRoute, KeyedInput, Pipeline } from "../pipeline/pipeline.ts";

/** Makes the function that binds a route of a service to what makes its whole answer. */
export const bareRoutes =
  ({ keyed }: Pipeline, service: CompatService) =>
  <P extends Parameters, S extends Schema.Top>(
    route: Route<P, S>,
    handler: (input: KeyedInput<P>) => Effect.Effect<S["Encoded"], PublicError>,
  ): BoundRoute =>
    keyed(route, (input) =>
      Effect.map(
        handler(input),
        (body) => compatAnswer(service, input.context, body) as SuccessOf<typeof body>,
      ),
    );

/** The ID of a game user as a number. One that a number cannot hold is not found. */
export const exactNumber = (gameId: GameId): Effect.Effect<number, LinkNotFound> => {
  const number = Number(gameId);
  return Number.isSafeInteger(number) ? Effect.succeed(number) : Effect.fail(new LinkNotFound());
};
