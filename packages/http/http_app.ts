import type { PublicError } from "@accountlink/core";
import type { Effect } from "effect";
import type { HttpRequest } from "./http_request.ts";
import type { HttpResponse } from "./http_response.ts";

export interface HttpApp {
  /** Answers a request. Interruption, which happens when the client disconnects, stops the work. */
  readonly answer: (request: HttpRequest) => Effect.Effect<HttpResponse>;

  /** Refuses a request before routing, such as invalid HTTP. The path decides the envelope. */
  readonly refuse: (request: HttpRequest, error: PublicError) => Effect.Effect<HttpResponse>;
}
