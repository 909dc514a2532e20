/** Clients that write without a pause, and know how often each of their links has changed. */
import { setTimeout as sleep } from "node:timers/promises";
import { textOf } from "../support/http.ts";
import { chatUsers } from "../support/world.ts";
import { makeConnection, type Outcome } from "./restart_clients.ts";

/** What clients have done, and what is wrong. */
export interface CountReport {
  /** Answered writes and sessions. */
  readonly writes: number;
  readonly sessions: number;
  /** Writes and sessions without a name that were not answered as they should be; each may have been done. */
  readonly unanswered: number;
  /** How often a write with a name was sent again. */
  readonly repeated: number;
  /** The answers that no node has made, and the requests that got none. */
  readonly lost: ReadonlyArray<string>;
  /** Links that changed more or less often than they should have. */
  readonly miscounted: ReadonlyArray<string>;
}

export interface CountingOptions {
  readonly url: string;
  readonly key: string;
  readonly count: number;
}

/**
 * Starts clients, each on its own chat user, whom it links to another game user by every write. Half of them name their
 * writes by an `Idempotency-Key`, and send one again until it is answered.
 *
 * @returns a function that stops them after their present request
 */
export const startCountingClients = ({ url, key, count }: CountingOptions) => {
  const stopped = new AbortController();
  const [lost, miscounted]: [Array<string>, Array<string>] = [[], []];
  const report = { writes: 0, sessions: 0, unanswered: 0, repeated: 0, lost, miscounted };

  const isAnswered = async (status: number, asked: Promise<Outcome>): Promise<boolean> => {
    const outcome = await asked;
    if (!isOfNode(outcome)) lost.push(JSON.stringify(outcome));
    return outcome.problem === null && outcome.status === status;
  };

  const run = async (chatId: string, isNamed: boolean) => {
    const connection = makeConnection({ url, key });
    let [changes, uncertain, game] = [0, 0, 0];

    const write = async (turn: number): Promise<void> => {
      // Another one than in the last answered write, however many were not answered since.
      const next = 1 + ((turn % 9) + 1 === game ? (turn + 1) % 9 : turn % 9);
      const body = { chatId, gameId: String(next) };
      const name = isNamed ? { "idempotency-key": `${chatId}-${turn}` } : {};
      if (await isAnswered(200, connection.send("PATCH", "/v2/game", body, name))) {
        changes++;
        game = next;
        report.writes++;
      } else if (isNamed) {
        report.repeated++;
        await sleep(100);
        return write(turn);
      } else {
        uncertain++;
        report.unanswered++;
      }
    };

    const createSession = async () => {
      const body = { clientId: "counting" };
      if (await isAnswered(201, connection.send("POST", "/v2/sessions", body))) report.sessions++;
      else report.unanswered++;
    };

    const versionOf = async (): Promise<number> => {
      const found = await connection.send("GET", `/v2/verifications/chat?chatId=${chatId}`);
      if (found.problem === null && found.status === 200) return Number(found.body.data?.linkVersion);
      await sleep(100);
      return versionOf();
    };

    for (let turn = 0; !stopped.signal.aborted; turn++) {
      await write(turn);
      if (turn % 3 === 0) await createSession();
      await sleep(200 * Math.random());
    }
    const version = await versionOf();
    if (version < changes || version > changes + uncertain) {
      miscounted.push(
        `${chatId} has version ${version} after ${changes} changes, and ${uncertain} uncertain`,
      );
    }
    connection.close();
  };

  const users = chatUsers.slice(0, count);
  const ended = Promise.all(users.map(({ id }, index) => run(id, index % 2 === 0)));
  return async (): Promise<CountReport> => {
    stopped.abort();
    await ended;
    return report;
  };
};

/** The request ids that the balancers make go on with hexadecimal digits. */
const isOfNode = (outcome: Outcome): boolean =>
  outcome.problem === null && !/^req_0[0-9a-f]{25}$/i.test(textOf(outcome.body.meta?.requestId));
