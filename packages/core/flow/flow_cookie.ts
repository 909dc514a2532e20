/**
 * The cookie of a flow: `<random token>.<deadline>.<entry>`. After a flow was deleted, the deadline shows whether the
 * flow had expired. The id of a flow is a hash of token and deadline, so neither can be changed. The entry is not
 * protected, because a browser can choose any entry in the URL anyway.
 */
import { Clock, Effect, Option, Result, Schema } from "effect";
import { Base64Url } from "effect/encoding";
import type { Millis } from "../timestamp.ts";
import type { FlowEntry } from "./flow_view.ts";

export type Cookie = string | null;

/** Browsers drop cookies above 4,096 bytes, including name and attributes. */
export const maxCookieLength = 3_500;

/** Returns the deadline of a cookie; null if the text is no flow cookie. */
export const deadlineOf = (cookie: Cookie): Millis | null => {
  const [, expiresAt] = /^[\w-]{43}\.([\da-z]{1,9})(?:\.[\w-]+)?$/.exec(cookie ?? "") ?? [];
  return expiresAt === undefined ? null : Number.parseInt(expiresAt, 36);
};

/** Whether the deadline of a cookie has passed. False if the text is no flow cookie. */
export const hasExpired = (cookie: Cookie): Effect.Effect<boolean> => {
  const deadline = deadlineOf(cookie);
  return Effect.map(Clock.currentTimeMillis, (now) => deadline !== null && deadline <= now);
};

/** Returns the cookie with another entry, or without any entry if the cookie would be too long. */
export const withEntry = (cookie: string, entry: FlowEntry): string => {
  const full = `${withoutEntry(cookie)}.${Base64Url.encode(JSON.stringify(entry))}`;
  return full.length > maxCookieLength ? withoutEntry(cookie) : full;
};

/** Returns the entry of a cookie; null if it has none or has expired. @internal */
export const entryIn = (cookie: Cookie, now: Millis): FlowEntry | null =>
  (deadlineOf(cookie) ?? 0) <= now ? null : anyEntryIn(cookie);

/** Returns the entry of a cookie, also of an expired one. */
export const anyEntryIn = (cookie: Cookie): FlowEntry | null => {
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

export const withoutEntry = (cookie: string): string => cookie.split(".", 2).join(".");
