/** What the neighbour does while others do their worst: requests that have to be answered, and in time. */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { headersOf } from "../../contract/dashboard.ts";
import { stranger } from "../../support/fixtures.ts";
import { formOf, openBrowser } from "../../support/flow_browser.ts";
import { type Answer, listOf, makeClient, textOf } from "../../support/http.ts";
import { isOf, type makeWorld, neighboursGuild, owners, signIn, smallGuild, until } from "./world.ts";

export const operations = ["lookup", "keyed write", "guild lookup", "sign-in", "preview"] as const;
type Operation = (typeof operations)[number];

/** The latencies of each operation, in milliseconds. */
export type Latencies = Readonly<Record<Operation, Array<number>>>;

const address = "198.18.201.1";
const [first, users] = [100_001, 40];

export interface Neighbour {
  readonly run: Readonly<Record<Operation, () => Promise<void>>>;
  /** Repeats all operations side by side for so many milliseconds, and then until `isOver` returns true. */
  readonly measure: (milliseconds: number, isOver?: () => boolean) => Promise<Latencies>;
  readonly close: () => void;
}

const expectStatus = ({ status, text }: Answer, expected: number, what: Operation): void => {
  if (status !== expected)
    throw new Error(`The neighbour's ${what} is refused: ${status} ${text.slice(0, 300)}`);
};

const stateIn = ({ body }: Answer): string => textOf(body.data?.["preview"]?.["state"]);

export const makeNeighbour = async (
  url: string,
  { neighbour }: Pick<ReturnType<typeof makeWorld>["keys"], "neighbour">,
): Promise<Neighbour> => {
  const client = makeClient(url);
  let asked = 0;
  // A new address each time, since the neighbour's own requests must not reach the limits of an address.
  const from = () => `198.19.${(asked >> 8) & 255}.${asked++ & 255}`;
  const send = (line: `${string} ${string}`, key: string, body?: object) =>
    client.send(line, {
      key,
      from: from(),
      ...(body && { body, headers: { "idempotency-key": randomUUID() } }),
    });
  const browser = openBrowser(() => url, address);
  await signIn(browser, owners.neighbour);
  const csrf = formOf(await browser.get("/dashboard/keys/new"))["csrf"] ?? "";
  const owner = headersOf(browser, url, csrf);
  browser.close();
  const ask = (line: `${string} ${string}`, body?: object) =>
    client.send(line, { headers: owner, from: from(), ...(body && { body }) });
  const scopes = listOf((await ask("GET /dashboard/api/scopes")).body.data?.["scopes"]);
  const pid = textOf(scopes.find((scope) => isOf(scope, smallGuild))?.["pid"]);
  const place = { pid, guildId: smallGuild };
  const query = new URLSearchParams(place).toString();

  const run: Neighbour["run"] = {
    lookup: async () => {
      expectStatus(await send("GET /v2/chat?chatId=100001", neighbour), 200, "lookup");
    },
    "keyed write": async () => {
      const body = { chatId: "100001", gameId: String((asked % 9) + 1) };
      expectStatus(await send("PATCH /v2/game", neighbour, body), 200, "keyed write");
    },
    "guild lookup": async () => {
      const line = `GET /v2/chat?chatId=${first + (asked % users)}&guildId=${neighboursGuild}` as const;
      expectStatus(await send(line, neighbour), 200, "guild lookup");
    },
    "sign-in": async () => {
      const visitor = openBrowser(() => url, from());
      // Not the owner, whose earlier sign-in would end after 20 further ones.
      await signIn(visitor, stranger).finally(visitor.close);
    },
    preview: async () => {
      const started = await ask("POST /dashboard/api/roles/preview", place);
      expectStatus(started, 200, "preview");
      let state = stateIn(started);
      await until(async () => {
        if (state !== "running") return true;
        const answer = await ask(`GET /dashboard/api/roles/preview?${query}`);
        expectStatus(answer, 200, "preview");
        state = stateIn(answer);
        return false;
      }, "the neighbour's preview");
      if (state !== "done") throw new Error(`The neighbour's preview has ended as ${state}, expected done`);
    },
  };
  return {
    run,
    measure: async (milliseconds, isOver = () => true) => {
      const end = performance.now() + milliseconds;
      const repeat = async (operation: Operation) => {
        const latencies: Array<number> = [];
        do {
          const began = performance.now();
          await run[operation]();
          latencies.push(performance.now() - began);
          await pause(operation === "sign-in" || operation === "preview" ? 30 : 5);
        } while (performance.now() < end || !isOver());
        return [operation, latencies] as const;
      };
      return Object.fromEntries(await Promise.all(operations.map(repeat))) as Latencies;
    },
    close: client.close,
  };
};
