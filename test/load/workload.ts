/**
 * What both servers are filled with and asked for.
 */

/** How many chat users are linked. */
export const linkCount = 100_000;

/** The key of every request. Its limits are counted like any other's, and never reached. */
export const apiKey = `alk_LoadBenchKey_${"k".repeat(43)}`;

/** How many keys there are besides that one, each of which asks from an address of its own. */
export const keyCount = 20_000;

const keyIdOf = (index: number): string => `LoadKey${`${index}`.padStart(5, "0")}`;

/** One of them. Its limits are counted, and never reached, as well. */
export const keyOf = (index: number) => {
  const id = keyIdOf(index);
  return { id, token: `alk_${id}_${"k".repeat(43)}` };
};

/** The address from which that key asks. */
export const addressOf = (index: number): string => `10.0.${index >> 8}.${index & 255}`;

const unreached = 1_000_000_000;

/** One million chat IDs apart, so that neighbours in the list are not neighbours in the database. */
export const chatIdOf = (index: number): string =>
  String(100_000_000_000_000_000n + BigInt(index) * 1_000_003n);

const gameIdOf = (index: number): string => String(1_000_000_000 + index);

/** Limits of a key that are counted, and never reached. */
export const unreachedKeyLimits = {
  perWindow: unreached,
  windowMs: 1_000,
  daily: unreached,
  verifyDaily: unreached,
};

/** Environment of the real server: limits of the client address that are counted, and never reached. */
export const unreachedAddressLimits = {
  ACCOUNTLINK_IP_PER_SECOND: String(unreached),
  ACCOUNTLINK_CONNECTIONS_PER_IP: "0",
  ACCOUNTLINK_IP_DAILY: String(unreached),
};

/** The fixture file of the links and the key. */
export const fixture = () => ({
  accounts: [{ name: "bench", tier: "premium" as const }],
  keys: [
    {
      key: apiKey,
      account: "bench",
      scope: "global" as const,
      tier: "premium" as const,
      limits: unreachedKeyLimits,
    },
  ],
  links: Array.from({ length: linkCount }, (_, index) => ({
    account: "bench",
    scope: "global" as const,
    chatId: chatIdOf(index),
    gameId: gameIdOf(index),
    lastVerifiedAt: "2026-01-01T00:00:00.000Z",
  })),
});

export type BenchFixture = ReturnType<typeof fixture>;

/** The values in an order that the seed decides. */
export const shuffled = <A>(values: ReadonlyArray<A>, seed: number): ReadonlyArray<A> => {
  const random = generator(seed);
  const order = [...values];
  for (let last = order.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [order[last], order[other]] = [order[other] as A, order[last] as A];
  }
  return order;
};

/** Every chat ID once. */
export const chatIds = (): ReadonlyArray<string> =>
  Array.from({ length: linkCount }, (_, index) => chatIdOf(index));

/** Numbers from 0 to 1, the same for the same seed. */
const generator = (seed: number) => {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};
