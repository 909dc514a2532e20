/**
 * One account does its worst at each route, while another one goes about its work: none of its requests is refused.
 * `neighbours_proof.ts` measures how much slower they are, also beside work in the background.
 */
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeClient } from "../support/http.ts";
import { type RunningServer, startServerHere } from "../support/server.ts";
import { makeNeighbour, type Neighbour, operations } from "./neighbours/neighbour.ts";
import { type HttpAttack, listRoutes, requestsOf } from "./neighbours/requests.ts";
import { caseRows, routeRows } from "./neighbours/route_rows.ts";
import { type Attacker, makeAttacker, makeWorld } from "./neighbours/world.ts";

const size = { links: 100, members: 30, revokedKeys: 20, communities: 4 };
const { fixture, env, ...access } = makeWorld(size);

/** How many routes are flooded at once. */
const sideBySide = 27;

let server: RunningServer;
let attacker: Attacker;
let neighbour: Neighbour;
let client: ReturnType<typeof makeClient>;
beforeAll(async () => {
  server = await startServerHere({ fixture, env });
  client = makeClient(server.url);
  attacker = await makeAttacker(server, access, size);
  neighbour = await makeNeighbour(server.url, access.keys);
});
afterAll(async () => {
  client.close();
  neighbour.close();
  expect(await server.stop()).toBe(0);
});

/**
 * Runs `act` again until `isDone`, for a minute: on a starved machine requests are late, and platforms too, and both
 * are answered 503 until there is time again.
 */
const again = async <A>(act: () => Promise<A>, isDone: (result: A) => boolean): Promise<A> => {
  // Each pause is twice as long, since a platform that is asked more often refuses more.
  for (let pause = 200; ; pause *= 2) {
    const result = await act();
    if (isDone(result) || pause > 30_000) return result;
    await setTimeout(pause);
  }
};

/** Runs `act` again while a 503 is all that refuses it. */
const patiently = async (act: () => Promise<unknown>): Promise<void> => {
  const errorOf = () =>
    act().then(
      () => null,
      (error: Error) => error,
    );
  const error = await again(errorOf, (refusal) => refusal?.message.includes(" 503 ") !== true);
  if (error !== null) throw error;
};

const live = async () => {
  for (const operation of operations) await patiently(neighbour.run[operation]);
};

test("every route has a row", async () => {
  expect(Object.keys(routeRows).toSorted()).toEqual((await listRoutes()).toSorted());
});

let addresses = 0;
const send = async ({ line, headers, body }: HttpAttack) => {
  const from = `198.20.${(addresses >> 8) & 255}.${addresses++ & 255}`;
  return client.send(line, { from, headers, ...(body.length > 0 && { body }) });
};

const rows = Object.entries({ ...routeRows, ...caseRows });

test("no request of the neighbour is refused, whichever routes the other account floods", async () => {
  const wrong = [];
  for (let first = 0; first < rows.length; first += sideBySide) {
    const attacks = rows.slice(first, first + sideBySide).map(([name, row]) => {
      const attack = requestsOf(name, row, attacker);
      return { name, row, attack: attack[0] as HttpAttack, answers: Promise.all(attack.map(send)) };
    });
    await live();
    for (const { name, row, attack, answers } of attacks) {
      const statuses = (await answers).map(({ status }) => status);
      // Requests to other routes may have come first, such as a removal of what this one changes.
      const isAnswered = () => statuses.includes(row.answer);
      if (!isAnswered()) await again(async () => statuses.push((await send(attack)).status), isAnswered);
      if (!isAnswered() || statuses.includes(500)) wrong.push({ name, statuses });
    }
  }
  expect(wrong).toEqual([]);
});
