/** For tests: a service on one storage, with promises. */
import { afterAll, beforeAll } from "vitest";
import {
  type PromisedAccountLink as AccountLink,
  createAccountLink,
  type ScopedAccountLink,
  type Storage,
} from "./mod.ts";

export const guildId = "700000000000000001";

/** A game user whose platform does not answer. */
export const down = "666";

/** Game users below 100; chat users below 100100 are members of the guild. */
export const platforms = {
  gameUserExists: async (gameId: string) => {
    if (gameId === down) throw new Error("down");
    return Number(gameId) < 100;
  },
  gameProfile: (gameId: string) => ({ username: `player ${gameId}` }),
  guild: (id: string) => (id === guildId ? { name: "Engine Room" } : null),
  guildMember: async (_guild: string, chatId: string) => (Number(chatId) < 100_100 ? {} : null),
};

export interface TestService {
  readonly al: AccountLink;
  /** Another process, where the storage can have one; else the same. */
  readonly other: AccountLink;
  /** A new process on the storage, where it can have several; else on one of its own. */
  readonly open: () => Promise<AccountLink>;
  /** An account that nothing else uses. */
  readonly newScope: () => Promise<ScopedAccountLink & { readonly account: string }>;
}

/**
 * Opened before the tests, and closed after them.
 *
 * @param storage of one process; called for each
 * @param shares whether several processes can use it at once
 */
export const makeService = (storage: () => Storage, shares: boolean): (() => TestService) => {
  const opened: Array<AccountLink> = [];
  const secret = new Uint8Array(32).fill(7);
  const redirectOrigins = ["https://example.com"];
  const http = { publicUrl: "https://links.example", basePath: "/links", clientAddress: "given" } as const;
  const open = async (settings: object = { storage: storage(), secret }) => {
    const al = await createAccountLink({ ...settings, ...platforms, redirectOrigins, http });
    opened.push(al);
    return al;
  };
  let service: TestService | undefined;
  let accounts = 0;

  beforeAll(async () => {
    const al = await open();
    service = {
      al,
      other: shares ? await open() : al,
      open: () => (shares ? open() : open({})),
      newScope: async () => {
        const account = `account ${++accounts}`;
        return { account, ...(await al.scope({ account })) };
      },
    };
  });
  afterAll(() => Promise.all(opened.map((al) => al.close())));

  return () => {
    if (service === undefined) throw new Error("Cannot use the service: expected it in a test");
    return service;
  };
};

/** The elements of an async iterable. */
export const collect = async <A>(elements: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const collected: Array<A> = [];
  for await (const element of elements) collected.push(element);
  return collected;
};
