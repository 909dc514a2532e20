import { type GameId, LinkNotFound, type PublicError } from "@accountlink/core";
import type { OtherService, Parameters, Route } from "@accountlink/http-api";
import { Effect, type Schema } from "effect";
import type { SuccessOf } from "../envelopes/envelope.ts";
import { compatAnswer } from "../envelopes/envelope_compat.ts";
import type { BoundRoute, KeyedInput, Pipeline } from "../pipeline/pipeline.ts";

/**
 * Returns a function that binds a route of a service to a handler. The handler returns the whole body of the response.
 */
export const bareRoutes =
  ({ keyed }: Pipeline, service: OtherService) =>
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

/** Converts a game user's ID to a number. Fails with `LinkNotFound` if the ID is not a safe integer. */
export const exactNumber = (gameId: GameId): Effect.Effect<number, LinkNotFound> => {
  const number = Number(gameId);
  return Number.isSafeInteger(number) ? Effect.succeed(number) : Effect.fail(new LinkNotFound());
};
