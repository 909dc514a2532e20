import { Array, Effect, Option, Result } from "effect";
import type { AddressSighting, AddressVault, ClientAddress } from "../addresses/mod.ts";
import { redactAddresses } from "../addresses/redaction.ts";
import type { AltWarning } from "./alt_warning.ts";
import { answersInTime } from "./answers_in_time.ts";
import type { NetworkIntelligence } from "./network_intelligence.ts";

export interface SeedAddress {
  readonly hashes: ReadonlySet<string>;
  /**
   * The decrypted address; null if no key of the deployment decrypts it. In both cases, `hashes` finds its sightings.
   */
  readonly address: ClientAddress | null;
}

/** Returns each distinct address with every hash under which it may be stored. */
export const seedAddresses = Effect.fnUntraced(function* (
  vault: AddressVault["Service"],
  sightings: ReadonlyArray<AddressSighting>,
  asked: ClientAddress | null,
) {
  const found = new Map<string, SeedAddress>();

  const add = (address: ClientAddress) =>
    found.has(address.countedAs)
      ? Effect.void
      : Effect.map(vault.hashes(address), (hashes) => {
          found.set(address.countedAs, { hashes: new Set(hashes), address });
        });

  if (asked !== null) yield* add(asked);
  const distinct = [...new Map(sightings.map(({ address }) => [address.hash, address])).values()];
  const revealed = yield* vault.revealEach(distinct);
  for (const [place, { hash }] of distinct.entries()) {
    const address = revealed[place] ?? Option.none();
    if (Option.isSome(address)) yield* add(address.value);
    else found.set(`unreadable ${hash}`, { hashes: new Set([hash]), address: null });
  }
  return [...found.values()];
});

/** How long a report waits for network facts, and how many lookups run at once. */
const networkDeadline = { within: "1 second", atOnce: 16 } as const;

/**
 * Looks up the network of each address, in the order of the addresses. The warnings contain no address. A network whose
 * lookup fails counts as neither VPN nor shared. If any lookup exceeds the deadline, this applies to all networks.
 */
export const seedNetworks = (
  networks: NetworkIntelligence["Service"],
  addresses: ReadonlyArray<SeedAddress>,
) => {
  const ask = ({ address }: SeedAddress) =>
    Effect.result(
      address === null
        ? Effect.fail<AltWarning>({ is: "unreadable_address" })
        : Effect.mapError(
            networks.lookup(address),
            ({ message }): AltWarning => ({ is: "no_network", text: redactAddresses(message) }),
          ),
    );
  return Effect.map(answersInTime(addresses, ask, networkDeadline), (answers) => {
    const found = addresses.flatMap((address) => answers.get(address) ?? []);
    const isLate = found.length < addresses.length;
    const facts = isLate
      ? addresses.map(() => unknown)
      : found.map((answer) => Result.getOrElse(answer, () => unknown));
    return {
      isVpn: facts.map(({ vpn }) => vpn),
      isShared: facts.map(({ shared }) => shared),
      warnings: isLate ? [late] : Array.dedupe(found.filter(Result.isFailure).map(({ failure }) => failure)),
    };
  });
};

const late: AltWarning = { is: "late_networks" };
const unknown = { vpn: false, shared: false };
