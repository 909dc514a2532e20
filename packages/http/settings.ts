/**
 * Settings of the HTTP layer.
 */
import { Context } from "effect";
import type { IpNetwork } from "effect/net";

export interface HttpSettingsShape {
  /** Where users reach the service, without a trailing slash. */
  readonly publicUrl: string;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>;
  /** Whether `/metrics` is served by `makeOperatorApp` alone. */
  readonly metricsElsewhere?: boolean;
}

/** Settings of the HTTP layer. */
export class HttpSettings extends Context.Service<HttpSettings, HttpSettingsShape>()(
  "@accountlink/http/HttpSettings",
) {}
