import { Data, type Effect, type Stream } from "effect";
import { Cookies } from "effect/http";

/** A request from any server. The fiber that answers it is interrupted when the client disconnects. */
export interface HttpRequest {
  /** In upper case. */
  readonly method: string;

  /** Path and query, percent-encoded as the client sent them. */
  readonly url: string;

  /** The IP address of the connection; undefined if unknown. */
  readonly remoteAddress: string | undefined;

  /** Returns the value of a header. Repeated headers are joined with commas. */
  header(name: LowerCaseName): string | undefined;

  /** Reads the whole body. Call it at most once. */
  readBody(maxBytes: number): Effect.Effect<Uint8Array, BodyTooLarge>;

  /** Reads the body in chunks, on demand. Call it at most once. */
  streamBody(maxBytes: number): Stream.Stream<Uint8Array, BodyTooLarge>;
}

type LowerCaseName = Lowercase<string>;

export class BodyTooLarge extends Data.TaggedError("BodyTooLarge")<{}> {}

/**
 * Extracts path and query from a request target, which may be in absolute form.
 *
 * @internal
 */
export const urlOfTarget = (target: string): string => {
  if (target.startsWith("/")) return target;
  const path = /^https?:\/\/[^/?#]*(.*)$/i.exec(target)?.[1] ?? target;
  return path.startsWith("?") || path === "" ? `/${path}` : path;
};

export const cookieOf = (request: HttpRequest, name: string): string | null =>
  Cookies.parseHeader(request.header("cookie") ?? "")[name] ?? null;

export const pathOf = (url: string): string => url.split("?", 1)[0] ?? "";

/** Whether the path of a URL equals the prefix or is below it. */
export const isUnder = (prefix: string, url: string): boolean =>
  url.startsWith(prefix) && ["", "/", "?"].includes(url.charAt(prefix.length));

/** The query of a URL including the question mark; empty without a query. */
export const queryTextOf = ({ url }: Pick<HttpRequest, "url">): string => {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start);
};

/** The query of a request; a repeated name has several values. */
export const searchOf = (request: Pick<HttpRequest, "url">): URLSearchParams =>
  new URLSearchParams(queryTextOf(request));
