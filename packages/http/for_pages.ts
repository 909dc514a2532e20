/** What pages need of this package: requests, responses, and the checks that pages share with routes. @internal */

export { toEvidence, toReview } from "./alts/alt_routes.ts";
export { addErrorHeaders, type SuccessOf } from "./envelopes/envelope.ts";
export { envelopeV2 } from "./envelopes/envelope_v2.ts";
export {
  type BodyTooLarge,
  cookieOf,
  emptyResponse,
  type HttpRequest,
  HttpResponse,
  isStream,
  isUnder,
  privateHeaders,
  queryTextOf,
  searchOf,
  textOf,
  textResponse,
} from "./http_app.ts";
export { listedLink } from "./links/routes_v2.ts";
export { basePathOf } from "./mount.ts";
export { type KeylessAnswers, type MakePages, type Pages } from "./pages.ts";
export { maxBodySize } from "./pipeline/body.ts";
export { makeChecks } from "./pipeline/checks.ts";
export { parameterReader, rawReader } from "./pipeline/parameters.ts";
export { type BoundRoute, render, withHeaders } from "./pipeline/pipeline.ts";
export { answering, makeObservers, respond } from "./pipeline/respond.ts";
export { type Answer, contextMaker, type RequestContext } from "./request_context.ts";
export { type Router } from "./router.ts";
export { HttpSettings } from "./settings.ts";
export { type Doc, type Docs, makeStaticDocument, onceMade, type StaticDocument } from "./static_document.ts";
