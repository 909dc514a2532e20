import { isIP } from "node:net";
import { type DeliveryError, WebhookUnanswered } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import type { IpNetwork } from "effect/net";
import type { Resolve } from "./names.ts";
import { isPublic, isWithin } from "./public_address.ts";

/** The maximum number of IP addresses to try for a host name, because DNS may return thousands. */
const mostTargets = 4;

/**
 * Resolves the host to the addresses to connect to. Fails unless every address is public or in `openNetworks`. For an
 * http URL, every address must be in `openNetworks`.
 */
export const targetsOf = (
  { protocol, hostname }: URL,
  resolveName: Resolve,
  openNetworks: ReadonlyArray<IpNetwork.IpNetwork>,
): Effect.Effect<ReadonlyArray<string>, WebhookUnanswered> => {
  const host = hostname.replace(/^\[|\]$/g, "");
  const addresses = isIP(host) === 0 ? resolved(host, resolveName) : Effect.succeed([host]);
  const isRight = (address: string): boolean =>
    isWithin(address, openNetworks) || (protocol === "https:" && isPublic(address));
  return Effect.flatMap(addresses, (found) => {
    if (found.length === 0) return unanswered("name");
    return found.every(isRight) ? Effect.succeed(found.slice(0, mostTargets)) : unanswered("address");
  });
};

const resolved = (host: string, resolveName: Resolve) =>
  Effect.tryPromise({
    try: () => resolveName(host),
    catch: () => new WebhookUnanswered({ error: "name" }),
  });

const unanswered = (error: Exclude<DeliveryError, "status">) => new WebhookUnanswered({ error });
