/** Exclusive use of a pooled connection, until it is released or its deadline passes. */
import { Effect, Exit } from "effect";
import type { SqlError } from "effect/sql";
import type { PoolClient } from "pg";
import { connectionLost, endsConnection, sqlErrorOf } from "./sql_error.ts";
import { type GroupStatement, StatementGroup, type StatementResult } from "./statement_group.ts";

/** One statement, or several in unprepared SQL without values. */
export interface Query extends GroupStatement {
  /** Whether the statement runs outside of a transaction, so that it is committed by the time of its answer. */
  readonly commits?: boolean;
}

export interface LeaseOptions {
  readonly client: PoolClient;
  /** The maximum duration of the lease, and of each of its statements, in milliseconds. */
  readonly timeout: number;
  /** Called when a statement got no answer in time, not even the server's error for a statement timeout. */
  readonly onUnresponsive: () => void;
  /** Called once. The pool must close the connection unless `isReusable`. */
  readonly onRelease: (isReusable: boolean) => void;
}

const begin: Query = { text: "BEGIN", values: [], isPrepared: true };

const notYet: StatementResult = { command: "", rowCount: null, rows: [] };

/** How long the client waits beyond the server's timeout before it gives up on a statement, in milliseconds. */
const grace = 250;

export type Answer = Exit.Exit<StatementResult, SqlError.SqlError>;

/** Statements run one at a time, in the order of submission. A BEGIN is sent together with the next statement. */
export class ConnectionLease {
  readonly timeout: number;
  /** When the lease expires, in milliseconds of `performance.now()`. */
  readonly expiresAt: number;
  readonly #options: LeaseOptions;
  readonly #queue: Array<() => void> = [];
  #isBusy = false;
  /** When the latest statement was sent. Infinity for a statement that commits, because a commit has no timeout. */
  #sentAt = Number.POSITIVE_INFINITY;
  #answered = 0;
  #begin: Query | undefined;
  /**
   * Whether a transaction has begun and not ended: a BEGIN was sent, and no COMMIT or ROLLBACK has been answered since.
   */
  #hasBegun = false;
  #isReleaseRequested = false;
  #failure: SqlError.SqlError | undefined;
  #isReleased = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.timeout = options.timeout;
    this.expiresAt = performance.now() + options.timeout + grace;
  }

  /** Whether there is an open transaction that a ROLLBACK can end. */
  get isInTransaction(): boolean {
    return this.#failure === undefined && !this.#isIdle;
  }

  /**
   * The driver knows the transaction status of the last answer. `#hasBegun` covers a BEGIN that was sent after that
   * answer.
   */
  get #isIdle(): boolean {
    return !this.#hasBegun && this.#options.client.getTransactionStatus() === "I";
  }

  /** Runs a statement. An interrupted caller does not wait for the statement to end, but the next statement does. */
  run(query: Query): Effect.Effect<StatementResult, SqlError.SqlError> {
    return Effect.callback((resume) => {
      if (query.text === begin.text && query.isPrepared) {
        this.begin();
        return resume(Effect.succeed(notYet));
      }
      return this.submit(query, resume);
    });
  }

  begin(): void {
    this.#begin = begin;
  }

  /**
   * Submits a statement and calls back with its answer. The returned effect cancels the statement if it was not sent
   * yet.
   */
  submit(query: Query, resume: (answer: Answer) => void): Effect.Effect<void> {
    let isInterrupted = false;
    const send = () => {
      if (isInterrupted) this.#sendNext();
      else this.#send(query, resume);
    };
    if (this.#isBusy) this.#queue.push(send);
    else send();
    return Effect.sync(() => {
      isInterrupted = true;
    });
  }

  /** Closes the connection unless the running statement is answered within the grace period. */
  abortUnlessAnswered(): void {
    if (!this.#isBusy) return;
    const answered = this.#answered;
    setTimeout(() => {
      if (!this.#isReleased && this.#answered === answered) this.#abort();
    }, grace);
  }

  release(): void {
    this.#isReleaseRequested = true;
    if (!this.#isBusy) this.#releaseNow();
  }

  #send(query: Query, resume: (answer: Answer) => void): void {
    if (this.#failure !== undefined) {
      resume(Exit.fail(this.#failure));
      this.#sendNext();
      return;
    }
    this.#isBusy = true;
    const commits = query.commits === true || query.text === "COMMIT";
    this.#sentAt = commits ? Number.POSITIVE_INFINITY : performance.now();
    this.#submit(query, (thrown, result) => {
      this.#isBusy = false;
      this.#answered++;
      let answer: Answer;
      if (result !== undefined) {
        if (commits || query.text === "ROLLBACK") this.#hasBegun = false;
        answer = Exit.succeed(result);
      } else {
        const error = this.#failure ?? sqlErrorOf(thrown);
        if (endsConnection(thrown)) this.#failure = error;
        answer = Exit.fail(error);
      }
      // Release the connection before the caller continues, so that the caller's next statement can use it.
      if (this.#isReleaseRequested && this.#queue.length === 0) this.#releaseNow();
      resume(answer);
      this.#sendNext();
    });
  }

  #submit(query: Query, onAnswer: (thrown: unknown, result: StatementResult | undefined) => void): void {
    const { client } = this.#options;
    const first = this.#begin === undefined ? [] : [this.#begin];
    if (first.length > 0) this.#hasBegun = true;
    this.#begin = undefined;
    if (!query.isPrepared && query.values.length === 0) {
      const text = [...first, query].map((statement) => statement.text).join("; ");
      client.query({ text }, (thrown: unknown, result: StatementResult | undefined) =>
        onAnswer(thrown, result),
      );
      return;
    }
    client.query(
      new StatementGroup([...first, query], (thrown, results) => onAnswer(thrown, results[first.length])),
    );
  }

  #sendNext(): void {
    // The caller that got the last answer may already have sent its next statement.
    if (this.#isBusy) return;
    const next = this.#queue.shift();
    if (next !== undefined) next();
    else if (this.#isReleaseRequested) this.#releaseNow();
  }

  expire(): void {
    if (this.#isReleased) return;
    const isUnresponsive = this.#isBusy && performance.now() - this.#sentAt >= this.timeout;
    this.#abort();
    if (isUnresponsive) this.#options.onUnresponsive();
  }

  #abort(): void {
    this.#failure = connectionLost();
    // Destroying the socket makes the driver fail the pending statements.
    this.#options.client.connection.stream.destroy();
    this.#releaseNow();
  }

  #releaseNow(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    // A connection with an open transaction is closed, which rolls it back.
    this.#options.onRelease(this.#failure === undefined && this.#isIdle);
  }
}
