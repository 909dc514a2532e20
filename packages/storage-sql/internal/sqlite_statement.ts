/** Prepared statements of one node:sqlite connection, and the values that are bound to them. */
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";

/** The statements of a connection, by the shape in which they give their rows. */
export interface Statements {
  readonly rows: StatementCache<Record<string, SQLOutputValue>>;
  readonly values: StatementCache<ReadonlyArray<SQLOutputValue>>;
}

export function statementsOf(db: DatabaseSync, capacity = 200): Statements {
  return {
    rows: new StatementCache(db, { capacity, returnArrays: false }),
    values: new StatementCache(db, { capacity, returnArrays: true }),
  };
}

interface Prepared {
  readonly statement: StatementSync;
  readonly placeholders: number;
}

/**
 * Statements by SQL text, prepared once. Those least recently used go: when `recent` is full it becomes `older`, and
 * what is not asked for again until the next turn is dropped with it. A hit in `recent`, the hot path, changes nothing.
 */
class StatementCache<A> {
  readonly #db: DatabaseSync;
  readonly #capacity: number;
  readonly #returnArrays: boolean;
  #recent = new Map<string, Prepared>();
  #older = new Map<string, Prepared>();

  /** @param options.capacity how many statements are kept when that many are in use; never more than twice as many */
  constructor(db: DatabaseSync, options: { readonly capacity: number; readonly returnArrays: boolean }) {
    this.#db = db;
    this.#capacity = options.capacity;
    this.#returnArrays = options.returnArrays;
  }

  /** Every row that the statement gives. */
  all(sql: string, params: ReadonlyArray<unknown>): ReadonlyArray<A> {
    return this.#allOf(this.#get(sql), params);
  }

  /** Runs the statement for what it changes. */
  run(sql: string, params: ReadonlyArray<unknown>): ReturnType<StatementSync["run"]> {
    const prepared = this.#get(sql);
    return prepared.statement.run(...bind(prepared, params));
  }

  /** As `all`, for a text that will not come again. */
  allOnce(sql: string, params: ReadonlyArray<unknown>): ReadonlyArray<A> {
    return this.#allOf(this.#prepare(sql), params);
  }

  #allOf(prepared: Prepared, params: ReadonlyArray<unknown>): ReadonlyArray<A> {
    // The types of node:sqlite do not follow `setReturnArrays`.
    return prepared.statement.all(...bind(prepared, params)) as ReadonlyArray<unknown> as ReadonlyArray<A>;
  }

  #get(sql: string): Prepared {
    const recent = this.#recent.get(sql);
    if (recent !== undefined) return recent;
    const prepared = this.#older.get(sql) ?? this.#prepare(sql);
    if (this.#recent.size >= this.#capacity) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(sql, prepared);
    return prepared;
  }

  #prepare(sql: string): Prepared {
    const code = sql.replace(quotedOrComment, "''");
    // node:sqlite would run the first statement and drop the rest without a word. A trigger's body is one statement.
    if (/;\s*\S/.test(code) && !/^\s*CREATE\s+(TEMP\w*\s+)?TRIGGER\b/i.test(code)) {
      throw new TypeError("Cannot run SQL text: it holds several statements, expected one");
    }
    const statement = this.#db.prepare(sql);
    if (this.#returnArrays) statement.setReturnArrays(true);
    return { statement, placeholders: code.split("?").length - 1 };
  }
}

const quotedOrComment = /'[^']*'|"[^"]*"|--[^\n]*|\/\*[\s\S]*?\*\//g;

function bind(prepared: Prepared, params: ReadonlyArray<unknown>): Array<SQLInputValue> {
  // node:sqlite would bind NULL to the placeholders that are left over.
  if (params.length !== prepared.placeholders) {
    throw new TypeError(
      `Cannot bind parameters: there are ${params.length}, expected ${prepared.placeholders} as the SQL text has "?"`,
    );
  }
  return params.map(bindable);
}

/** node:sqlite on its own binds NULL for a Date or NaN, and every number as a float: 5 would be "5.0" in a text column. */
function bindable(value: unknown, index: number): SQLInputValue {
  if (typeof value === "string" || typeof value === "bigint" || value === null) return value;
  if (typeof value === "number" && !Number.isNaN(value)) {
    return Number.isSafeInteger(value) ? BigInt(value) : value;
  }
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(
    `Cannot bind parameter ${index + 1}: it is ${typeName(value)}, expected null, string, number, bigint, boolean or Uint8Array`,
  );
}

function typeName(value: unknown): string {
  if (Number.isNaN(value)) return "NaN";
  return typeof value === "object" ? (value?.constructor?.name ?? "an object") : typeof value;
}
