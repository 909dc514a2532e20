/** Settings of the HTTP layer. */
import { Context } from "effect";
import type { IpNetwork } from "effect/net";
import type { Docs } from "./documents.ts";
import type { UploadFolder } from "./uploads.ts";

export interface HttpSettingsShape {
  /** Where users reach the service, without a trailing slash. Its path is that of all routes. */
  readonly publicUrl: string;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>;
  /** Whether `/metrics` is served by `makeOperatorApp` alone, or by nothing. */
  readonly metricsElsewhere?: boolean;
  /** Whether clients have no address: then only the limits of keys apply. */
  readonly withoutAddresses?: boolean;
  /** `docs` of `@accountlink/pages/docs`, to serve `/docs` and `/openapi.json`. */
  readonly docs?: Docs;
  /** Where files that owners upload are kept; without it, the dashboard takes none. */
  readonly uploads?: UploadFolder;
}

/** Settings of the HTTP layer. */
export class HttpSettings extends Context.Service<HttpSettings, HttpSettingsShape>()(
  "@accountlink/http/HttpSettings",
) {}
