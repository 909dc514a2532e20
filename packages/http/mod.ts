/** The HTTP application of accountlink, on top of the services of core. */
export { statusOf } from "@accountlink/http-api";
export { type HttpAppOptions, makeHttpApp } from "./app.ts";
export {
  BodyTooLarge,
  type HttpApp,
  type HttpRequest,
  HttpResponse,
  type ResponseHeaders,
  type ResponseStream,
  textOf,
  urlOfTarget,
} from "./http_app.ts";
export {
  makeNodeListener,
  type NodeListener,
  type NodeListenerOptions,
  type NodeRequest,
  type NodeResponse,
} from "./node/node_listener.ts";
export type { MakePages, Pages } from "./pages.ts";
export { HttpSettings, type HttpSettingsShape } from "./settings.ts";
export { makeOperatorApp, Readiness, watchReadiness } from "./system/system_routes.ts";
export {
  makeWebHandler,
  type WebHandler,
  type WebHandlerOptions,
  type WebHandlerServices,
} from "./web/web_handler.ts";
