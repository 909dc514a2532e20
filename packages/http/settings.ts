import { Context } from "effect";
import type { IpNetwork } from "effect/net";
import type { Docs } from "./static_document.ts";

export interface HttpSettingsShape {
  /** Where users reach the service, without a trailing slash. All routes are below its path. */
  readonly publicUrl: string;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>;
  /** Whether this application has no `/metrics`, because `makeOperatorApp` serves it. */
  readonly metricsElsewhere?: boolean;
  /** Whether client addresses are unknown; then only the limits of keys apply. */
  readonly withoutAddresses?: boolean;
  /**
   * The documents that the application serves in addition to its routes, such as `docs` of `@accountlink/pages/docs`.
   */
  readonly docs?: Docs;
}

export class HttpSettings extends Context.Service<HttpSettings, HttpSettingsShape>()(
  "@accountlink/http/HttpSettings",
) {}
