import { statusOf } from "@accountlink/http-api";
import { Effect } from "effect";
import { type HttpApp, textResponse } from "../http_app.ts";
import { makeLiteralRouter } from "../router.ts";
import { healthRoutes, metricsRoute } from "./system_routes.ts";

/** Makes the application of the operator port from `Readiness`: `/metrics`, `/healthz` and `/readyz`. */
export const makeOperatorApp = Effect.map(healthRoutes, (health): HttpApp => {
  const router = makeLiteralRouter([...health, metricsRoute]);
  return {
    answer: (request) => {
      const found = router.find(request.method, request.url);
      return found === undefined ? notFound : found.answer(request, found.query);
    },
    refuse: (_, error) => Effect.succeed(text(statusOf(error), error.message)),
  };
});

const text = (status: number, line: string) => textResponse(status, `${line}\n`, "text/plain; charset=utf-8");

const notFound = Effect.succeed(text(404, "Not found"));
