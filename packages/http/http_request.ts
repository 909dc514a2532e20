/** A request, as a listener passes it to the application. */
import { Data, type Effect, type Stream } from "effect";
import { Cookies } from "effect/http";

/** A request of any server. The fiber that answers it is interrupted when the client goes away. */
export interface HttpRequest {
  /** In upper case. */
  readonly method: string;

  /** Path and query, percent-encoded as the client sent them. */
  readonly url: string;

  /** The IP address of the connection; undefined if it has none. */
  readonly remoteAddress: string | undefined;

  /** The value of a header. Repeated ones are joined with commas. */
  header(name: LowerCaseName): string | undefined;

  /** Reads the whole body. It can be read once. */
  readBody(maxBytes: number): Effect.Effect<Uint8Array, BodyTooLarge>;

  /** Reads the body in parts, each when it is asked for. It can be read once. */
  streamBody(maxBytes: number): Stream.Stream<Uint8Array, BodyTooLarge>;
}

/** The name of a header in lower case, such as `content-type`. */
type LowerCaseName = Lowercase<string>;

/** The body of a request is larger than the maximum. */
export class BodyTooLarge extends Data.TaggedError("BodyTooLarge")<{}> {}

/**
 * The `url` of a request target, which may be in absolute form.
 *
 * @internal
 */
export const urlOfTarget = (target: string): string => {
  if (target.startsWith("/")) return target;
  const path = /^https?:\/\/[^/?#]*(.*)$/i.exec(target)?.[1] ?? target;
  return path.startsWith("?") || path === "" ? `/${path}` : path;
};

/** The value of a cookie; null without one. */
export const cookieOf = (request: HttpRequest, name: string): string | null =>
  Cookies.parseHeader(request.header("cookie") ?? "")[name] ?? null;

/** The path of a URL. */
export const pathOf = (url: string): string => url.split("?", 1)[0] ?? "";

/** Whether the path of a URL is the prefix or below it. */
export const isUnder = (prefix: string, url: string): boolean =>
  url.startsWith(prefix) && ["", "/", "?"].includes(url.charAt(prefix.length));

/** The query of a URL with its question mark; empty without one. */
export const queryTextOf = ({ url }: Pick<HttpRequest, "url">): string => {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start);
};

/** The query of a request, with repeated values. */
export const searchOf = (request: Pick<HttpRequest, "url">): URLSearchParams =>
  new URLSearchParams(queryTextOf(request));
