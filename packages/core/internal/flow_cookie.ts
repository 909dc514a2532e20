/**
 * Cookies of flows: a random token, and the time when the flow is over, so that a browser can be told so when the flow
 * itself is gone. What a flow is stored under is made of both, so that a cookie with another time stands for none. It
 * also says where its browser entered, which a browser is free to change, as it is the address.
 */
import { Effect, Option, Result, Schema } from "effect";
import type { SecureRandom } from "effect/crypto";
import { Base64Url } from "effect/encoding";
import type { FlowEntry } from "../flow_refusal.ts";
import type { FlowId } from "../ids.ts";
import type { Millis } from "../link.ts";
import { Secrets } from "../services/secrets.ts";
import { randomToken } from "./random_token.ts";

/** Browsers drop a cookie of more than 4,096 bytes, its name and attributes among them. */
const longestCookie = 3_500;

export const newCookie = (
  random: SecureRandom.SecureRandom["Service"],
  expiresAt: Millis,
): Effect.Effect<string> => Effect.map(randomToken(random), (token) => `${token}.${expiresAt.toString(36)}`);

/** When the flow of a cookie is over; null for what is no cookie of ours. */
export const deadlineOf = (cookie: string | null): Millis | null => {
  const [, expiresAt] = /^[\w-]{43}\.([\da-z]{1,9})(?:\.[\w-]+)?$/.exec(cookie ?? "") ?? [];
  return expiresAt === undefined ? null : Number.parseInt(expiresAt, 36);
};

/** The cookie with where its browser has entered, so that it can go on without saying so again. */
export const entered = (cookie: string, entry: FlowEntry): string => {
  const marked = `${ownPart(cookie)}.${Base64Url.encode(JSON.stringify(entry))}`;
  return marked.length > longestCookie ? ownPart(cookie) : marked;
};

/** Where the browser of a cookie has entered, if it says so and its time is not over. */
export const entryIn = (cookie: string | null, now: Millis): FlowEntry | null => {
  const marked = cookie?.split(".")[2];
  if (marked === undefined || (deadlineOf(cookie) ?? 0) <= now) return null;
  return Option.getOrNull(Option.flatMap(Result.getSuccess(Base64Url.decodeString(marked)), decodeEntry));
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

/** Gives what the flow of a cookie is stored under. */
export const flowIdOf: Effect.Effect<(cookie: string) => Effect.Effect<FlowId>, never, Secrets> = Effect.map(
  Secrets,
  ({ flowId }) =>
    (cookie) =>
      flowId(ownPart(cookie)),
);

const ownPart = (cookie: string): string => cookie.split(".", 2).join(".");
