/**
 * What the HTTP layer is told of its surroundings.
 */
import { Context } from "effect";
import type { IpNetwork } from "effect/net";

export interface HttpSettingsShape {
  /** Where users reach the service, without a slash at the end. */
  readonly publicUrl: string;
  /** The proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>;
  /** Whether `/metrics` is served by `makeOperatorApp` alone. */
  readonly metricsElsewhere?: boolean;
}

/** Settings of the HTTP layer. */
export class HttpSettings extends Context.Service<HttpSettings, HttpSettingsShape>()(
  "@accountlink/http/HttpSettings",
) {}
