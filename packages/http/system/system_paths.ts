/**
 * The paths for operators and of the API reference.
 */
import type { HttpServerRequest } from "effect/http";
import { basePathOf } from "../mount.ts";
import type { HttpSettingsShape } from "../settings.ts";

/** The path of the metrics, on either port. */
export const metricsPath = "/metrics";

/**
 * Makes the test whether a request is for one of these paths. Only their literal spelling matches,
 * so that a proxy which blocks the path blocks every request for it: the router decodes `url`, and
 * resolves dots where the target names a host.
 *
 * @param docs the paths of the API reference
 */
export const systemTest = (settings: HttpSettingsShape, docs: ReadonlyArray<string>) => {
  const own = settings.metricsElsewhere === true ? [] : [metricsPath];
  const paths = new Set(["/healthz", "/readyz", ...own, ...docs]);
  const basePath = basePathOf(settings);
  return ({ url, originalUrl }: HttpServerRequest.HttpServerRequest): boolean =>
    paths.has(url.split("?", 1)[0] ?? "") &&
    originalUrl.replace(/^https?:\/\/[^/?#]*/i, "") === basePath + url;
};
