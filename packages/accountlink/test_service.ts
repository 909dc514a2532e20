import { afterAll, beforeAll } from "vitest";
import {
  type PromisedAccountLink as AccountLink,
  createAccountLink,
  type ScopedAccountLink,
  type Storage,
} from "./mod.ts";

export const guildId = "700000000000000001";

/** The platform does not respond to requests for this game user. */
export const down = "666";

/**
 * On these platforms, game users with IDs below 100 exist, and chat users with IDs below 100100 are members of the
 * guild.
 */
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
  /** A second service on the same storage if the storage supports several processes; otherwise `al`. */
  readonly other: AccountLink;
  /** Opens a service: on the same storage if it supports several processes, otherwise in memory. */
  readonly open: () => Promise<AccountLink>;
  /** Opens the global scope of an account that no other test uses. */
  readonly newScope: () => Promise<ScopedAccountLink & { readonly account: string }>;
}

/**
 * Opens the service before the tests, and closes it after them.
 *
 * @param storage makes the storage of one process
 * @param shares whether several processes can use the storage at once
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

export const collect = async <A>(elements: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const collected: Array<A> = [];
  for await (const element of elements) collected.push(element);
  return collected;
};
