/** The errors of calls, importable without the service, for example in a browser. */
import type { PublicError } from "@accountlink/core/errors";
import type { ImportEnded, UnreadableLinkFile, WrongLines } from "@accountlink/core/imports";
import { Data, Struct } from "effect";

export {
  BulkLimitExceeded,
  Conflict,
  Forbidden,
  InternalError,
  InvalidParameter,
  LinkNotFound,
  MissingParameter,
  PlatformUnavailable,
  RateLimited,
  SessionExpired,
  SessionNotFound,
  StoreUnavailable,
} from "@accountlink/core/errors";

/** The service was closed before or during the call. */
export class AccountLinkClosed extends Data.TaggedError("AccountLinkClosed")<{}> {
  readonly code = "CLOSED";
  readonly details = null;
  override readonly message = "Cannot call accountlink: it is closed";
}

/**
 * Every error that a call rejects with. Each has a `code` and `details`. A bug is an `InternalError` with its `cause`.
 * Only imports reject with `UnreadableLinkFile`, `WrongLines` and `ImportEnded`.
 *
 * @example
 * ```ts
 * import { AccountLinkError, createAccountLink } from "accountlink";
 *
 * const al = await createAccountLink({ gameUserExists: (id) => id === "1" });
 * const rejection = (call: Promise<unknown>) => call.then(() => null, (error: AccountLinkError) => error);
 *
 * const missing = await rejection(al.links.delete("100001"));
 * missing instanceof LinkNotFound; // true
 * missing?.code; // "LINK_NOT_FOUND"
 *
 * await al.links.set("100001", "1");
 * await al.links.set("100002", "1");
 * (await rejection(al.links.move("100001", "100002"))) instanceof Conflict; // true
 *
 * await al.close();
 * const closed = await rejection(al.links.get("100001"));
 * closed instanceof AccountLinkClosed && closed instanceof AccountLinkError; // true
 * new Error("another") instanceof AccountLinkError; // false
 * ```
 *
 * @example
 * ```ts
 * import { createAccountLink } from "accountlink";
 *
 * // What a bot answers; other errors are bugs of the bot.
 * const answerTo = (error: unknown): string => {
 *   if (error instanceof SessionNotFound || error instanceof SessionExpired) return "Please start again";
 *   if (error instanceof RateLimited) return `Please wait ${error.retryAfter} seconds`;
 *   if (error instanceof StoreUnavailable || error instanceof PlatformUnavailable) return "Try again later";
 *   const isBug = [MissingParameter, BulkLimitExceeded, InternalError].some((bug) => error instanceof bug);
 *   throw isBug ? error : new Error("Cannot answer", { cause: error });
 * };
 *
 * const down = async () => Promise.reject(new Error("no connection"));
 * const al = await createAccountLink({ gameUserExists: down });
 * await al.links.set("100001", "1").catch(answerTo); // "Try again later"
 * await al.sessions.cancel("vs_unknown").catch(answerTo); // "Please start again"
 * await al.close();
 * ```
 */
export type AccountLinkError =
  | PublicError
  | AccountLinkClosed
  | UnreadableLinkFile
  | WrongLines
  | ImportEnded;

/** For `error instanceof AccountLinkError`, as with the class of this name in `@accountlink/client`. */
export const AccountLinkError = {
  [Symbol.hasInstance]: (value: unknown): value is AccountLinkError =>
    value instanceof Error && "code" in value && tags.has(String(Reflect.get(value, "_tag"))),
};

const tags: ReadonlySet<string> = new Set(
  Struct.keys({
    BadRequest: true,
    MalformedRequest: true,
    MissingParameter: true,
    InvalidParameter: true,
    InvalidBody: true,
    InvalidApiKey: true,
    InvalidSession: true,
    Forbidden: true,
    PremiumRequired: true,
    LinkNotFound: true,
    SessionNotFound: true,
    SessionExpired: true,
    RateLimited: true,
    SharedIpRateLimited: true,
    BulkLimitExceeded: true,
    Conflict: true,
    InternalError: true,
    StoreUnavailable: true,
    PlatformUnavailable: true,
    AccountLinkClosed: true,
    UnreadableLinkFile: true,
    WrongLines: true,
    ImportEnded: true,
  } satisfies Record<AccountLinkError["_tag"], true>),
);
