/** The HTTP application of accountlink, on top of the services of core. */
export { statusOf } from "@accountlink/http-api";
export { type HttpAppOptions, makeHttpApp } from "./app.ts";
export type { HttpApp } from "./http_app.ts";
export { BodyTooLarge, type HttpRequest, urlOfTarget } from "./http_request.ts";
export { HttpResponse, type ResponseHeaders, type ResponseStream, textOf } from "./http_response.ts";
export {
  makeNodeListener,
  type NodeListener,
  type NodeListenerOptions,
  type NodeRequest,
  type NodeResponse,
} from "./node/node_listener.ts";
export type { MakePages, Pages } from "./pages.ts";
export { HttpSettings, type HttpSettingsShape } from "./settings.ts";
export { makeOperatorApp } from "./system/operator_app.ts";
export { Readiness } from "./system/readiness.ts";
export { maxUploadsSize, type UploadedFile, type UploadFolder } from "./uploads.ts";
export {
  makeWebHandler,
  type WebHandler,
  type WebHandlerOptions,
  type WebHandlerServices,
} from "./web/web_handler.ts";
