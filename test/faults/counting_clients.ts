/** Clients that write continuously and check every answer against their own writes. */
import { setTimeout as sleep } from "node:timers/promises";
import { Effect } from "effect";
import { expect } from "vitest";
import { chatUsers, gameUsers } from "../support/fixtures.ts";
import type { Answer, RequestOptions, Send } from "../support/http.ts";
import { type Attempt, attempt } from "./attempt.ts";
import type { Target } from "./service.ts";

export interface CountingOptions {
  readonly key: string;
  readonly count: number;
  /** The nodes that a client may use. It sends each request to one of those that are up. */
  readonly targetsOf: (client: number) => ReadonlyArray<Target>;
  /** Whether a client sends an `Idempotency-Key` and repeats each write until it is answered. */
  readonly isNamed: (client: number) => boolean;
  /** Pause after each write and read, in milliseconds. */
  readonly pause?: (client: number) => number;
}

/**
 * Starts clients that write continuously and check every answer. Each client links its own chat user to another game
 * user in every write. So an answer must name the game user of the previous write, and the link version must count the
 * writes. A write without an answer may have happened or not, unless the client repeats it with an idempotency key.
 */
export const startCountingClients = (options: CountingOptions) => {
  const { key, count, targetsOf, isNamed, pause = () => 20 * Math.random() } = options;
  const stopped = new AbortController();
  const attempts: Array<Attempt> = [];

  const run = async (client: number, chatId: string): Promise<number> => {
    const targets = targetsOf(client);
    let [changes, uncertain] = [0, 0];
    const possible = new Set<unknown>([null]);

    const ask = async (line: Attempt["line"], request: RequestOptions = {}): Promise<Attempt["outcome"]> => {
      const up = targets.filter((target) => target.isUp());
      const target = anyOf(up.length === 0 ? targets : up);
      const made = await Effect.runPromise(attempt(target, line, { key, ...request }));
      attempts.push(made);
      if (made.outcome.kind === "wrong")
        throw new Error(`${line} of node ${target.name}: ${made.outcome.problem}`);
      return made.outcome;
    };
    /** Repeats a request until it is answered. Returns null if the clients are stopped before that. */
    const askUntilAnswered = async (
      line: Attempt["line"],
      request?: RequestOptions,
    ): Promise<Answer | null> => {
      while (!stopped.signal.aborted) {
        const outcome = await ask(line, request);
        if (outcome.kind === "answered" && !isUnderWay(outcome.answer)) return outcome.answer;
        await sleep(50);
      }
      return null;
    };
    const write = async (turn: number, gameId: string): Promise<Answer | null> => {
      const body = { chatId, gameId };
      if (isNamed(client)) {
        return askUntilAnswered("PATCH /v2/game", {
          headers: { "idempotency-key": `${chatId}-${turn}` },
          body,
        });
      }
      for (;;) {
        const outcome = await ask("PATCH /v2/game", { body });
        if (outcome.kind !== "not sent") return outcome.kind === "answered" ? outcome.answer : null;
        if (stopped.signal.aborted) return null;
        await sleep(50);
      }
    };

    for (let turn = 0; !stopped.signal.aborted; turn++) {
      const gameId = String(1 + (turn % gameUsers.length));
      const written = await write(turn, gameId);
      if (written === null) {
        uncertain++;
        possible.add(gameId);
      } else {
        const { previousGameId, ...data } = { ...written.body.data };
        // `updated` is false if an earlier write without an answer has already linked the user to this game user.
        const updated = !Object.is(previousGameId, gameId);
        expect([written.text, data]).toEqual([written.text, { chatId, gameId, updated }]);
        expect([written.text, possible.has(previousGameId)]).toEqual([written.text, true]);
        if (updated) changes++;
        possible.clear();
        possible.add(gameId);
      }
      const read = await askUntilAnswered(`GET /v2/verifications/chat?chatId=${chatId}`);
      if (read === null) break;
      const { gameId: found, linkVersion } = { ...read.body.data };
      const version = Number(linkVersion ?? 0);
      const isCounted = version >= changes && version <= changes + uncertain;
      expect([read.text, possible.has(found), isCounted]).toEqual([read.text, true, true]);
      await sleep(pause(client), null, { signal: stopped.signal }).catch(() => null);
    }
    return changes;
  };

  const ended = Promise.all(chatUsers.slice(0, count).map(({ id }, client) => run(client, id)));
  // Node ends the process when a promise rejects unhandled. `stop` awaits this promise later and throws its error.
  ended.catch(() => null);
  return {
    /** Finished requests, in the order in which they finished. */
    attempts,
    /**
     * Stops each client after its current request. Returns the number of answered writes that changed a link; rejects
     * if an answer was wrong.
     */
    stop: async () => {
      stopped.abort();
      return (await ended).reduce((sum, changes) => sum + changes, 0);
    },
  };
};

export const fragile = (name: string, send: Send): Target => ({
  name,
  send,
  isUp: () => false,
  disturbances: () => 0,
});

/** Returns the milliseconds from `moment` to the end of the last request that failed or took longer than `tooLate`. */
export const recoveryAfter = (moment: number, attempts: ReadonlyArray<Attempt>, tooLate: number): number =>
  attempts
    .filter(({ ended }) => ended >= moment)
    .filter(({ called, ended, outcome }) => outcome.kind !== "answered" || ended - called > tooLate)
    .reduce((longest, { ended }) => Math.max(longest, ended - moment), 0);

export const countOf = (attempts: ReadonlyArray<Attempt>, kind: Attempt["outcome"]["kind"]): number =>
  attempts.filter(({ outcome }) => outcome.kind === kind).length;

const isUnderWay = ({ body }: Answer): boolean =>
  body.error?.details?.["reason"] === ("idempotency_key_in_use" as unknown);

const anyOf = <A>(values: ReadonlyArray<A>): A => values[Math.floor(Math.random() * values.length)] as A;
