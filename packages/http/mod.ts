/**
 * The HTTP application of accountlink, over the services of core.
 */
export { makeHttpApp } from "./app.ts";
export { PageSettings, type PageSettingsShape } from "./flow/page_settings.ts";
export { makeOperatorApp } from "./operator_app.ts";
export { type HttpApp, RefusedRequest, refuseWhere } from "./refused_request.ts";
export { HttpSettings, type HttpSettingsShape } from "./settings.ts";
export { Readiness } from "./system_routes.ts";
