/**
 * The HTTP application of accountlink, over the services of core.
 */
export { makeHttpApp, makeServerApp, type ServerApp } from "./app.ts";
export type { DirectRequests } from "./direct_requests.ts";
export { PageSettings, type PageSettingsShape } from "./pages/page_settings.ts";
export { type HttpApp, RefusedRequest, refuseWhere } from "./pipeline/refused_request.ts";
export type { DirectRequest } from "./request_context.ts";
export { HttpSettings, type HttpSettingsShape } from "./settings.ts";
export { makeOperatorApp } from "./system/operator_app.ts";
export { Readiness } from "./system/readiness.ts";
export {
  makeWebHandler,
  type WebHandler,
  type WebHandlerOptions,
  type WebHandlerServices,
} from "./web/web_handler.ts";
