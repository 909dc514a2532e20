/**
 * A town whose people, addresses and second accounts are known, for measuring alt detection.
 */
import { Effect, Random } from "effect";

const day = 86_400_000;

/** One chat user. */
export interface TownAccount {
  readonly chatId: string;
  readonly gameId: string;
  /** Two accounts with the same number are one person's. */
  readonly person: number;
  readonly visits: ReadonlyArray<{ readonly address: string; readonly seenAt: number }>;
}

/** When the town is looked at. */
export const townTime = Date.UTC(2026, 6, 1);

/** The carrier's NAT and the schools. */
export const townSharedNetworks = ["100.64.0.0/26", "192.0.2.0/31"];

/** The VPN. */
export const townVpnNetworks = ["198.51.100.0/28"];

const people = 100_000;

/** The sizes of homes, each as likely. */
const homeSizes = [1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 5];

/** Addresses that a provider gives to other homes after a month. */
const changingAddresses = 20_000;

/**
 * 100,000 people in homes of 1 to 5. The third and later ones at home go to one of two schools, each with an address of
 * its own; half of all are also seen at a carrier's NAT with 64 addresses, 1 in 20 at a VPN with 16, and 3 in 10 homes
 * get another address every month, which was another home's. 1 in 20 has a second account, in half of the cases linked
 * to the same game account. Everybody confirmed once, 2 in 5 once more, and so on, at any time of the last 180 days.
 *
 * @param membership how many of the people have accounts, 0 to 1
 */
export const makeTown = (membership: number): ReadonlyArray<TownAccount> => {
  const random = Effect.runSync(Random.Random.pipe(Random.withSeed("town")));
  const chance = (probability: number): boolean => random.nextDoubleUnsafe() < probability;
  const below = (count: number): number => Math.floor(random.nextDoubleUnsafe() * count);

  const accounts: Array<TownAccount> = [];
  const addPerson = (person: number, home: (age: number) => string, school: string | null) => {
    const usesVpn = chance(0.05);
    const usesCarrier = chance(0.5);
    const addressAt = (age: number): string => {
      const place = random.nextDoubleUnsafe();
      if (usesVpn && place < 0.5) return `198.51.100.${below(16)}`;
      if (usesCarrier && place < 0.25) return `100.64.0.${below(64)}`;
      return school !== null && place < 0.35 ? school : home(age);
    };
    const ownGame = String(accounts.length + 1);
    for (let count = chance(0.05) ? 2 : 1; count > 0; count -= 1) {
      const visits: Array<TownAccount["visits"][number]> = [];
      do {
        const age = random.nextDoubleUnsafe() * 180;
        visits.push({ address: addressAt(age), seenAt: Math.round(townTime - age * day) });
      } while (chance(0.4));
      const number = accounts.length + 1;
      const gameId = count === 1 && chance(0.5) ? ownGame : String(number);
      accounts.push({ chatId: String(1_000_000 + number), gameId, person, visits });
    }
  };

  let person = 0;
  for (let number = 0; person < people; number += 1) {
    const isChanging = chance(0.3);
    const ownAddress = `10.${number >>> 16}.${(number >>> 8) & 255}.${number & 255}`;
    const home = (age: number): string => {
      if (!isChanging) return ownAddress;
      const turn = (number * 7_919 + Math.floor(age / 30) * 104_729) % changingAddresses;
      return `172.16.${turn >>> 8}.${turn & 255}`;
    };
    const size = homeSizes[below(homeSizes.length)] ?? 1;
    for (let member = 0; member < size && person < people; member += 1) {
      person += 1;
      const school = member < 2 ? null : `192.0.2.${below(2)}`;
      if (chance(membership)) addPerson(person, home, school);
    }
  }
  return accounts;
};
