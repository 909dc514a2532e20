import type { Admission, CounterRule, CounterState } from "@accountlink/core/limits";
import type { Millis } from "@accountlink/core/timestamp";
import { atEndOfTurn } from "../connection/end_of_turn.ts";

type Rules = ReadonlyArray<CounterRule>;

/** Sends one script for several requests that count in the same windows. */
type Send<Reply> = (rules: Rules, now: Millis, requests: number) => Promise<Reply>;

interface Batch<Reply> {
  readonly rules: Rules;
  readonly now: Millis;
  readonly reply: Promise<Reply>;
  size: number;
}

/**
 * Combines the requests of one turn of the event loop that count in the same windows, such as the requests of one key
 * from one address. They are decided in order, as if they came one after another.
 */
export class AdmissionBatches<Reply> {
  readonly #send: Send<Reply>;
  /**
   * The open batches of this turn, by the `key` of their last rule. This rule limits one API key, so requests of
   * different API keys share no batch.
   */
  readonly #open = new Map<string, Batch<Reply>>();

  constructor(send: Send<Reply>) {
    this.#send = send;
  }

  /** Returns the reply to a batch, and the index of this request in the batch. */
  join(rules: Rules, now: Millis): { readonly reply: Promise<Reply>; readonly place: number } {
    const name = rules[rules.length - 1]?.key ?? "";
    const open = this.#open.get(name);
    if (open !== undefined && isSame(open, rules, now)) return { reply: open.reply, place: open.size++ };
    const batch = this.#begin(name, rules, now);
    this.#open.set(name, batch);
    return { reply: batch.reply, place: 0 };
  }

  #begin(name: string, rules: Rules, now: Millis): Batch<Reply> {
    const reply = new Promise<Reply>((resolve) => {
      atEndOfTurn(() => {
        if (this.#open.get(name) === batch) this.#open.delete(name);
        resolve(this.#send(rules, now, batch.size));
      });
    });
    const batch: Batch<Reply> = { rules, now, reply, size: 1 };
    return batch;
  }
}

/**
 * Derives the admission of one request from the result of its batch. A batch admits its requests in order, so it
 * refuses the last ones if there is not room for all.
 *
 * @param admitted how many requests of the batch were admitted
 * @param states the states of the windows after the whole batch
 */
export const admissionAt = (
  place: number,
  admitted: number,
  states: ReadonlyArray<CounterState>,
): Admission => {
  const countedAfter = admitted - place - 1;
  if (countedAfter <= 0) return { admitted: countedAfter === 0, states };
  return {
    admitted: true,
    states: states.map(({ count, resetsAt }) => ({ count: count - countedAfter, resetsAt })),
  };
};

/**
 * Whether a request can join a batch. It must count in the same windows with the same limits. Each of its windows must
 * have the same duration or the same end as in the batch.
 */
const isSame = (batch: Batch<unknown>, rules: Rules, now: Millis): boolean =>
  rules.length === batch.rules.length &&
  rules.every(({ key, limit, durationMs }, i) => {
    const other = batch.rules[i] as CounterRule;
    return (
      key === other.key &&
      limit === other.limit &&
      (durationMs === other.durationMs || now + durationMs === batch.now + other.durationMs)
    );
  });
