/** Clients that write without a pause, and know how often each of their links has changed. */
import { setTimeout as sleep } from "node:timers/promises";
import { chatUsers } from "../support/world.ts";
import { makeConnection, type Outcome } from "./restart_clients.ts";

/** What clients have done, and what is wrong. */
export interface CountReport {
  /** Answered writes and sessions. */
  readonly writes: number;
  readonly sessions: number;
  /** Requests whose answer never came, though they may have been done: writes and sessions without a name. */
  readonly unanswered: number;
  /** How often a write with a name was sent again. */
  readonly repeated: number;
  /** What was not answered as it should be, and links that changed more or less often than they should have. */
  readonly failures: ReadonlyArray<string>;
}

export interface CountingOptions {
  readonly url: string;
  readonly key: string;
  readonly count: number;
  /** Whether requests stay without an answer, since nodes are killed. */
  readonly nodesDie: boolean;
}

/**
 * Starts clients, each on its own chat user, whom it links to another game user by every write. Half of them name their
 * writes by an `Idempotency-Key`, and send one again until it is answered.
 *
 * @returns a function that stops them after their present request
 */
export const startCountingClients = ({ url, key, count, nodesDie }: CountingOptions) => {
  const stopped = new AbortController();
  const report = { writes: 0, sessions: 0, unanswered: 0, repeated: 0, failures: [] as Array<string> };

  const run = async (chatId: string, isNamed: boolean) => {
    const connection = makeConnection({ url, key });
    let [changes, lost] = [0, 0];

    const write = async (turn: number) => {
      const body = { chatId, gameId: String((turn % 9) + 1) };
      const name = isNamed ? { "idempotency-key": `${chatId}-${turn}` } : {};
      const send = () => connection.send("PATCH", "/v2/game", body, name);
      let outcome = await send();
      while (nodesDie && isNamed && !isAnswered(outcome, 200)) {
        report.repeated++;
        await sleep(100);
        outcome = await send();
      }
      if (isAnswered(outcome, 200)) changes++;
      else lost++;
      return isAnswered(outcome, 200) ? report.writes++ : giveUp("PATCH", outcome);
    };

    const createSession = async () => {
      const outcome = await connection.send("POST", "/v2/sessions", { clientId: "counting" });
      return isAnswered(outcome, 201) ? report.sessions++ : giveUp("POST", outcome);
    };

    const giveUp = (method: string, outcome: Outcome) => {
      if (nodesDie) report.unanswered++;
      else report.failures.push(`${method}: ${JSON.stringify(outcome)}`);
    };

    for (let turn = 0; !stopped.signal.aborted; turn++) {
      await write(turn);
      if (turn % 3 === 0) await createSession();
      await sleep(200 * Math.random());
    }
    const found = await connection.send("GET", `/v2/verifications/chat?chatId=${chatId}`);
    const version = found.problem === null ? Number(found.body.data?.linkVersion) : Number.NaN;
    if (!(version >= changes && version <= changes + lost)) {
      report.failures.push(
        `${chatId} has version ${version} after ${changes} writes, and ${lost} unanswered`,
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

const isAnswered = (outcome: Outcome, status: number): boolean =>
  outcome.problem === null && outcome.status === status;
