/** One connection in the hands of one user, until it is given back or the deadline has come. */
import { Effect } from "effect";
import type { SqlError } from "effect/sql";
import type { PoolClient, QueryArrayConfig, QueryConfig, QueryResult } from "pg";
import { connectionLost, endsConnection, sqlErrorOf } from "./postgres_error.ts";

/** A statement. One without values that is not prepared may be several. */
export interface Query {
  readonly text: string;
  readonly values: ReadonlyArray<unknown>;
  readonly isPrepared: boolean;
  readonly rowMode?: "array";
}

/** How a connection is lent. */
export interface LoanTerms {
  readonly client: PoolClient;
  /** In milliseconds. */
  readonly duration: number;
  /** How long the server lets a statement take, in milliseconds. */
  readonly statementTimeout: number;
  /** Called when the server has not even said that a statement took too long. */
  readonly fellSilent: () => void;
  /** Called once, with whether the connection can be lent again. */
  readonly returned: (isSound: boolean) => void;
}

/** Statements run in the order in which they are asked for, one at a time. */
export class Loan {
  readonly #terms: LoanTerms;
  readonly #deadline: NodeJS.Timeout;
  readonly #waiting: Array<() => void> = [];
  #isBusy = false;
  /** When the last statement was sent to which the server has to answer in time: the time of a COMMIT is not bounded. */
  #sentAt = Number.POSITIVE_INFINITY;
  /** How many statements were answered. */
  #answered = 0;
  #hasEnded = false;
  #failure: SqlError.SqlError | undefined;
  #isReturned = false;

  constructor(terms: LoanTerms) {
    this.#terms = terms;
    // An answer that came while this process stood still is heard before it is missed.
    this.#deadline = setTimeout(() => setImmediate(() => this.#expire()), terms.duration);
  }

  /** Whether there is a transaction that a ROLLBACK could end. */
  get isInTransaction(): boolean {
    return this.#failure === undefined && this.#terms.client.getTransactionStatus() !== "I";
  }

  /** Runs a statement. Who is interrupted does not wait for its end, but the next statement does. */
  run(query: Query): Effect.Effect<QueryResult, SqlError.SqlError> {
    return Effect.callback((resume) => {
      let isWanted = true;
      const send = () => {
        if (isWanted) this.#send(query, resume);
        else this.#sendNext();
      };
      if (this.#isBusy) this.#waiting.push(send);
      else send();
      return Effect.sync(() => {
        isWanted = false;
      });
    });
  }

  /** Has the statement that runs answered within so many milliseconds, or the connection is lost. */
  hurry(duration: number): void {
    if (!this.#isBusy) return;
    const answered = this.#answered;
    setTimeout(() => {
      if (!this.#isReturned && this.#answered === answered) this.#lose();
    }, duration);
  }

  /** Gives the connection back, once it has answered what it was sent. */
  end(): void {
    this.#hasEnded = true;
    if (!this.#isBusy) this.#giveBack();
  }

  #send(query: Query, resume: (answer: Effect.Effect<QueryResult, SqlError.SqlError>) => void): void {
    if (this.#failure !== undefined) {
      resume(Effect.fail(this.#failure));
      this.#sendNext();
      return;
    }
    this.#isBusy = true;
    this.#sentAt = query.text === "COMMIT" ? Number.POSITIVE_INFINITY : performance.now();
    this.#terms.client.query(configOf(query), (thrown: unknown, result: QueryResult) => {
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
    // What resumed may have sent the next one already.
    if (this.#isBusy) return;
    const next = this.#waiting.shift();
    if (next !== undefined) next();
    else if (this.#hasEnded) this.#giveBack();
  }

  #expire(): void {
    if (this.#isReturned) return;
    const isSilent = this.#isBusy && performance.now() - this.#sentAt >= this.#terms.statementTimeout;
    this.#lose();
    if (isSilent) this.#terms.fellSilent();
  }

  #lose(): void {
    this.#failure = connectionLost();
    // Whoever waits for an answer learns of it from the driver.
    this.#terms.client.connection.stream.destroy();
    this.#giveBack();
  }

  #giveBack(): void {
    if (this.#isReturned) return;
    this.#isReturned = true;
    clearTimeout(this.#deadline);
    // What is left of a transaction goes with its connection.
    this.#terms.returned(this.#failure === undefined && this.#terms.client.getTransactionStatus() === "I");
  }
}

/** The names of texts that are prepared, which are the same on every connection. */
const names = new Map<string, string>();
const mostNames = 500;

const configOf = ({ text, values, isPrepared, rowMode }: Query): QueryConfig | QueryArrayConfig => {
  const shape = rowMode === undefined ? {} : { rowMode };
  const name = isPrepared ? nameOf(text) : undefined;
  return name === undefined
    ? { text, values: [...values], ...shape }
    : { name, text, values: [...values], ...shape };
};

const nameOf = (text: string): string | undefined => {
  const known = names.get(text);
  if (known !== undefined || names.size >= mostNames) return known;
  const name = `s${names.size}`;
  names.set(text, name);
  return name;
};
