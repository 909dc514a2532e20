/**
 * Faults on request: how a played platform misbehaves, so that the behaviour of its callers can be tested.
 */
import { Effect, Schema } from "effect";

/** A platform that is played. */
export type Platform = "chat" | "game";

const or = <S extends Schema.Top>(fallback: NoInfer<S["Type"]>) =>
  Schema.withDecodingDefaultTypeKey<S>(Effect.succeed(fallback));

const atLeast = (least: number) => Schema.Int.check(Schema.isGreaterThanOrEqualTo(least));
const FailingStatus = Schema.Int.check(Schema.isBetween({ minimum: 500, maximum: 599 }));

const fault = <const Mode extends string, const Fields extends Schema.Struct.Fields>(
  mode: Mode,
  fields: Fields,
) =>
  Schema.Struct({
    mode: Schema.Literal(mode),
    platform: Schema.Literals(["chat", "game", "both"]).pipe(or("both")),
    /** How many of the next requests it is for; null is until it is cleared. */
    times: Schema.NullOr(atLeast(1)).pipe(or(null)),
    /** How the routes begin that it is for, such as `/chat/oauth/token`; left out, it is for all of the platform. */
    under: Schema.optionalKey(Schema.String),
    ...fields,
  });

/** One way to misbehave. What may be left out has its value here. */
export const Fault = Schema.Union([
  /** Answers rightly, after so many milliseconds. */
  fault("slow", { delayMs: atLeast(0) }),
  /** Answers with a failing status. */
  fault("down", { status: FailingStatus.pipe(or(503)) }),
  /** Closes the connection in place of an answer. */
  fault("cut", {}),
  /** Answers 200 with a body that was never promised, such as the page of a proxy. */
  fault("garbage", { body: Schema.String.pipe(or("<!doctype html><title>Welcome</title>")) }),
  /** Answers 429, with a `Retry-After` of so many seconds. */
  fault("limited", { retryAfter: atLeast(0).pipe(or(1)) }),
]);
export type Fault = typeof Fault.Type;
