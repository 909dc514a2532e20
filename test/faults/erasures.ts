/**
 * A user erases everything on one of several nodes while others write about the user, and while the user confirms links.
 * Then everybody sends their requests again, on every node.
 */
import { Effect } from "effect";
import { Client } from "pg";
import { expect } from "vitest";
import { type FlowBrowser, formOf, locationOf, openBrowser } from "../support/flow_browser.ts";
import { type Answer, textOf } from "../support/http.ts";
import type { World } from "../support/world.ts";
import { withDelay } from "./pulse.ts";
import type { Node, Service } from "./service.ts";

/** Who writes: keys of two scopes, the first one Premium. */
export interface Writers {
  readonly keys: readonly [string, string];
  readonly address: World["address"];
}

export const planErasures = (world: World): Writers => ({
  keys: [world.key({ tier: "premium" }), world.key()],
  address: world.address,
});

/** How the races ended, for the report. */
export interface ErasureCounts {
  /** Requests that were answered, and then erased. */
  readonly answeredBefore: number;
  /** Requests that the erasure took their key from. */
  readonly underWay: number;
  /** Requests that came after it. */
  readonly answeredAfter: number;
  /** Rounds after which something names the user: of requests that came after the erasure. */
  readonly namedAfter: number;
  readonly confirmedBefore: number;
  readonly confirmationsRefused: number;
}

interface KeyedRequest {
  readonly line: `${string} ${string}`;
  readonly key: string;
  readonly headers: { readonly "idempotency-key": string };
  readonly body: object;
}

/** Somebody who is about to confirm a link. */
interface Confirmation {
  readonly browser: FlowBrowser;
  readonly form: Readonly<Record<string, string>>;
  /** Leads the browser to another node. */
  readonly moveTo: (node: Node) => void;
}

/** A delay with which a store may answer too late for a request, in milliseconds. */
const machineIsBusy = 1_000;

const atOnce = <A>(acts: ReadonlyArray<() => Promise<A>>): Promise<ReadonlyArray<A>> =>
  Promise.all(acts.map((act) => act()));

/** Races an erasure of a chat user as often as asked for, and checks each time that no retry brings anything back. */
export const raceErasures = async (
  { nodes, postgres }: Service,
  writers: Writers,
  rounds: number,
): Promise<ErasureCounts> => {
  const counts = {
    answeredBefore: 0,
    underWay: 0,
    answeredAfter: 0,
    namedAfter: 0,
    confirmedBefore: 0,
    confirmationsRefused: 0,
  };
  const database = new Client({ connectionString: postgres.urlOf("postgres") });
  await database.connect();
  try {
    for (let round = 0, done = 0; done < rounds; round++) {
      const chatId = String(100_003 + (round % 30));
      const nodeOf = (index: number) => nodes[(index + round) % nodes.length] as Node;
      const user = { chatId, other: "100002", round };
      const { value: race, delay } = await Effect.runPromise(
        withDelay(
          nodes,
          Effect.promise(() => startRace(nodeOf, writers, user)),
        ),
      );
      if (delay > machineIsBusy && race.answers.some(({ status }) => status === 503)) {
        race.close();
        continue;
      }
      done++;
      for (const { status } of race.answers) expect(status).toBeLessThan(500);
      expect(race.answers.at(-1)?.status).toBe(200);
      const left = await rowsNaming(database, chatId);
      const retried = await retryOnAll(nodes, race.requests);
      for (const [index, again] of retried.entries()) {
        if (!isErased(again)) counts.answeredAfter++;
        else if (isErased(race.answers[index] as Answer)) counts.underWay++;
        else counts.answeredBefore++;
      }
      for (const again of await retryOnAll(nodes, [race.before])) expect(again).toSatisfy(isErased);
      for (const { confirmation, answer } of race.confirmed) {
        if (answer.status === 200) counts.confirmedBefore++;
        else counts.confirmationsRefused++;
        await expectRefused(nodes, confirmation);
      }
      expect(await rowsNaming(database, chatId)).toEqual(left);
      if (retried.every(isErased)) expect(left).toEqual([]);
      if (left.length > 0) counts.namedAfter++;
      race.close();
    }
  } finally {
    await database.end();
  }
  return counts;
};

/** Lets everybody act at once, on one node after the other; gives what they asked and were answered. */
const startRace = async (nodeOf: (index: number) => Node, writers: Writers, user: Round) => {
  const before = await sendBefore(nodeOf(0), writers, user);
  const confirmations = await beginConfirmations(nodeOf, writers, user.chatId);
  const eraser = openBrowser(nodeOf(1).url, writers.address());
  const erase = await readyToErase(eraser, user.chatId);
  const requests = requestsOf(writers, user);
  const acts = [
    ...requests.map((request, index) => () => send(nodeOf(index), request)),
    ...confirmations.map(
      ({ browser, form }) =>
        () =>
          browser.post("/verify/confirm", form),
    ),
    erase,
  ];
  // Each race begins with another one.
  const first = user.round % acts.length;
  const late = acts.splice(0, first);
  const raced = await atOnce([...acts, ...late]);
  const answers = [...raced.slice(acts.length), ...raced.slice(0, acts.length)];
  return {
    before,
    requests,
    answers,
    confirmed: confirmations.map((confirmation, index) => ({
      confirmation,
      answer: answers[requests.length + index] as Answer,
    })),
    close: () => {
      for (const { close } of [eraser, ...confirmations.map(({ browser }) => browser)]) close();
    },
  };
};

interface Round {
  readonly chatId: string;
  readonly other: string;
  readonly round: number;
}

const send = (node: Node, { line, ...options }: KeyedRequest): Promise<Answer> => node.send(line, options);

/** Links another user, who may be moved, and the user: a request that is answered before the race. */
const sendBefore = async (node: Node, { keys: [key, second] }: Writers, { chatId, other, round }: Round) => {
  const line = "PATCH /v2/game";
  expect((await node.send(line, { key, body: { chatId: other, gameId: "5" } })).status).toBe(200);
  const headers = { "idempotency-key": `before-${round}` };
  const request = { line, key: second, headers, body: { chatId, gameId: "1" } } as const;
  expect((await send(node, request)).status).toBe(200);
  return request;
};

const requestsOf = ({ keys: [key, second] }: Writers, { chatId, other, round }: Round) => {
  const named = (index: number) => ({ "idempotency-key": `${round}-${index}` });
  const requests: ReadonlyArray<Omit<KeyedRequest, "headers">> = [
    { line: "PATCH /v2/game", key, body: { chatId, gameId: "2" } },
    { line: "PATCH /v2/game", key: second, body: { chatId, gameId: "3" } },
    { line: "PATCH /v2/chat", key, body: { oldChatId: other, newChatId: chatId } },
    { line: "PUT /v2/alts/reviews", key, body: { chatId, otherChatId: other, verdict: "same" } },
    { line: "POST /v2/sessions", key: second, body: { clientId: "client", chatId } },
    { line: "PATCH /v2/game", key: second, body: { chatId, gameId: "4" } },
  ];
  return requests.map((request, index) => ({ ...request, headers: named(index) }));
};

/** A session that names the user, one of anybody, and the page of a community, each walked on another node. */
const beginConfirmations = async (
  nodeOf: (index: number) => Node,
  { keys: [key, second], address }: Writers,
  chatId: string,
): Promise<ReadonlyArray<Confirmation>> => {
  const create = async (of: string, body: object) => {
    const { body: answer } = await nodeOf(0).send("POST /v2/sessions", {
      key: of,
      body: { clientId: "client", ...body },
    });
    return answer.data ?? {};
  };
  const anybody = await create(second, {});
  const queries = [
    `?sid=${textOf((await create(key, { chatId }))["sid"])}`,
    `?sid=${textOf(anybody["sid"])}`,
    `?pid=${textOf(anybody["pid"])}`,
  ];
  return atOnce(
    queries.map((query, index) => async () => {
      let node = nodeOf(index);
      const browser = openBrowser(() => node.url(), address());
      const form = formOf(await browser.walk(query, chatId, "6"));
      expect(form["csrf"]).toBeTruthy();
      return {
        browser,
        form,
        moveTo: (next: Node) => {
          node = next;
        },
      };
    }),
  );
};

/** Signs the user in; gives what erases everything. */
const readyToErase = async (browser: FlowBrowser, chatId: string): Promise<() => Promise<Answer>> => {
  const authorize = locationOf(await browser.get("/me/sign-in"));
  expect((await browser.get(await browser.signIn(authorize, chatId))).status).toBe(303);
  const { csrf = "" } = formOf(await browser.get("/me/erase"));
  return () => browser.post("/me/erase", { csrf, confirm: "erase" });
};

const isErased = ({ status, body }: Answer): boolean =>
  status === 409 && body.error?.details?.["reason"] === ("user_erased" as unknown);

/** Sends requests again on every node: each gives its answer of before or refuses, and all of them the same. */
const retryOnAll = async (
  nodes: ReadonlyArray<Node>,
  requests: ReadonlyArray<KeyedRequest>,
): Promise<ReadonlyArray<Answer>> => {
  const retried: Array<Answer> = [];
  for (const request of requests) {
    const answers = await atOnce(nodes.map((node) => () => send(node, request)));
    for (const answer of answers) {
      const isReplayed = answer.headers["idempotent-replayed"] === "true";
      expect([answer.text, isReplayed || isErased(answer)]).toEqual([answer.text, true]);
      expect([answer.body.data, answer.body.error]).toEqual([answers[0]?.body.data, answers[0]?.body.error]);
    }
    retried.push(answers[0] as Answer);
  }
  return retried;
};

const expectRefused = async (nodes: ReadonlyArray<Node>, { browser, form, moveTo }: Confirmation) => {
  for (const node of nodes) {
    moveTo(node);
    const { status } = await browser.post("/verify/confirm", form);
    expect([400, 403, 404, 409, 410]).toContain(status);
  }
};

/** The rows that name a chat user, with their tables. */
const rowsNaming = async (database: Client, chatId: string): Promise<ReadonlyArray<string>> => {
  const { rows: tables } = await database.query<{ readonly name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
  );
  const found: Array<string> = [];
  for (const { name } of tables) {
    const { rows } = await database.query<{ readonly row: string }>(
      `SELECT row_to_json(t)::text AS row FROM "${name}" AS t WHERE row_to_json(t)::text ~ $1`,
      [`\\y${chatId}\\y`],
    );
    // The feed tells its readers for 7 days whom to erase.
    const kept = rows.filter(({ row }) => name !== "events" || !row.includes("user.erased"));
    found.push(...kept.map(({ row }) => `${name} ${row}`));
  }
  return found.toSorted();
};
