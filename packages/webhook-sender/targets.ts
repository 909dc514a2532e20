/**
 * Where the connection of a webhook goes: its host is resolved, and each of its addresses is checked.
 */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { type DeliveryError, WebhookUnanswered } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import type { IpNetwork } from "effect/net";
import { isPublic, isWithin } from "./public_address.ts";

/** The addresses of a name, in the order in which to try them. Rejects for a name that has none. */
export type Resolve = (name: string) => Promise<ReadonlyArray<string>>;

/** IPv4 first: many networks have addresses of IPv6 that lead nowhere. */
export const resolve: Resolve = async (name) =>
  (await lookup(name, { all: true, order: "ipv4first" })).map(({ address }) => address);

/**
 * The addresses to connect to. All of them are public or in the open networks; those of an http URL are in the open
 * networks.
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
    return found.every(isRight) ? Effect.succeed(found) : unanswered("address");
  });
};

const resolved = (host: string, resolveName: Resolve) =>
  Effect.tryPromise({
    try: () => resolveName(host),
    catch: () => new WebhookUnanswered({ error: "name" }),
  });

const unanswered = (error: Exclude<DeliveryError, "status">) => new WebhookUnanswered({ error });
