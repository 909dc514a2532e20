/**
 * Sends statements to the server together in one round trip: when one fails, the server skips the rest. A prepared
 * statement is parsed and described only once per connection.
 */
import type { Connection, Submittable } from "pg";

export interface GroupStatement {
  readonly text: string;
  /** Values of type null, string, number, bigint, boolean or Uint8Array. */
  readonly values: ReadonlyArray<unknown>;
  readonly isPrepared: boolean;
  /** Whether rows are arrays; by default they are objects. */
  readonly rowMode?: "array";
}

export interface StatementResult {
  readonly command: string;
  /** How many rows the statement returned or wrote; null for a command without a row count, such as BEGIN. */
  readonly rowCount: number | null;
  readonly rows: ReadonlyArray<object>;
}

interface Column {
  readonly name: string;
  readonly isInteger: boolean;
}

interface Prepared {
  readonly name: string;
  /** The columns of the result; undefined until the first execution. */
  columns: ReadonlyArray<Column> | undefined;
}

/**
 * The prepared statements of each connection, by SQL text. If the first execution of a statement fails, its entry is
 * removed, and the next execution prepares the statement again under a new name.
 */
const preparedOn = new WeakMap<Connection, Map<string, Prepared>>();
const maxPrepared = 500;
let names = 0;

type Row = Array<string | number | null>;

export class StatementGroup implements Submittable {
  readonly #statements: ReadonlyArray<GroupStatement>;
  readonly #callback: (error: unknown, results: ReadonlyArray<StatementResult>) => void;
  readonly #prepared: Array<Prepared> = [];
  readonly #results: Array<StatementResult> = [];
  #rows: Array<object> = [];

  constructor(
    statements: ReadonlyArray<GroupStatement>,
    callback: (error: unknown, results: ReadonlyArray<StatementResult>) => void,
  ) {
    this.#statements = statements;
    this.#callback = callback;
  }

  submit(connection: Connection): void {
    connection.stream.cork();
    for (const statement of this.#statements) this.#send(connection as ExtendedProtocol, statement);
    connection.sync();
    connection.stream.uncork();
  }

  #send(connection: ExtendedProtocol, { text, values, isPrepared }: GroupStatement): void {
    const prepared = (isPrepared ? preparedOn.get(connection)?.get(text) : undefined) ?? {
      name: isPrepared ? nameOn(connection) : "",
      columns: undefined,
    };
    if (prepared.columns === undefined) connection.parse({ name: prepared.name, text });
    if (prepared.name !== "") preparedOn.get(connection)?.set(text, prepared);
    this.#prepared.push(prepared);
    connection.bind({ statement: prepared.name, values: values.map(textOf) });
    if (prepared.columns === undefined) connection.describe({ type: "P" });
    connection.execute();
  }

  handleRowDescription({ fields }: { readonly fields: ReadonlyArray<Field> }): void {
    this.#current.columns = fields.map(({ name, dataTypeID }) => ({
      name,
      isInteger: integerTypes.has(dataTypeID),
    }));
  }

  /**
   * Converts integers to numbers. An integer beyond `Number.MAX_SAFE_INTEGER` becomes an inexact number, which the code
   * that reads the row refuses.
   */
  handleDataRow({ fields }: { readonly fields: Row }): void {
    const columns = this.#current.columns as ReadonlyArray<Column>;
    for (let i = 0; i < fields.length; i++) {
      if (columns[i]?.isInteger && fields[i] !== null) fields[i] = Number(fields[i]);
    }
    const isArray = this.#statements[this.#results.length]?.rowMode === "array";
    this.#rows.push(isArray ? fields : objectOf(columns, fields));
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#current.columns ??= [];
    const [command = "", ...counts] = text.split(" ");
    const count = counts.at(-1);
    this.#results.push({
      command,
      rowCount: count === undefined ? null : Number(count),
      rows: this.#rows,
    });
    this.#rows = [];
  }

  handleReadyForQuery(): void {
    this.#callback(null, this.#results);
  }

  handleError(error: unknown, connection: Connection): void {
    const known = preparedOn.get(connection);
    for (const [i, { text }] of this.#statements.entries()) {
      if (this.#prepared[i]?.columns === undefined) known?.delete(text);
    }
    this.#callback(error, []);
  }

  get #current(): Prepared {
    return this.#prepared[this.#results.length] as Prepared;
  }
}

/**
 * Returns a name for a new prepared statement, or an empty name if the connection already has `maxPrepared` named
 * statements.
 */
const nameOn = (connection: Connection): string => {
  const prepared = preparedOn.get(connection);
  if (prepared === undefined) preparedOn.set(connection, new Map());
  return (prepared?.size ?? 0) < maxPrepared ? `s${names++}` : "";
};

/** The part of the driver's connection that is used here. */
type ExtendedProtocol = Connection & {
  readonly parse: (statement: { readonly name: string; readonly text: string }) => void;
  readonly bind: (parameters: {
    readonly statement: string;
    readonly values: ReadonlyArray<string | Uint8Array | null>;
  }) => void;
  readonly describe: (portal: { readonly type: "P" }) => void;
  readonly execute: () => void;
};

interface Field {
  readonly name: string;
  readonly dataTypeID: number;
}

/** The OIDs of the Postgres types int8, int2 and int4. */
export const integerTypes = new Set([20, 21, 23]);

const textOf = (value: unknown): string | Uint8Array | null => {
  if (value === null || typeof value === "string") return value;
  return value instanceof Uint8Array
    ? Buffer.from(value.buffer, value.byteOffset, value.length)
    : `${value as number | bigint | boolean}`;
};

const objectOf = (columns: ReadonlyArray<Column>, values: Row): object => {
  const row: Record<string, string | number | null> = {};
  for (let i = 0; i < columns.length; i++) row[(columns[i] as Column).name] = values[i] ?? null;
  return row;
};
