/** A listener makes an `HttpRequest`, and `HttpApp` answers it with an `HttpResponse`. */
import type { PublicError } from "@accountlink/core";
import { Data, type Effect, type Stream } from "effect";
import { Cookies } from "effect/http";

export interface HttpApp {
  /** Answers a request. If the client disconnects, the fiber is interrupted, which stops the work. */
  readonly answer: (request: HttpRequest) => Effect.Effect<HttpResponse>;

  /** Refuses a request that cannot be routed, such as invalid HTTP. The path decides the envelope of the response. */
  readonly refuse: (request: HttpRequest, error: PublicError) => Effect.Effect<HttpResponse>;
}

/** A request, made by a listener. The fiber that answers it is interrupted when the client disconnects. */
export interface HttpRequest {
  /** In upper case. */
  readonly method: string;

  /** Path and query, percent-encoded as the client sent them. */
  readonly url: string;

  /** The IP address of the connection, or of the client if the server knows it; undefined if unknown. */
  readonly remoteAddress: string | undefined;

  /** Whether the whole request has arrived, with its body; undefined if the listener does not know. */
  readonly hasArrived?: boolean;

  /** Tells the listener that the request does not count against the limits of its address. */
  noteUncounted?(): void;

  /** Returns the value of a header. Repeated headers are joined with commas. */
  header(name: LowerCaseName): string | undefined;

  /** Reads the whole body. Call it at most once. */
  readBody(maxBytes: number): Effect.Effect<Uint8Array, BodyTooLarge>;

  /** Reads the body in chunks, on demand. Call it at most once. */
  streamBody(maxBytes: number): Stream.Stream<Uint8Array, BodyTooLarge>;
}

type LowerCaseName = Lowercase<string>;

export class BodyTooLarge extends Data.TaggedError("BodyTooLarge")<{}> {}

/** Extracts path and query from a request target, which may be in absolute form. @internal */
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

/** Decodes the ASCII characters of a URL, because the router finds `/dashboard/%61pi` as well. */
export const decoded = (url: string): string =>
  url.includes("%")
    ? url.replaceAll(/%[2-7][\da-f]/gi, (code) => String.fromCharCode(parseInt(code.slice(1), 16)))
    : url;

/** The query of a URL including the question mark; empty without a query. */
export const queryTextOf = ({ url }: Pick<HttpRequest, "url">): string => {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start);
};

/** The query of a request; a repeated name has several values. */
export const searchOf = (request: Pick<HttpRequest, "url">): URLSearchParams =>
  new URLSearchParams(queryTextOf(request));

/** Headers by lowercase name. Only `set-cookie` can have several values. */
export interface ResponseHeaders {
  [name: string]: string | ReadonlyArray<string>;
}

/** A body that streams after the head. */
export interface ResponseStream {
  readonly chunks: Stream.Stream<Uint8Array>;
  /** Releases the resources of the body. The listener runs this when the response ends, even if no chunk was read. */
  readonly release: Effect.Effect<void>;
}

/**
 * A response of the application. Listeners add `content-length` and `date`.
 *
 * @example
 * ```ts
 * import type { ResponseHeaders, ResponseStream } from "@accountlink/http";
 * import { Effect, Stream } from "effect";
 *
 * const headers: ResponseHeaders = { "content-type": "text/plain" };
 * const plain = new HttpResponse(200, headers, "Hello").withHeaders({ "cache-control": "no-store" });
 * plain.headers["cache-control"]; // "no-store"
 *
 * const body: ResponseStream = { chunks: Stream.make(new Uint8Array([72, 105])), release: Effect.void };
 * new HttpResponse(200, headers, body).status; // 200
 * ```
 */
export class HttpResponse {
  readonly status: number;
  readonly headers: Readonly<ResponseHeaders>;
  readonly body: string | Uint8Array | ResponseStream | null;

  constructor(status: number, headers: Readonly<ResponseHeaders>, body: HttpResponse["body"]) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }

  /** Copies the response with more headers, which replace headers of the same name. */
  withHeaders(headers: Readonly<ResponseHeaders>): HttpResponse {
    return new HttpResponse(this.status, { ...this.headers, ...headers }, this.body);
  }

  withCookie(name: string, value: string, options: Cookies.Cookie["options"]): HttpResponse {
    // `makeCookieUnsafe` throws for invalid arguments. These are valid: they come from the service itself.
    const cookie = Cookies.serializeCookie(Cookies.makeCookieUnsafe(name, value, options));
    const others = this.headers["set-cookie"] ?? [];
    return this.withHeaders({ "set-cookie": [...(typeof others === "string" ? [others] : others), cookie] });
  }
}

export const emptyResponse = (status: number, headers: Readonly<ResponseHeaders> = {}): HttpResponse =>
  new HttpResponse(status, headers, null);

/** @param contentType such as `text/html; charset=utf-8` */
export const textResponse = (
  status: number,
  text: string,
  contentType: string,
  headers: Readonly<ResponseHeaders> = {},
): HttpResponse => new HttpResponse(status, { ...headers, "content-type": contentType }, text);

/** The text of a complete body; empty for a stream. @internal */
export const textOf = ({ body }: HttpResponse): string => {
  if (typeof body === "string") return body;
  return body instanceof Uint8Array ? new TextDecoder().decode(body) : "";
};

export const isStream = (body: HttpResponse["body"]): body is ResponseStream =>
  body !== null && typeof body === "object" && "chunks" in body;

/** Headers of every page, redirect and download: no caching, framing or referrer. */
export const privateHeaders = {
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
};
