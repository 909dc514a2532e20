/**
 * Maps errors of the driver to the typed reasons of `effect/sql`. Neither messages nor causes contain SQL, values,
 * the URL or the password.
 */
import { Effect, Predicate } from "effect";
import { SqlError } from "effect/sql";

export const sqlErrorOf = ({ reason }: SqlError.SqlError): SqlError.SqlError => {
  const { cause: thrown } = reason;
  const code = textOf(thrown, "code");
  const failure =
    code === null ? withoutCode[reason._tag] : failures.find(([prefix]) => code.startsWith(prefix));
  const [, Reason, what, general] = failure ?? unreachable;
  const message = hasSafeMessage(code) ? textOf(thrown, "message") : null;
  const is = code === "42501" ? `${message ?? general}, ${expectedOwner}` : general;
  const cause = new Error(`${code === "42501" ? is : (message ?? is)}${code === null ? "" : ` (${code})`}`);
  const properties = { cause, message: `${what}: ${is}` };
  const constraint = textOf(thrown, "constraint") ?? "unknown";
  return new SqlError.SqlError({
    reason:
      code === "23505" ? new SqlError.UniqueViolation({ ...properties, constraint }) : new Reason(properties),
  });
};

/** What mends missing rights. @internal */
export const expectedOwner = "expected a user who owns the database and its tables";

/** An error of statements that the client gave up. */
const connectionError = (is: string): SqlError.SqlError => {
  const message = `Cannot use the database: ${is}`;
  return new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: undefined, message }) });
};

/** Fails if an effect takes longer than `time`, in milliseconds. */
export const within = <A, R>(time: number, use: Effect.Effect<A, SqlError.SqlError, R>, problem: string) =>
  Effect.timeoutOrElse(use, { duration: time, orElse: () => Effect.fail(connectionError(problem)) });

export const readOnlyReplica = connectionError("it is a read-only replica");

export const notCommitted = new SqlError.SqlError({
  reason: new SqlError.UnknownError({
    cause: undefined,
    message: "Cannot commit: a statement of the transaction had failed",
  }),
});

/** Whether the server, or its limit for the role or the database, has no connection left. */
export const hasNoConnectionLeft = ({ reason }: SqlError.SqlError): boolean =>
  reason.cause instanceof Error && reason.cause.message.endsWith(" (53300)");

/**
 * Whether the connection is unusable after a statement failed with this error, although the server leaves it open: the
 * server has become a replica.
 */
export const endsConnection = ({ reason }: SqlError.SqlError): boolean =>
  textOf(reason.cause, "code") === "25006";

/** The message of an error of a full disk. */
export const diskFull = "Cannot write: the disk of the database is full";

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

const withoutCode: { readonly [Tag in SqlError.SqlErrorReason["_tag"]]?: Failure } = {
  AuthenticationError: [
    "",
    SqlError.AuthenticationError,
    "Cannot reach the database",
    "it refuses the user or the password",
  ],
  UnknownError: ["", SqlError.UnknownError, "Cannot run the statement", "a value cannot be sent or read"],
};

/** What is wrong with a pooler that gives each transaction another connection. */
export const sharedByTransactions =
  "a pooler, such as PgBouncer, gives each transaction another connection, expected pool_mode = session";

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
  ["26000", SqlError.UnknownError, "Cannot run the statement", sharedByTransactions],
  ["28", SqlError.AuthenticationError, "Cannot reach the database", "it refuses the user or the password"],
  ["3D000", SqlError.UnknownError, "Cannot reach the database", "the server has none of that name"],
  ["40P01", SqlError.DeadlockError, "Cannot write", "two transactions wait for each other"],
  ["40001", SqlError.SerializationError, "Cannot write", "it conflicts with another transaction"],
  ["42P05", SqlError.UnknownError, "Cannot run the statement", sharedByTransactions],
  ["42501", SqlError.AuthorizationError, "Cannot use the database", "access is denied"],
  ["42", SqlError.SqlSyntaxError, "Cannot run the statement", "the database refuses it"],
  ["53100", SqlError.ConnectionError, "Cannot write", "the disk of the database is full"],
  ["53", SqlError.ConnectionError, "Cannot use the database", "the server lacks resources"],
  ["55P03", SqlError.LockTimeoutError, "Cannot use the database", "another connection holds its lock"],
  ["57014", SqlError.StatementTimeoutError, "Cannot run the statement", "it took too long"],
  ["57", SqlError.ConnectionError, "Cannot reach the database", "the server is not ready"],
];

/**
 * Whether the message of an error contains no data. This holds for messages of the driver, which have no code, for
 * messages about the state of the server, for the name of a table that is there already (42P07), and for what a user may
 * not do (42501).
 */
const hasSafeMessage = (code: string | null): boolean =>
  code === null || /^(08|42501|42P07|53|57P|58030|XX)/.test(code);

function textOf(thrown: unknown, name: string): string | null {
  const value = Predicate.hasProperty(thrown, name) ? thrown[name] : null;
  return typeof value === "string" ? value : null;
}
