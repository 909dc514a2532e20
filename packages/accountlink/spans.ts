/** Spans of the methods of services, reads too, for programs that export them. */
import { traced } from "@accountlink/core/telemetry";
import { Effect, Record } from "effect";

/** Gives each method of a service that returns an effect a span, such as `accountlink.Links.get`. */
export const withSpans =
  (service: string) =>
  <Methods extends object, E, R>(make: Effect.Effect<Methods, E, R>): Effect.Effect<Methods, E, R> =>
    Effect.map(
      make,
      (methods) =>
        Record.map(methods as Readonly<Record<string, unknown>>, (method, name) =>
          typeof method === "function" ? spanned(method as Method, `accountlink.${service}.${name}`) : method,
        ) as Methods,
    );

type Method = (...args: ReadonlyArray<unknown>) => unknown;

const spanned =
  (method: Method, name: string): Method =>
  (...args) => {
    const result = method(...args);
    return Effect.isEffect(result) ? traced(name)(result) : result;
  };
