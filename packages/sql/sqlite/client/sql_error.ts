/** Maps errors of node:sqlite to the typed reasons of `effect/sql`. */
import { Effect, Predicate } from "effect";
import { SqlError } from "effect/sql";
import { FullDisk } from "../../statements/store_operation.ts";

/** Result codes of SQLite; `errcode` of node:sqlite has them in its low byte. https://sqlite.org/rescode.html */
const code = {
  ERROR: 1,
  PERM: 3,
  BUSY: 5,
  LOCKED: 6,
  NOMEM: 7,
  READONLY: 8,
  IOERR: 10,
  FULL: 13,
  CANTOPEN: 14,
  PROTOCOL: 15,
  CONSTRAINT: 19,
  AUTH: 23,
  BUSY_SNAPSHOT: 517,
  IOERR_SHMSIZE: 4874,
  CONSTRAINT_PRIMARYKEY: 1555,
  CONSTRAINT_UNIQUE: 2067,
  CONSTRAINT_ROWID: 2579,
};

export function isBusy(cause: unknown): boolean {
  const errcode = errcodeOf(cause);
  return errcode !== undefined && (errcode & 0xff) === code.BUSY;
}

export function isDiskFull(cause: unknown): boolean {
  return errcodeOf(withoutDisguise(cause)) === code.FULL;
}

/**
 * When a full disk has no room for the `-shm` file, SQLite reports an I/O error, as for a broken disk. Replaces this
 * error with the error of a full disk, and returns every other error unchanged.
 */
export function withoutDisguise(cause: unknown): unknown {
  return errcodeOf(cause) === code.IOERR_SHMSIZE
    ? Object.assign(new Error("database or disk is full"), { errcode: code.FULL })
    : cause;
}

/**
 * Fails with the typed error of the database. Its message never contains SQL or values; its `cause` is the original
 * error. Any other error is a bug, and becomes a defect.
 */
export function failWith(thrown: unknown): Effect.Effect<never, SqlError.SqlError> {
  const cause = withoutDisguise(thrown);
  if (SqlError.isSqlError(cause)) return Effect.fail(cause);
  const reason = reasonOf(cause);
  return reason === undefined ? Effect.die(cause) : Effect.fail(new SqlError.SqlError({ reason }));
}

function reasonOf(cause: unknown): SqlError.SqlErrorReason | undefined {
  if (Predicate.hasProperty(cause, "code") && cause.code === "ERR_INVALID_STATE") {
    return new SqlError.ConnectionError({ cause, message: "Cannot use the database: it is closed" });
  }
  const errcode = errcodeOf(cause);
  if (errcode === undefined) return undefined;
  if (uniqueCodes.has(errcode)) {
    const message = "Cannot write: a unique constraint is violated";
    return new SqlError.UniqueViolation({ cause, constraint: uniqueConstraintOf(cause), message });
  }
  const isOf = ([codes]: Failure) => codes.includes(errcode) || codes.includes(errcode & 0xff);
  const [, Reason, message] = failures.find(isOf) ?? unknownFailure;
  return new Reason({ cause, message });
}

type Failure = readonly [
  codes: ReadonlyArray<number>,
  reason: new (properties: { readonly cause: unknown; readonly message: string }) => SqlError.SqlErrorReason,
  message: string,
];

/** Maps result codes to errors; the first match counts. */
const failures: ReadonlyArray<Failure> = [
  [
    [code.BUSY_SNAPSHOT],
    SqlError.SerializationError,
    "Cannot write: another connection wrote after this transaction first read",
  ],
  [
    [code.BUSY, code.LOCKED],
    SqlError.LockTimeoutError,
    "Cannot use the database: another connection holds its lock",
  ],
  [[code.CONSTRAINT], SqlError.ConstraintError, "Cannot write: a constraint is violated"],
  [[code.ERROR], SqlError.SqlSyntaxError, "Cannot run the statement: the database refused it"],
  [
    [code.PERM, code.READONLY, code.AUTH],
    SqlError.AuthorizationError,
    "Cannot use the database: access is denied",
  ],
  [[code.FULL], FullDisk, "Cannot write: the database or its disk is full"],
  [[code.CANTOPEN], SqlError.ConnectionError, "Cannot open the database file"],
  [[code.NOMEM, code.IOERR, code.PROTOCOL], SqlError.ConnectionError, "Cannot reach the database file"],
];

const unknownFailure: Failure = [[], SqlError.UnknownError, "Cannot run the statement: the database failed"];

const uniqueCodes = new Set([code.CONSTRAINT_PRIMARYKEY, code.CONSTRAINT_UNIQUE, code.CONSTRAINT_ROWID]);

function errcodeOf(cause: unknown): number | undefined {
  return Predicate.hasProperty(cause, "errcode") && Predicate.isNumber(cause.errcode)
    ? cause.errcode
    : undefined;
}

/** Returns the columns that an error message names, such as "UNIQUE constraint failed: links.pid, links.chat_id". */
function uniqueConstraintOf(cause: unknown): string {
  const message = Predicate.isError(cause) ? cause.message : "";
  return message.split("constraint failed: ")[1] ?? "unknown";
}
