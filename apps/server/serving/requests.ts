/**
 * Passes the requests of Node's server to the application.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { PublicError } from "@accountlink/core";
import { type HttpApp, makeNodeListener } from "@accountlink/http";
import { Effect } from "effect";

/** Why a request is refused before routing; null for one to serve. It is called once for each request. */
export type RefusalOf = (request: IncomingMessage, response: ServerResponse) => PublicError | null;

/** @param reasons the first refusal counts */
export const answerRequests = Effect.fnUntraced(function* (
  node: Server,
  app: HttpApp,
  reasons: ReadonlyArray<RefusalOf>,
) {
  const listener = yield* makeNodeListener(app);

  const refusalOf: RefusalOf = (request, response) => {
    for (const reason of reasons) {
      const refusal = reason(request, response);
      if (refusal !== null) return refusal;
    }
    return null;
  };
  node.on("request", (request: IncomingMessage, response: ServerResponse) =>
    listener(request, response, { refusal: refusalOf(request, response) }),
  );
  node.on("checkContinue", (request: IncomingMessage, response: ServerResponse) =>
    listener(request, response, { refusal: refusalOf(request, response), expectsContinue: true }),
  );
});
