/** A town whose people, addresses, browsers and second accounts are known, for measuring alt detection. */
import { Effect, Random } from "effect";

const day = 86_400_000;

export interface TownAccount {
  readonly chatId: string;
  readonly gameId: string;
  /** Two accounts with the same number are one person's. */
  readonly person: number;
  readonly visits: ReadonlyArray<TownVisit>;
}

interface TownVisit {
  readonly address: string;
  readonly browser: string;
  readonly seenAt: number;
}

export interface TownPlan {
  readonly seed: string;
  readonly people: number;
  /** How many of the people have accounts, 0 to 1. */
  readonly membership: number;
  /** The sizes of homes, each as likely. */
  readonly homeSizes?: ReadonlyArray<number>;
}

export const townTime = Date.UTC(2026, 6, 1);

/** The carrier's NAT and the schools. */
export const townSharedNetworks = ["100.64.0.0/26", "192.0.2.0/31"];

export const townVpnNetworks = ["198.51.100.0/28"];

const usualHomeSizes: ReadonlyArray<number> = [1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 5];

/**
 * People in homes of 1 to 5. Everybody confirmed once, 2 in 5 once more, and so on, at any time of the last 180 days.
 *
 * Addresses: the third and later ones at home go to one of two schools, each with an address of its own; half of all
 * are also seen at a carrier's NAT with 64 addresses, 1 in 20 at a VPN with 16. 3 in 10 homes get another address every
 * month, which was another home's. 1 in 20 people moved to another home at some time of the 180 days.
 *
 * Browsers: people confirm in their main browser, 1 time in 5 on another device. 1 home in 10 shares a computer, which
 * is used every other time at home; that of a school, used every other time there, forgets its cookies.
 *
 * Accounts: 1 in 20 has a second and newer one, in half of the cases linked to the same game account. Of 10 second accounts 7
 * are used in the main browser of their owner, 2 in private windows, and 1 on a device of its own.
 */
export const makeTown = ({
  seed,
  people,
  membership,
  homeSizes = usualHomeSizes,
}: TownPlan): ReadonlyArray<TownAccount> => {
  const random = Effect.runSync(Random.Random.pipe(Random.withSeed(seed)));
  const chance = (probability: number): boolean => random.nextDoubleUnsafe() < probability;
  const below = (count: number): number => Math.floor(random.nextDoubleUnsafe() * count);

  const homes = makeHomes(people, homeSizes, { chance, below });
  const changingAddresses = Math.round(people / 5);
  const homeAddress = ({ number, isChanging }: Home, age: number): string => {
    const turn = (number * 7_919 + Math.floor(age / 30) * 104_729) % changingAddresses;
    return isChanging ? ipv4("172", turn) : ipv4("10", number);
  };

  const accounts: Array<TownAccount> = [];
  let forgotten = 0;
  const freshBrowser = (): string => `fresh ${++forgotten}`;

  const addPerson = (person: number, home: Home, school: string | null) => {
    const usesVpn = chance(0.05);
    const usesCarrier = chance(0.5);
    const moved = chance(0.05) ? { before: homes[below(homes.length)] ?? home, age: below(180) } : null;
    const visitAs = (own: () => string, oldest: number): TownVisit => {
      const age = random.nextDoubleUnsafe() * oldest;
      const seenAt = Math.round(townTime - age * day);
      const place = random.nextDoubleUnsafe();
      const at = (address: string, browser = own()) => ({ address, browser, seenAt });
      if (usesVpn && place < 0.5) return at(`198.51.100.${below(16)}`);
      if (usesCarrier && place < 0.25) return at(`100.64.0.${below(64)}`);
      if (school !== null && place < 0.35) return chance(0.5) ? at(school, freshBrowser()) : at(school);
      const here = moved !== null && age > moved.age ? moved.before : home;
      const isShared = here.sharesComputer && chance(0.5);
      return at(homeAddress(here, age), isShared ? `home ${here.number}` : own());
    };

    const ownGame = String(accounts.length + 1);
    const mainBrowser = () => `main ${person}`;
    const everyday = () => (chance(0.2) ? `other ${person}` : mainBrowser());
    const habit = random.nextDoubleUnsafe();
    const secondBrowser = habit < 0.7 ? mainBrowser : habit < 0.9 ? freshBrowser : () => `second ${person}`;
    const count = chance(0.05) ? 2 : 1;
    let oldest = 180;
    for (let index = 0; index < count; index += 1) {
      const visits: Array<TownVisit> = [];
      do visits.push(visitAs(index === 0 ? everyday : secondBrowser, oldest));
      while (chance(0.4));
      oldest = Math.max(...visits.map(({ seenAt }) => (townTime - seenAt) / day));
      const number = accounts.length + 1;
      const gameId = index === 1 && chance(0.5) ? ownGame : String(number);
      accounts.push({ chatId: String(1_000_000 + number), gameId, person, visits });
    }
  };

  let person = 0;
  for (const home of homes) {
    for (let member = 0; member < home.size; member += 1) {
      person += 1;
      const school = member < 2 ? null : `192.0.2.${below(2)}`;
      if (chance(membership)) addPerson(person, home, school);
    }
  }
  return accounts;
};

interface Home {
  readonly number: number;
  readonly size: number;
  readonly isChanging: boolean;
  readonly sharesComputer: boolean;
}

const makeHomes = (
  people: number,
  homeSizes: ReadonlyArray<number>,
  { chance, below }: { chance: (probability: number) => boolean; below: (count: number) => number },
): ReadonlyArray<Home> => {
  const homes: Array<Home> = [];
  for (let housed = 0; housed < people; ) {
    const size = Math.min(homeSizes[below(homeSizes.length)] ?? 1, people - housed);
    homes.push({ number: homes.length, size, isChanging: chance(0.3), sharesComputer: chance(0.1) });
    housed += size;
  }
  return homes;
};

const ipv4 = (net: string, host: number): string =>
  `${net}.${(host >>> 16) + 16}.${(host >>> 8) & 255}.${host & 255}`;
