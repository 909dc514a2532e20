/** Maps errors of node:sqlite to the typed reasons of `effect/sql`. */
import { Effect, Predicate } from "effect";
import { SqlError } from "effect/sql";
import { FullDisk } from "../../statements/full_disk.ts";

/**
 * Result codes of SQLite; `errcode` of node:sqlite has them in its low byte.
 * https://sqlite.org/rescode.html
 */
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

/** Whether `cause` says that another connection holds the lock. */
export function isBusy(cause: unknown): boolean {
  const errcode = errcodeOf(cause);
  return errcode !== undefined && (errcode & 0xff) === code.BUSY;
}

/** Whether `cause` says that the disk is full. */
export function isDiskFull(cause: unknown): boolean {
  return errcodeOf(withoutDisguise(cause)) === code.FULL;
}

/**
 * The error that says what is wrong: where a full disk has no room for the `-shm` file, SQLite calls
 * it an I/O error, as it does a broken disk.
 */
export function withoutDisguise(cause: unknown): unknown {
  return errcodeOf(cause) === code.IOERR_SHMSIZE
    ? Object.assign(new Error("database or disk is full"), { errcode: code.FULL })
    : cause;
}

/**
 * Fails with the typed error of the database, whose message never holds SQL or values; its `cause`
 * is the original error. Any other error is a bug, and a defect.
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
  return errcode === undefined
    ? undefined
    : (extendedReason(errcode, cause) ?? primaryReason(errcode, cause));
}

function extendedReason(errcode: number, cause: unknown): SqlError.SqlErrorReason | undefined {
  switch (errcode) {
    case code.BUSY_SNAPSHOT:
      return new SqlError.SerializationError({
        cause,
        message: "Cannot write: another connection wrote after this transaction first read",
      });
    case code.CONSTRAINT_PRIMARYKEY:
    case code.CONSTRAINT_UNIQUE:
    case code.CONSTRAINT_ROWID:
      return new SqlError.UniqueViolation({
        cause,
        constraint: uniqueConstraintOf(cause),
        message: "Cannot write: a unique constraint is violated",
      });
    default:
      return undefined;
  }
}

function primaryReason(errcode: number, cause: unknown): SqlError.SqlErrorReason {
  switch (errcode & 0xff) {
    case code.BUSY:
    case code.LOCKED:
      return new SqlError.LockTimeoutError({
        cause,
        message: "Cannot use the database: another connection holds its lock",
      });
    case code.CONSTRAINT:
      return new SqlError.ConstraintError({ cause, message: "Cannot write: a constraint is violated" });
    case code.ERROR:
      return new SqlError.SqlSyntaxError({
        cause,
        message: "Cannot run the statement: the database refused it",
      });
    case code.PERM:
    case code.READONLY:
    case code.AUTH:
      return new SqlError.AuthorizationError({ cause, message: "Cannot use the database: access is denied" });
    case code.FULL:
      return new FullDisk({
        cause,
        message: "Cannot write: the database or its disk is full",
      });
    case code.CANTOPEN:
      return new SqlError.ConnectionError({ cause, message: "Cannot open the database file" });
    case code.NOMEM:
    case code.IOERR:
    case code.PROTOCOL:
      return new SqlError.ConnectionError({ cause, message: "Cannot reach the database file" });
    default:
      return new SqlError.UnknownError({ cause, message: "Cannot run the statement: the database failed" });
  }
}

function errcodeOf(cause: unknown): number | undefined {
  return Predicate.hasProperty(cause, "errcode") && Predicate.isNumber(cause.errcode)
    ? cause.errcode
    : undefined;
}

/** The columns, as in "UNIQUE constraint failed: links.pid, links.chat_id". */
function uniqueConstraintOf(cause: unknown): string {
  const message = Predicate.isError(cause) ? cause.message : "";
  return message.split("constraint failed: ")[1] ?? "unknown";
}
