/** Faults that tests inject into the simulated platforms. */
import { Effect, Schema } from "effect";

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
    /** How many requests the fault affects; null for all requests until the fault is cleared. */
    times: Schema.NullOr(atLeast(1)).pipe(or(null)),
    /** The prefix of the affected paths, such as `/chat/oauth/token`; all paths by default. */
    under: Schema.optionalKey(Schema.String),
    ...fields,
  });

/** The schema of a fault. Decoding adds the defaults of fields that the request left out. */
export const Fault = Schema.Union([
  /** Delays the correct response by this many milliseconds. */
  fault("slow", { delayMs: atLeast(0) }),
  /** Answers with a server error. */
  fault("down", { status: FailingStatus.pipe(or(503)) }),
  fault("cut", {}),
  /** Answers 200 with an unexpected body, such as the page of a proxy. */
  fault("garbage", { body: Schema.String.pipe(or("<!doctype html><title>Welcome</title>")) }),
  /** Answers 429 with a `Retry-After` in seconds. */
  fault("limited", { retryAfter: atLeast(0).pipe(or(1)) }),
]);
export type Fault = typeof Fault.Type;
