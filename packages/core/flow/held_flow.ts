/**
 * The cookie of a flow: `<random token>.<deadline>.<entry>`. After a flow was deleted, the deadline shows whether the
 * flow had expired. The id of a flow is a hash of token and deadline, so neither can be changed. The entry is not
 * protected, because a browser can choose any entry in the URL anyway.
 */
import { Clock, Effect, Option, Result, Schema } from "effect";
import type { SecureRandom } from "effect/crypto";
import { Base64Url } from "effect/encoding";
import { type FlowId, isSid } from "../ids.ts";
import { randomToken } from "../secrets/crypto.ts";
import { Secrets } from "../secrets/secrets.ts";
import type { Millis } from "../timestamp.ts";
import { FlowStore, type VerificationFlow } from "./flow_store.ts";
import { type FlowSubject, FlowSubjects } from "./flow_subjects.ts";
import { type FlowEntry, FlowRefused } from "./flow_view.ts";

export type Cookie = string | null;

/** Browsers drop cookies above 4,096 bytes, including name and attributes. */
const maxLength = 3_500;

export const newCookie = (
  random: SecureRandom.SecureRandom["Service"],
  expiresAt: Millis,
): Effect.Effect<string> => Effect.map(randomToken(random), (token) => `${token}.${expiresAt.toString(36)}`);

/** Returns the deadline of a cookie; null if the text is no flow cookie. */
export const deadlineOf = (cookie: Cookie): Millis | null => {
  const [, expiresAt] = /^[\w-]{43}\.([\da-z]{1,9})(?:\.[\w-]+)?$/.exec(cookie ?? "") ?? [];
  return expiresAt === undefined ? null : Number.parseInt(expiresAt, 36);
};

/** Returns the cookie with another entry, or without any entry if the cookie would be too long. */
export const withEntry = (cookie: string, entry: FlowEntry): string => {
  const full = `${withoutEntry(cookie)}.${Base64Url.encode(JSON.stringify(entry))}`;
  return full.length > maxLength ? withoutEntry(cookie) : full;
};

/** Returns the entry of a cookie; null if it has none or has expired. @internal */
export const entryIn = (cookie: Cookie, now: Millis): FlowEntry | null =>
  (deadlineOf(cookie) ?? 0) <= now ? null : anyEntryIn(cookie);

/** Returns the entry of a cookie, also of an expired one. */
const anyEntryIn = (cookie: Cookie): FlowEntry | null => {
  const encoded = cookie?.split(".")[2];
  return encoded === undefined
    ? null
    : Option.getOrNull(Option.flatMap(Result.getSuccess(Base64Url.decodeString(encoded)), decodeEntry));
};

const decodeEntry = Schema.decodeOption(
  Schema.fromJsonString(
    Schema.Union([
      Schema.Struct({ sid: Schema.String }),
      Schema.Struct({
        pid: Schema.String,
        guildId: Schema.NullOr(Schema.String),
        redirect: Schema.NullOr(Schema.String),
      }),
    ]),
  ),
);

export const flowIdOf = ({ flowId }: Secrets["Service"], cookie: string): Effect.Effect<FlowId> =>
  flowId(withoutEntry(cookie));

const withoutEntry = (cookie: string): string => cookie.split(".", 2).join(".");

/** A flow that was found by a browser's cookie. With its `entry`, the browser can open this flow again. */
export interface HeldFlow extends VerificationFlow {
  readonly entry: FlowEntry;
}

/**
 * Makes a function that returns the flow of a cookie, or null. The cookie contains a sid and the flow contains a hash
 * of its sid, so a cookie with another sid finds no flow.
 */
export const makeFindFlow = Effect.gen(function* () {
  const flows = yield* FlowStore;
  const secrets = yield* Secrets;

  const entryOf = Effect.fnUntraced(function* (
    { session, pid, guildId, redirect }: VerificationFlow,
    claimed: FlowEntry | null,
  ) {
    if (session === null) return { pid, guildId, redirect };
    if (claimed === null || !("sid" in claimed) || !isSid(claimed.sid)) return null;
    return (yield* secrets.sessionId(claimed.sid)) === session ? claimed : null;
  });

  return Effect.fnUntraced(function* (cookie: Cookie) {
    if (cookie === null) return null;
    const now = yield* Clock.currentTimeMillis;
    const flow = Option.getOrNull(yield* flows.find(yield* flowIdOf(secrets, cookie), now));
    const entry = flow === null ? null : yield* entryOf(flow, entryIn(cookie, now));
    return flow === null || entry === null ? null : ({ ...flow, entry } satisfies HeldFlow);
  });
});

/**
 * Returns the entry for a request that names no entry. This is the entry of the browser's flow, or without a flow, the
 * last entry in the cookie.
 */
export const lastEntryOf = (held: HeldFlow | null, cookie: Cookie): Effect.Effect<FlowEntry | null> =>
  held === null
    ? Effect.map(Clock.currentTimeMillis, (now) => entryIn(cookie, now))
    : Effect.succeed(held.entry);

export const belongsTo = (flow: VerificationFlow, subject: FlowSubject): boolean =>
  flow.session === subject.session &&
  flow.pid === subject.pid &&
  flow.guildId === subject.guildId &&
  flow.redirect === subject.redirect;

/**
 * Makes a function that refuses a request whose flow is gone. If its session has ended, the refusal says how; else it is
 * `expired` if the cookie's deadline has passed, or `lost`. Without an `entry`, the cookie's last one leads back.
 */
export const makeRefuseGone = Effect.map(FlowSubjects, (subjects) =>
  Effect.fnUntraced(function* (cookie: Cookie, given: FlowEntry | null) {
    const entry = given ?? anyEntryIn(cookie);
    if (entry !== null && "sid" in entry) yield* subjects.resolve(entry);
    const deadline = deadlineOf(cookie);
    const isOver = deadline !== null && deadline <= (yield* Clock.currentTimeMillis);
    return yield* new FlowRefused({ reason: isOver ? "expired" : "lost", entry });
  }),
);
