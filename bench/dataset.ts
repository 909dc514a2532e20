/** The data with which the bench fills its servers. */
export const linkCount = 100_000;

/** The key of every request. Its limits are counted as usual, and never reached. */
export const apiKey = `alk_LoadBenchKey_${"k".repeat(43)}`;

/** Returns the chat ID of a user. Like the IDs of real users, the IDs are far apart. */
export const chatIdOf = (index: number): string =>
  String(100_000_000_000_000_000n + BigInt(index) * 1_000_003n);

export const gameIdOf = (index: number): string => String(1_000_000_000 + index);

/** The index of the first chat user whose link the writes change; the links before it stay the same. */
export const changedFrom = 80_000;

/** The ID of the only guild. Its members are the first `memberCount` chat users. */
export const guildId = "700000000000000001";
export const memberCount = 100;

/**
 * The number of game users on the platform. Each write links a chat user to the next of these game users in turn. The
 * number is prime, so that a chat user is not linked to the same game user twice in a row.
 */
const gameUserCount = 97;
export const gameUserOf = (index: number): string => String(1 + (index % gameUserCount));

const unreached = 1_000_000_000;

export const unreachedKeyLimits = {
  perWindow: unreached,
  windowMs: 1_000,
  daily: unreached,
  verifyDaily: unreached,
};

/** Environment variables with limits for client addresses that are so high that the bench never reaches them. */
export const unreachedAddressLimits = {
  ACCOUNTLINK_IP_PER_SECOND: String(unreached),
  ACCOUNTLINK_CONNECTIONS_PER_IP: "0",
  ACCOUNTLINK_IP_DAILY: String(unreached),
};

const indexes = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Returns the fixture data of the platforms. A server does not store this data, so it loads the data at each start. */
export const platformFixture = () => ({
  platform: {
    guilds: [
      { id: guildId, bot: true, members: indexes(memberCount).map((index) => ({ chatId: chatIdOf(index) })) },
    ],
    gameUsers: indexes(gameUserCount).map((index) => ({ id: gameUserOf(index) })),
  },
});

const ofScope = { account: "bench", scope: "global" as const };

/** Returns the fixture that the real server loads. */
export const fixture = () => ({
  accounts: [{ name: "bench", tier: "premium" as const }],
  keys: [{ ...ofScope, key: apiKey, tier: "premium" as const, limits: unreachedKeyLimits }],
  links: indexes(linkCount).map((index) => ({
    ...ofScope,
    chatId: chatIdOf(index),
    gameId: gameIdOf(index),
    lastVerifiedAt: "2026-01-01T00:00:00.000Z",
  })),
  ...platformFixture(),
});

/** Shuffles values by a seed. */
export const shuffled = <A>(values: ReadonlyArray<A>, seed: number): ReadonlyArray<A> => {
  const chance = random(seed);
  const order = [...values];
  for (let last = order.length - 1; last > 0; last--) {
    const other = Math.floor(chance() * (last + 1));
    [order[last], order[other]] = [order[other] as A, order[last] as A];
  }
  return order;
};

/** Returns a generator of numbers from 0 to 1, the same for the same seed. */
export const random = (seed: number) => {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};
