/** The user-facing pages, for an application of `@accountlink/http`. */

export { PageSettings, type PageSettingsShape, type ThingToTry } from "./page_settings.ts";
export { makePages, type PageServices } from "./pages.ts";
