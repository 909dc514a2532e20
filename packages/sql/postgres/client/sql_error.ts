/**
 * Maps errors of the driver to the typed reasons of `effect/sql`. Neither messages nor causes contain SQL, values,
 * the URL or the password.
 */
import { Predicate } from "effect";
import { SqlError } from "effect/sql";

export function sqlErrorOf(thrown: unknown): SqlError.SqlError {
  const code = textOf(thrown, "code");
  const [, Reason, what, is] = failures.find(([prefix]) => code?.startsWith(prefix)) ?? unreachable;
  const message = hasSafeMessage(code) ? textOf(thrown, "message") : null;
  const cause = new Error(`${message ?? is}${code === null ? "" : ` (${code})`}`);
  const properties = { cause, message: `${what}: ${is}` };
  const constraint = textOf(thrown, "constraint") ?? "unknown";
  return new SqlError.SqlError({
    reason:
      code === "23505" ? new SqlError.UniqueViolation({ ...properties, constraint }) : new Reason(properties),
  });
}

/** The error of statements on a connection that the client closed because the server did not answer in time. */
export function connectionLost(): SqlError.SqlError {
  const message = "Cannot use the database: it does not answer in time";
  return new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: undefined, message }) });
}

/** Whether the connection is unusable after a statement failed with this error. */
export function endsConnection(thrown: unknown): boolean {
  // Only an error with the severity ERROR can leave the connection usable. FATAL and PANIC end the connection, and
  // errors of the network have no severity.
  if (textOf(thrown, "severity") !== "ERROR") return true;
  const code = textOf(thrown, "code") ?? "";
  return fatalCodes.some((prefix) => code.startsWith(prefix));
}

/**
 * Codes of errors after which the connection must be replaced. The server is shutting down or has become a replica, or
 * a prepared statement is unknown, or the columns of a statement have changed. A new connection reaches the new primary
 * and prepares its statements again.
 */
const fatalCodes = ["08", "57P", "25006", "26000", "0A000"];

type Failure = readonly [
  codePrefix: string,
  reason: new (properties: { readonly cause: unknown; readonly message: string }) => SqlError.SqlErrorReason,
  what: string,
  is: string,
];

const unreachable: Failure = [
  "",
  SqlError.ConnectionError,
  "Cannot reach the database",
  "the connection failed",
];

/**
 * The reason for each prefix of an error code. The first entry whose prefix matches is used.
 *
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const failures: ReadonlyArray<Failure> = [
  ["0A", SqlError.UnknownError, "Cannot run the statement", "the schema has changed"],
  ["22", SqlError.ConstraintError, "Cannot run the statement", "a value does not fit"],
  ["23505", SqlError.ConstraintError, "Cannot write", "a unique constraint is violated"],
  ["23", SqlError.ConstraintError, "Cannot write", "a constraint is violated"],
  ["25006", SqlError.ConnectionError, "Cannot write", "it is a read-only replica"],
  ["28", SqlError.AuthenticationError, "Cannot reach the database", "it refuses the user or the password"],
  ["3D000", SqlError.UnknownError, "Cannot reach the database", "the server has none of that name"],
  ["40P01", SqlError.DeadlockError, "Cannot write", "two transactions wait for each other"],
  ["40001", SqlError.SerializationError, "Cannot write", "it conflicts with another transaction"],
  ["42501", SqlError.AuthorizationError, "Cannot use the database", "access is denied"],
  ["42", SqlError.SqlSyntaxError, "Cannot run the statement", "the database refuses it"],
  ["53", SqlError.ConnectionError, "Cannot use the database", "the server lacks resources"],
  ["55P03", SqlError.LockTimeoutError, "Cannot use the database", "another connection holds its lock"],
  ["57014", SqlError.StatementTimeoutError, "Cannot run the statement", "it took too long"],
  ["57", SqlError.ConnectionError, "Cannot reach the database", "the server is not ready"],
];

/**
 * Whether the message of an error contains no data. This holds for messages of the driver, which have no code, and for
 * messages about the state of the server.
 */
const hasSafeMessage = (code: string | null): boolean => code === null || /^(08|53|57P|58030|XX)/.test(code);

function textOf(thrown: unknown, name: string): string | null {
  const value = Predicate.hasProperty(thrown, name) ? thrown[name] : null;
  return typeof value === "string" ? value : null;
}
