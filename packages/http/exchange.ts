/**
 * One request and what has become known of it so far; answers are made from this.
 */
import {
  type AuthenticatedKey,
  type ClientAddress,
  clientAddress,
  type LimitReport,
  parseAddress,
} from "@accountlink/core";
import type { Generation } from "@accountlink/http-api";
import { type Clock, Option } from "effect";
import type { HttpServerRequest } from "effect/http";
import type { DatedContract } from "./service_version.ts";
import type { HttpSettingsShape } from "./settings.ts";

/** One request on its way through the checks. */
export interface Exchange {
  readonly requestId: string;
  readonly request: HttpServerRequest.HttpServerRequest;
  readonly generation: Generation;
  readonly address: ClientAddress;
  readonly clock: Clock.Clock;
  /** The key, once it was accepted. */
  key: AuthenticatedKey | null;
  /** What is left of the key's limits, once they were asked. */
  limits: LimitReport | null;
  /** The dated contract of a v2 request. */
  contract: DatedContract;
}

/** Stands for a client whose address is not an IP address, such as one on a Unix socket. */
const nowhere = Option.getOrThrow(parseAddress("0.0.0.0"));

const rememberedAddresses = 4_096;

/** Reads client addresses, remembering the last few thousand texts that it read. */
export const addressReader = ({ trustedProxies }: HttpSettingsShape) => {
  const known = new Map<string, ClientAddress>();

  const read = (text: string): ClientAddress => {
    let address = known.get(text);
    if (address === undefined) {
      address = Option.getOrElse(parseAddress(text), () => nowhere);
      if (known.size >= rememberedAddresses) known.clear();
      known.set(text, address);
    }
    return address;
  };

  return (request: HttpServerRequest.HttpServerRequest): ClientAddress => {
    const socket = Option.isSome(request.remoteAddress) ? read(request.remoteAddress.value) : nowhere;
    return trustedProxies.length === 0
      ? socket
      : clientAddress(socket, request.headers["x-forwarded-for"], trustedProxies);
  };
};
