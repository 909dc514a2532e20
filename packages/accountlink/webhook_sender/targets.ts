/** Where the connection of a webhook goes: its host is resolved, and each of its addresses is checked. */
import { isIP } from "node:net";
import { type DeliveryError, WebhookUnanswered } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import type { IpNetwork } from "effect/net";
import type { Resolve } from "./names.ts";
import { isPublic, isWithin } from "./public_address.ts";

/** How many addresses of a name are tried: an owner of a name may give it thousands. */
const mostTargets = 4;

/**
 * The addresses to connect to. All addresses of the host are public or in the open networks; those of an http URL are in
 * the open networks.
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
