/** Exclusive use of a pooled connection, until it is released or its deadline has passed. */
import { Effect } from "effect";
import type { SqlError } from "effect/sql";
import type { PoolClient, QueryArrayConfig, QueryConfig, QueryResult } from "pg";
import { connectionLost, endsConnection, sqlErrorOf } from "./sql_error.ts";

/** One statement; without values and unprepared, it may be several. */
export interface Query {
  readonly text: string;
  readonly values: ReadonlyArray<unknown>;
  readonly isPrepared: boolean;
  readonly rowMode?: "array";
}

export interface LeaseOptions {
  readonly client: PoolClient;
  /** How long the lease may last, and a statement on it, in milliseconds. */
  readonly timeout: number;
  /** Called when the server did not even report the timeout of a statement. */
  readonly onUnresponsive: () => void;
  /** Called once, with whether the connection can be used again. */
  readonly onRelease: (isReusable: boolean) => void;
}

/** How much later than the server the client gives up on a statement, in milliseconds. */
export const grace = 250;

/** Statements run one at a time, in the order in which they were submitted. */
export class ConnectionLease {
  readonly #options: LeaseOptions;
  readonly #deadline: NodeJS.Timeout;
  readonly #queue: Array<() => void> = [];
  #isBusy = false;
  /** When the statement that runs was sent. No timeout applies to a COMMIT. */
  #sentAt = Number.POSITIVE_INFINITY;
  /** How many statements were answered. */
  #answered = 0;
  #isReleaseRequested = false;
  #failure: SqlError.SqlError | undefined;
  #isReleased = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
    // After a pause of this process, answers that have arrived are read before the lease expires.
    this.#deadline = setTimeout(() => setImmediate(() => this.#expire()), options.timeout + grace);
  }

  /** Whether a transaction is open that a ROLLBACK can end. */
  get isInTransaction(): boolean {
    return this.#failure === undefined && this.#options.client.getTransactionStatus() !== "I";
  }

  /**
   * Runs a statement. An interrupted caller does not wait for its end, but the next statement does.
   */
  run(query: Query): Effect.Effect<QueryResult, SqlError.SqlError> {
    return Effect.callback((resume) => {
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
    });
  }

  /** Closes the connection unless the statement that runs is answered within the grace period. */
  abortUnlessAnswered(): void {
    if (!this.#isBusy) return;
    const answered = this.#answered;
    setTimeout(() => {
      if (!this.#isReleased && this.#answered === answered) this.#abort();
    }, grace);
  }

  /** Releases the connection, after the answers to all statements that were submitted. */
  release(): void {
    this.#isReleaseRequested = true;
    if (!this.#isBusy) this.#releaseNow();
  }

  #send(query: Query, resume: (answer: Effect.Effect<QueryResult, SqlError.SqlError>) => void): void {
    if (this.#failure !== undefined) {
      resume(Effect.fail(this.#failure));
      this.#sendNext();
      return;
    }
    this.#isBusy = true;
    this.#sentAt = query.text === "COMMIT" ? Number.POSITIVE_INFINITY : performance.now();
    this.#options.client.query(configOf(query), (thrown: unknown, result: QueryResult) => {
      this.#isBusy = false;
      this.#answered++;
      if (thrown === null || thrown === undefined) {
        resume(Effect.succeed(result));
      } else {
        const error = this.#failure ?? sqlErrorOf(thrown);
        if (endsConnection(thrown)) this.#failure = error;
        resume(Effect.fail(error));
      }
      this.#sendNext();
    });
  }

  #sendNext(): void {
    // The fiber that was resumed may have sent the next statement already.
    if (this.#isBusy) return;
    const next = this.#queue.shift();
    if (next !== undefined) next();
    else if (this.#isReleaseRequested) this.#releaseNow();
  }

  #expire(): void {
    if (this.#isReleased) return;
    const isUnresponsive = this.#isBusy && performance.now() - this.#sentAt >= this.#options.timeout;
    this.#abort();
    if (isUnresponsive) this.#options.onUnresponsive();
  }

  #abort(): void {
    this.#failure = connectionLost();
    // The driver fails the pending statements.
    this.#options.client.connection.stream.destroy();
    this.#releaseNow();
  }

  #releaseNow(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    clearTimeout(this.#deadline);
    // A connection with an open transaction is closed, which rolls it back.
    this.#options.onRelease(
      this.#failure === undefined && this.#options.client.getTransactionStatus() === "I",
    );
  }
}

/** Names of prepared statements, by text; the same on every connection. */
const statementNames = new Map<string, string>();
const maxStatementNames = 500;

const configOf = ({ text, values, isPrepared, rowMode }: Query): QueryConfig | QueryArrayConfig => {
  const shape = rowMode === undefined ? {} : { rowMode };
  const name = isPrepared ? statementNameOf(text) : undefined;
  return name === undefined
    ? { text, values: [...values], ...shape }
    : { name, text, values: [...values], ...shape };
};

const statementNameOf = (text: string): string | undefined => {
  const known = statementNames.get(text);
  if (known !== undefined || statementNames.size >= maxStatementNames) return known;
  const name = `s${statementNames.size}`;
  statementNames.set(text, name);
  return name;
};
